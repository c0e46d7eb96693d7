"""Output that is old is removed."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.unit.runtimes.logs.stand import ATTEMPT, LAUNCH, NOON, RUN, file_of, files_in, texts_of

from stretto.engine.records import AttemptKey
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.forgetting import Forgetting
from stretto.runtimes.logs.retention import forget_old_output

OLD = NOON / 1_000 - 86_400
NEW = NOON / 1_000


def made(folder: Path, step: str, name: str = "1.5.0.log", at: float = OLD) -> Path:
    path = folder / "etl" / "12" / "1" / step / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    age(path, at, folder)
    return path


def age(path: Path, at: float, top: Path) -> None:
    """The folders around it too."""
    while path != top:
        os.utime(path, (at, at))
        path = path.parent


def test_old_files_go_and_empty_folders_with_them(tmp_path: Path) -> None:
    old, new = made(tmp_path, "old"), made(tmp_path, "new", at=NEW)
    for name in ("1.5.0.from100.log", "notes.txt"):
        made(tmp_path, "mixed", name)
    age(tmp_path / "etl", OLD, tmp_path)
    assert asyncio.run(files_in(tmp_path).forget(NOON - 1_000)) == 2
    assert not old.parent.exists()
    assert new.exists()
    assert [path.name for path in (tmp_path / "etl/12/1/mixed").iterdir()] == ["notes.txt"]


def test_nothing_is_left_of_what_is_old_as_a_whole(tmp_path: Path) -> None:
    made(tmp_path, "one")
    made(tmp_path, "two")
    assert Forgetting(tmp_path).some(NOON) == 2
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.exists()
    assert Forgetting(tmp_path / "nowhere").some(NOON) == 0


def test_other_files_and_links_are_left_alone(tmp_path: Path) -> None:
    away = made(tmp_path / "away", "load")
    folder = tmp_path / "logs"
    deep = made(folder, "load/deeper")
    made(folder, "..", "1.5.0.log")
    (folder / "link").symlink_to(tmp_path / "away" / "etl")
    assert Forgetting(folder).some(NOON) == 0
    assert away.exists()
    assert deep.exists()


def test_a_launch_that_prints_is_left_alone(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"one\n")
    age(file_of(tmp_path), OLD, tmp_path)
    assert asyncio.run(files.forget(NOON)) == 0
    assert texts_of(files) == ["one"]
    files.end(LAUNCH)
    assert asyncio.run(files.forget(NOON)) == 1
    assert texts_of(files) == []


def test_a_call_looks_at_a_few_and_the_next_goes_on(tmp_path: Path) -> None:
    for number in range(20):
        made(tmp_path, f"step{number}")
    forgetting = Forgetting(tmp_path, at_once=6)
    counts = []
    while any((tmp_path).iterdir()):
        counts.append(forgetting.some(NOON))
        assert len(counts) < 50
    assert sum(counts) == 20
    assert max(counts) <= 6


def test_a_folder_that_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "load")

    def refuse(_path: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "unlink", refuse)
    assert Forgetting(tmp_path).some(NOON) == 0


def test_now_and_then(tmp_path: Path) -> None:
    def is_full() -> bool:
        return any(tmp_path.iterdir())

    async def forget() -> None:
        files = files_in(tmp_path)
        for number in range(3):
            made(tmp_path, f"step{number}")
        task = asyncio.create_task(forget_old_output(files, lambda: NOON, 1_000, every=20, first=0.01))
        async with asyncio.timeout(30):
            while is_full():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            made(tmp_path, "another")
            while is_full():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await forget_old_output(files, lambda: NOON, None, every=20)  # what is kept for ever

    asyncio.run(forget())


def test_ten_thousand_launches_at_once(tmp_path: Path) -> None:
    """Their files are opened in turns."""
    files = files_in(tmp_path)
    launches = [Launch(AttemptKey(RUN, f"step{number}", 1), 5) for number in range(1_000)]
    for data in (b"one\n", b"two\n"):
        for launch in launches:
            files.write(launch, "stdout", data)
    assert len(files._open) == 64
    assert texts_of(files, launches[0].attempt) == texts_of(files, launches[-1].attempt) == ["one", "two"]
    files.close()
    assert texts_of(files, ATTEMPT) == []
