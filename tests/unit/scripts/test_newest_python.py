"""CI finds the newest Python that is there."""

from pathlib import Path

from scripts.newest_python import newest

FIT = "#!/bin/sh\necho 3 {minor}\n"
UNFIT = "#!/bin/sh\nexit 127\n"


def python(folder: Path, minor: int, text: str = FIT) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"python3.{minor}"
    path.write_text(text.format(minor=minor))
    path.chmod(0o755)
    return path


def test_the_newest_one_of_all_folders(tmp_path: Path) -> None:
    python(tmp_path / "a", 12)
    wanted = python(tmp_path / "b", 13)
    assert newest([tmp_path / "a", tmp_path / "b", tmp_path / "none"], than=11) == wanted


def test_one_that_does_not_start_or_is_another_one_is_passed_over(tmp_path: Path) -> None:
    python(tmp_path, 14, UNFIT)
    python(tmp_path, 13, "#!/bin/sh\necho 3 11\n")
    python(tmp_path, 12).with_name("python3.12-config").touch()
    (tmp_path / "python3.10").touch()
    assert newest([tmp_path], than=11) == tmp_path / "python3.12"


def test_only_what_is_newer_and_what_the_lock_is_for(tmp_path: Path) -> None:
    python(tmp_path, 11)
    python(tmp_path, 15)
    assert newest([tmp_path], than=11, most=14) is None
