"""Temporary folders of processes that were killed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stretto.runtimes import scratch
from stretto.runtimes.scratch import LOCK, ScratchFolder, remove_abandoned

CODE = (
    "import os; from stretto.runtimes.scratch import ScratchFolder; print(ScratchFolder().path); os.abort()"
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(scratch, "YOUNG", -1.0)


def test_the_folder_of_a_dead_process_is_removed() -> None:
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)  # noqa: S603
    left = Path(ended.stdout.strip())
    assert left.is_dir()
    assert remove_abandoned() == 1
    assert not left.exists()


def test_folders_in_use_and_those_of_others_stay(tmp_path: Path) -> None:
    own = ScratchFolder()
    (tmp_path / "stretto-of-somebody-else").mkdir()
    (tmp_path / "stretto-link").symlink_to(own.path)
    assert remove_abandoned() == 0
    own.close()
    own.close()
    assert not own.path.exists()


def test_a_folder_from_a_time_to_come_is_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The clock was set back since."""
    left = tmp_path / "stretto-left"
    left.mkdir()
    os.close(os.open(left / LOCK, os.O_CREAT))
    monkeypatch.setattr(scratch, "YOUNG", 60.0)
    monkeypatch.setattr(scratch, "time_ns", lambda: int((left.stat().st_mtime - 3_600) * 1e9))
    assert remove_abandoned() == 1


def test_a_new_folder_has_time_to_be_locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh = tmp_path / "stretto-fresh"
    fresh.mkdir()
    os.close(os.open(fresh / LOCK, os.O_CREAT))
    monkeypatch.setattr(scratch, "YOUNG", 60.0)
    assert remove_abandoned() == 0
