"""Output goes with its run, or when it is old."""

import asyncio
import os
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.runtimes.logs.stand import (
    ATTEMPT,
    LAUNCH,
    NOON,
    RUN,
    file_of,
    files_in,
    pack_of,
    packs_in,
    texts_of,
)
from tests.waiting import until

from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Unavailable
from stretto.ports.history import History
from stretto.ports.paging import Span
from stretto.ports.run_snapshot import NamedRuns
from stretto.ports.runtime import Launch
from stretto.runtimes.logs import forgetting as forgetting_module
from stretto.runtimes.logs.files import LogFiles
from stretto.runtimes.logs.forgetting import Forgetting
from stretto.runtimes.logs.retention import forget_output

OLD = NOON / 1_000 - 86_400
NEW = NOON / 1_000
INLINE = inline_workflow_id(Loop.FOREACH, 7, "etl", 12, "each", 12)


class Runs:
    """A database that has some runs."""

    def __init__(self, runs: Collection[RunKey] = ()) -> None:
        self.there = set(runs)
        self.asked: list[Any] = []

    async def instance_ids(self, workflow_id: str) -> Span | None:
        self.asked.append(workflow_id)
        found = [run.instance_id for run in self.there if run.workflow_id == workflow_id]
        return Span(min(found), max(found)) if found else None

    async def runs(self, selection: NamedRuns) -> Any:
        (key,) = selection.keys
        self.asked.append(key)
        return SimpleNamespace(elements=(SimpleNamespace(key=key),) if key in self.there else ())


def store_of(*runs: RunKey) -> History:
    return cast("History", Runs(runs))


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


def printed(files: LogFiles, *runs: RunKey) -> None:
    for run in runs:
        launch = Launch(AttemptKey(run, "load", 1), 5)
        files.write(launch, "stdout", b"line\n")
        files.end(launch)


def forgotten(files: LogFiles, store: History, before: int = 0) -> int:
    return asyncio.run(files.forget(before, store))


def left(folder: Path) -> list[str]:
    return sorted(path.name.partition(".w")[0] for path in packs_in(folder))


# ----------------------------------------------------------------------------------------------- with the run
def test_output_of_runs_that_are_gone_goes_whatever_its_age(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    printed(files, *(RunKey("etl", number, 1) for number in range(1, 6)), RunKey("other", 1, 1))
    kept = store_of(RunKey("etl", 3, 1), RunKey("etl", 4, 1))
    assert forgotten(files, kept) == 4
    assert left(tmp_path) == ["3.1", "4.1"]
    assert cast("Runs", kept).asked == ["etl", "other"] or cast("Runs", kept).asked == ["other", "etl"]


def test_large_output_goes_with_its_run_too(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for number in (1, 2):
        launch = Launch(AttemptKey(RunKey("etl", number, 1), "load", 1), 5)
        for _ in range(2_000):
            files.write(launch, "stdout", b"x" * 60 + b"\n")
        files.end(launch)
    assert forgotten(files, store_of(RunKey("etl", 2, 1))) == 2
    assert [path.parent.parent.parent.name for path in tmp_path.rglob("*.log")] == ["2"]
    assert left(tmp_path) == ["2.1"]


def test_iterations_go_with_the_run_around_them(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    printed(files, RunKey(INLINE, 1, 1), RunKey(INLINE, 2, 1))
    assert forgotten(files, store_of(RunKey(INLINE, 2, 1)), NOON) == 0
    assert forgotten(files, store_of()) == 1


def test_a_call_asks_about_a_few_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting_module, "MOST_ASKED", 2)
    files = files_in(tmp_path)
    loops = [inline_workflow_id(Loop.FOREACH, 7, "etl", number, "each", number) for number in range(1, 6)]
    printed(files, *(RunKey(loop, 1, 1) for loop in loops))
    assert forgotten(files, store_of()) == 2
    for path in packs_in(tmp_path):
        age(path, OLD, tmp_path)
    assert forgotten(files, store_of(), NOON) == 3


def test_a_deleted_workflow_leaves_nothing_to_its_successor(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"old\n")  # it has not ended
    printed(files, RunKey("etl", 13, 1), RunKey("other", 1, 1))
    asyncio.run(files.forget_workflow("etl"))
    assert left(tmp_path) == ["1.1"]
    files.write(LAUNCH, "stdout", b"new\n")
    assert texts_of(files) == ["new"]


def test_packs_of_another_database_go_only_by_age(tmp_path: Path) -> None:
    ours, theirs = LogFiles(tmp_path, 1 << 20, lambda: NOON, database="aa"), files_in(tmp_path)
    printed(theirs, RUN)
    theirs._packs.writer = "bb0"
    printed(theirs, RunKey("etl", 1, 1), RunKey("etl", 2, 1))
    for path in packs_in(tmp_path):
        if ".wbb" not in path.name:
            path.unlink()
    assert forgotten(ours, store_of()) == 0
    age(packs_in(tmp_path)[0], OLD, tmp_path)
    assert forgotten(ours, store_of(), NOON - 1_000) == 1


# ----------------------------------------------------------------------------------------------------- by age
def test_old_output_of_a_run_that_goes_on_stays(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    runs = [RunKey("etl", number, 1) for number in (1, 2, 3)]
    printed(files, *runs)
    for path in packs_in(tmp_path):
        age(path, OLD, tmp_path)
    assert forgotten(files, store_of(runs[0], runs[2]), NOON) == 1
    assert left(tmp_path) == ["1.1", "3.1"]


def test_old_files_go_and_empty_folders_with_them(tmp_path: Path) -> None:
    old, new = made(tmp_path, "old"), made(tmp_path, "new", at=NEW)
    for name in ("1.5.0.from100.log", "notes.txt"):
        made(tmp_path, "mixed", name)
    files = files_in(tmp_path)
    assert forgotten(files, store_of(RUN), NOON - 1_000) == 2
    assert new.exists()
    assert [path.name for path in (tmp_path / "etl/12/1/mixed").iterdir()] == ["notes.txt"]
    assert not old.parent.exists()
    (tmp_path / "etl/12/1/empty").mkdir()
    age(tmp_path / "etl/12/1/empty", OLD, tmp_path)
    assert forgotten(files, store_of(RUN), NOON - 1_000) == 0
    assert not (tmp_path / "etl/12/1/empty").exists()


def test_nothing_is_left_of_what_is_old_as_a_whole(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    made(tmp_path, "one")
    made(tmp_path, "two")
    printed(files, RUN)
    age(pack_of(tmp_path), OLD, tmp_path)
    assert forgotten(files, store_of(), NOON) == 3
    assert list(tmp_path.iterdir()) == []
    assert Forgetting(tmp_path / "nowhere").some(NOON) == []


def test_other_files_and_links_are_left_alone(tmp_path: Path) -> None:
    away = made(tmp_path / "away", "load")
    folder = tmp_path / "logs"
    deep = made(folder, "load/deeper")
    made(folder, "..", "1.5.0.log")
    (folder / "etl" / "12" / "notes.pack").write_text("x")
    (folder / "etl" / "0k").mkdir()
    (folder / "etl" / "0k" / "odd.w1.1.pack").write_text("x")
    (folder / "link").symlink_to(tmp_path / "away" / "etl")
    assert forgotten(files_in(folder), store_of()) == 0
    assert away.exists()
    assert deep.exists()


def test_a_launch_that_prints_is_left_alone(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"one\n")
    path = made(tmp_path, "load")
    age(pack_of(tmp_path), OLD, tmp_path)
    assert forgotten(files, store_of(), NOON) == 0
    assert texts_of(files) == ["x", "one"]
    files.end(LAUNCH)
    assert forgotten(files, store_of(), NOON) == 2
    assert not path.exists()
    assert texts_of(files) == []
    files.write(LAUNCH, "stdout", b"two\n")
    assert texts_of(files) == ["two"]


def test_a_call_looks_at_a_few_and_the_next_goes_on(tmp_path: Path) -> None:
    for number in range(20):
        made(tmp_path, f"step{number}")
    forgetting = Forgetting(tmp_path, at_once=6)
    counts = []
    while any((tmp_path).iterdir()):
        found = forgetting.some(NOON)
        counts.append(len(found))
        for each in found:
            each.path.unlink()
            age(each.path.parent, OLD, tmp_path)
        assert len(counts) < 50
    assert sum(counts) == 20
    assert max(counts) <= 6


def test_a_file_that_is_not_ours_to_delete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "load")

    def refuse(_path: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "unlink", refuse)
    assert forgotten(files_in(tmp_path), store_of(), NOON) == 0


def test_a_file_that_somebody_else_deletes_meanwhile(tmp_path: Path) -> None:
    class Gone:
        name, path = "1.5.0.log", str(tmp_path / "etl/12/1/load/1.5.0.log")

        def stat(self, **_options: Any) -> None:
            raise FileNotFoundError

    assert Forgetting(tmp_path)._candidate(cast("Any", Gone()), 4, "") is None


def test_now_and_then(tmp_path: Path) -> None:
    def is_full() -> bool:
        names = [name for _folder, _folders, files in os.walk(tmp_path) for name in files]
        return any(name.endswith((".log", ".pack")) for name in names)

    class Troubled(Runs):
        async def instance_ids(self, workflow_id: str) -> Span | None:
            if not self.asked:
                self.asked.append("trouble")
                raise Unavailable("no answer")
            return await super().instance_ids(workflow_id)

    async def forget() -> None:
        files = files_in(tmp_path)
        printed(files, RUN)
        age(pack_of(tmp_path), OLD, tmp_path)
        store = Troubled()
        for number in range(3):
            made(tmp_path, f"step{number}")
        looking = forget_output(files, cast("History", store), lambda: NOON, 1_000, every=20, first=0.01)
        task = asyncio.create_task(looking)
        await until(lambda: not is_full())
        made(tmp_path, "another")
        await until(lambda: not is_full())
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert store.asked[0] == "trouble"

    asyncio.run(forget())


def test_what_is_kept_for_ever_goes_with_its_run(tmp_path: Path) -> None:
    async def forget() -> None:
        files = files_in(tmp_path)
        printed(files, RUN, RunKey("etl", 13, 1))
        for path in packs_in(tmp_path):
            age(path, OLD, tmp_path)
        (gone,) = [path.name for path in packs_in(tmp_path) if path.name.startswith("13.")]
        task = asyncio.create_task(
            forget_output(files, store_of(RUN), lambda: NOON, None, every=20, first=0.01)
        )
        await until(lambda: not (tmp_path / "etl/0k" / gone).exists())
        task.cancel()
        await asyncio.wait({task})
        assert left(tmp_path) == ["12.1"]

    asyncio.run(forget())


def test_ten_thousand_launches_at_once(tmp_path: Path) -> None:
    """The files of their runs are opened in turns."""
    files = files_in(tmp_path)
    launches = [Launch(AttemptKey(RunKey("etl", number, 1), "load", 1), 5) for number in range(1, 1_001)]
    for data in (b"one\n", b"two\n"):
        for launch in launches:
            files.write(launch, "stdout", data)
    assert len(files._open) == 64
    assert texts_of(files, launches[0].attempt) == texts_of(files, launches[-1].attempt) == ["one", "two"]
    files.close()
    assert texts_of(files, ATTEMPT._replace(step_id="other")) == []
    assert not file_of(tmp_path).exists()
