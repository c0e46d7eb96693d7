"""A session from the inside: what it shows, and what interrupts make of it."""

import asyncio
import errno
import os
import signal
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.cli.running.files import FAILING, stretto
from tests.unit.cli.running.shown import PLACE, progress_of

from stretto.actions.pause import pause
from stretto.actions.reading.why import WhyRun, why_run
from stretto.cli.database import Place, caller, place_of
from stretto.cli.running import following
from stretto.cli.running import session as session_module
from stretto.cli.running.progress import Progress, Step
from stretto.cli.running.session import Careful, Order, session
from stretto.cli.running.views import Ending
from stretto.cli.running.wanted import read_wanted
from stretto.definition.parse import Options
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.hints import SILENT
from stretto.ports.store import Store
from stretto.server.interrupts import Interrupts


class Notebook:
    """A view that writes everything down, and may do something about it."""

    def __init__(self, react: Callable[[Progress], None] = lambda _progress: None) -> None:
        self._react = react
        self.progress: Progress
        self.notes: list[str] = []
        self.statuses: list[tuple[str, StepStatus]] = []
        self.ending: Ending | None = None

    def begin(self, progress: Progress, place: Place) -> None:
        self.progress, self.place = progress, place

    def show(self, moved: Sequence[Step]) -> None:
        self.statuses += [(step.id, step.status) for step in moved]
        self._react(self.progress)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def end(self, ending: Ending) -> None:
        self.ending = ending


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(
    folder: Path, text: str, view: Notebook, *, database: str = "sqlite:///s.db", resume: bool = False
) -> int:
    (folder / "w.yaml").write_text(text)
    order = Order(
        wanted=read_wanted("w.yaml", Options(), None, ()),
        place=place_of(None, ("node.stop_within=500ms",), database),
        caller=caller(),
        resume=resume,
        again="again",
    )

    async def bounded() -> int:
        async with asyncio.timeout(60):
            return (await session(order, view))[1]

    return asyncio.run(bounded())


def interrupt(_progress: Progress) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_queued_run_says_what_it_waits_for(folder: Path) -> None:
    strict = FAILING.replace("workflow:\n", "properties: {run_strategy: STRICT_SEQUENTIAL}\nworkflow:\n", 1)
    assert run(folder, strict, Notebook()) == 1
    seen: list[str] = []

    def until_queued(progress: Progress) -> None:
        if progress.queued is not None:
            seen.append(progress.queued)
            interrupt(progress)

    view = Notebook(until_queued)
    assert run(folder, strict, view) == 130
    assert "number 1 in the queue: STRICT_SEQUENTIAL is blocked until a restart or unblock" in seen[0]
    assert view.ending is not None
    assert view.ending.interrupted
    again = Notebook(until_queued)
    assert run(folder, strict, again, resume=True) == 130
    assert again.progress.key.instance_id == 2


def test_a_step_that_waits_says_for_what(folder: Path) -> None:
    text = "workflow: {id: w, jobs: [{job: {id: ask, type: Wait}}]}"
    retried = """
workflow:
  id: w
  steps:
    - step: {id: bad, type: Shell, params: {command: {type: STRING, value: exit 1}}}
"""
    reasons: list[str] = []

    def until_retried(progress: Progress) -> None:
        reason = progress.steps["bad"].reason
        if reason is not None and "tried again" in reason:
            reasons.append(reason)
            interrupt(progress)

    assert run(folder, retried, Notebook(until_retried)) == 130
    assert reasons[0].startswith("it is tried again at ")
    assert reasons[0].endswith(": exit code 1")
    assert run(folder, text.replace("id: w,", "id: v,"), Notebook(interrupt)) == 130


def test_what_a_step_no_longer_waits_for_is_not_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the log, which is read first, and the rows it may have gone on."""
    asked: list[str] = []

    async def gone_on(*place: Any) -> WhyRun:
        found = await why_run(*place)
        asked.extend(each.step_id for each in found.steps)
        steps = tuple(msgspec.structs.replace(each, status=StepStatus.RUNNING) for each in found.steps)
        return msgspec.structs.replace(found, steps=steps)

    monkeypatch.setattr(following, "why_run", gone_on)
    seen: set[str | None] = set()

    def until_asked(progress: Progress) -> None:
        seen.add(progress.steps["bad"].reason)
        if asked:
            interrupt(progress)

    text = "workflow: {id: w, jobs: [{job: {id: bad, type: Shell, command: exit 1}}]}"
    assert run(folder, text, Notebook(until_asked)) == 130
    assert asked[0] == "bad"
    assert seen <= {None, "exit code 1"}


def test_a_run_that_goes_on_with_a_changed_file_says_so(folder: Path) -> None:
    sleeping = "workflow: {id: w, jobs: [{job: {id: nap, type: Sleep, sleep_seconds: SECONDS}}]}"
    assert run(folder, sleeping.replace("SECONDS", "1"), Notebook(interrupt)) == 130
    view = Notebook()
    assert run(folder, sleeping.replace("SECONDS", "2"), view, resume=True) == 0
    assert view.notes == ["w/1 goes on; it was PAUSED", "the file has changed; w/1 goes on with version 1"]
    assert view.progress.status is RunStatus.SUCCEEDED


def test_two_interrupts_at_once(folder: Path) -> None:
    def twice(progress: Progress) -> None:
        interrupt(progress)
        interrupt(progress)

    text = "workflow: {id: w, jobs: [{job: {id: a, type: Shell, command: sleep 60}}]}"
    assert run(folder, text, Notebook(twice)) == 130


def test_who_goes_on_is_not_held_by_a_pause_that_nobody_decided(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second interrupt comes when the pause is stored, and before it is decided."""

    async def interrupted(store: Store, *rest: Any, **named: Any) -> None:
        await pause(store, *rest, **{**named, "hints": SILENT})
        interrupt(progress_of())
        await asyncio.Event().wait()

    text = """
workflow:
  id: w
  jobs:
    - job: {id: a, type: Shell, command: 'test -e go || sleep 60', transition: [b]}
    - job: {id: b, type: NoOp}
"""
    monkeypatch.setattr(session_module, "pause", interrupted)

    def once_it_runs(progress: Progress) -> None:
        if progress.steps["a"].status is StepStatus.RUNNING:
            interrupt(progress)

    view = Notebook(once_it_runs)
    assert run(folder, text, view) == 130
    assert view.progress.status is RunStatus.IN_PROGRESS
    (folder / "go").touch()
    assert run(folder, text, Notebook(), resume=True) == 0


def test_loops_are_counted_also_when_a_run_goes_on(folder: Path) -> None:
    text = """
workflow:
  id: w
  jobs:
    - foreach:
        id: each
        concurrency: 1
        ranges: {i: {to: 4}}
        jobs: [{job: {id: a, type: Shell, command: 'test $i -lt 2 || test -e go || sleep 60'}}]
"""

    def after_two(progress: Progress) -> None:
        loop = progress.steps["each"].loop
        if loop is not None and loop.ended == 2:
            interrupt(progress)

    assert run(folder, text, Notebook(after_two)) == 130
    (folder / "go").touch()
    counts: list[int] = []

    def count(progress: Progress) -> None:
        loop = progress.steps["each"].loop
        counts.append(-1 if loop is None else loop.ended)

    assert run(folder, text, Notebook(count), resume=True) == 0
    assert counts[0] >= 2
    assert counts[-1] == 4
    assert stretto("show", "w/1", "--db", "sqlite:///s.db").stdout.count("4 iterations") == 1


# --------------------------------------------------------------------------------------------------- parts
class Broken(Notebook):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def show(self, moved: Sequence[Step]) -> None:  # noqa: ARG002 - nothing gets through
        raise self._error


def test_a_reader_that_went_away_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stretto.cli.running.session._silence", lambda: None)
    gone: list[str] = []
    view = Careful(Broken(BrokenPipeError(errno.EPIPE, "gone")), lambda: gone.append("gone"))
    view.begin(progress_of(), PLACE)
    view.show([])
    view.show([])
    view.note("x")
    assert gone == ["gone"]


def test_any_other_trouble_is_told() -> None:
    view = Careful(Broken(OSError(errno.ENOSPC, "No space left")), lambda: None)
    with pytest.raises(OSError, match="No space left"):
        view.show([])


def test_interrupts_are_counted() -> None:
    async def work() -> list[Any]:
        interrupts = Interrupts()
        interrupts.come(130)
        once = interrupts.first.is_set(), interrupts.second.is_set()
        interrupts.come(143)
        return [once, interrupts.second.is_set(), interrupts.code]

    assert asyncio.run(work()) == [(True, False), True, 130]


def test_a_run_that_was_set_aside_goes_on_when_it_is_asked_for(folder: Path) -> None:
    sleeping = "workflow: {id: w, jobs: [{job: {id: nap, type: Sleep, sleep_seconds: 1}}]}"
    assert run(folder, sleeping, Notebook(interrupt)) == 130
    with closing(sqlite3.connect(folder / "s.db")) as database:
        database.execute("UPDATE run SET aside = 1, quarantined = 'owners died'")
        database.commit()
    view = Notebook()
    assert run(folder, sleeping, view, resume=True) == 0
    assert view.notes[-1] == "w/1, set aside because processes died at it, is tried again"
