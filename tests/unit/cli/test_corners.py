"""What seldom happens at the command line."""

import asyncio
import getpass
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.unit.cli.running.files import said, stretto
from tests.unit.cli.running.shown import progress_of
from tests.waiting import PATIENCE

from stretto.actions.reading.why import WhyRun
from stretto.cli import sel_cases, sel_prompt, style, why
from stretto.cli.database import caller
from stretto.cli.running import following
from stretto.cli.running.following import Bell, Follower
from stretto.cli.running.machine import Lines
from stretto.cli.running.progress import Loop
from stretto.cli.running.screen import bar
from stretto.cli.running.wanted import _chosen
from stretto.cli.sel_cases import CaseError
from stretto.cli.showing import parts, run
from stretto.cli.showing import step as step_page
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.engine.why import Cause, Reason, Why
from stretto.model.errors import NotFound, StrettoError, Unavailable
from stretto.model.initiator import TimeInitiator
from stretto.model.param import Parameter, ParamType
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import (
    ActionEvent,
    LogEvent,
    MilestoneEvent,
    MilestoneType,
    StatusEvent,
    TimelineEvent,
)
from stretto.ports.events import Trimmed
from stretto.ports.rows import AttemptRow
from stretto.ports.run_snapshot import NamedAttempts
from stretto.ports.views import RecentRuns
from stretto.sel import Environment, Missing
from stretto.store.opening import open_store
from stretto.testing.faults import Moment, interfered

BAD = "params: {command: {type: STRING, value: exit 3}}, retry_policy: {error_retry_limit: 0}"
SEVEN = "workflow:\n  id: seven\n  steps:\n" + "".join(
    f"    - step: {{id: j{place}, type: Shell, {BAD}}}\n" for place in range(7)
)
PARALLEL = "workflow: {id: wide, run_strategy: parallel, jobs: [{job: {id: j, type: NoOp}}]}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seven.yaml").write_text(SEVEN)
    (tmp_path / "wide.yaml").write_text(PARALLEL)
    return tmp_path


# --------------------------------------------------------------------------------------------------- commands
def test_of_many_errors_the_first_are_shown() -> None:
    result = stretto("run", "seven.yaml", "--db", "memory:")
    assert result.exit_code == 1
    assert "... and 2 more" in said(result)


def test_runs_side_by_side_make_no_room() -> None:
    assert stretto("run", "wide.yaml").exit_code == 0
    assert stretto("run", "wide.yaml").exit_code == 0
    result = stretto("show", "nothing/1", "--db", "sqlite:///.stretto/stretto.db")
    assert "the newest runs there: wide/2, wide/1" in result.stderr


def test_a_database_without_runs_says_how_to_make_one() -> None:
    assert stretto("db", "upgrade").exit_code == 0
    result = stretto("show", "etl/1")
    assert (result.exit_code, "nothing was run there yet" in result.stderr) == (2, True)


def test_notes_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    Lines().note("something")
    assert json.loads(capsys.readouterr().out) == {"type": "note", "text": "something"}


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError(1000)

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert caller().user.name == "somebody"


def test_a_file_without_workflows() -> None:
    with pytest.raises(click.BadParameter, match="no workflow"):
        _chosen((), None)


# -------------------------------------------------------------------------------------------------- the parts
def test_texts_are_cut_where_they_do_not_fit() -> None:
    assert style.cut("abcdef", 4) == "abc…"
    assert style.cut("日本語", 5) == "日本…"
    assert style.cut("日本語", 4) == "日…"
    assert style.cut("abc", 0) == "…"
    assert style.cut("e\u0301abcd", 3) == "e\u0301a…"
    assert style.cut("abc", 3) == "abc"


def test_a_while_has_no_bar() -> None:
    loop = Loop()
    loop.ended = 3
    assert bar(loop) == "3"


def test_a_loop_of_an_older_attempt_is_not_counted() -> None:
    progress = progress_of("workflow: {id: w, jobs: [{job: {id: a, type: NoOp}}]}")
    progress.steps["a"].attempt = 2
    key = AttemptKey(progress.key, "a", 1)
    progress.fill_loop(LoopRecord(key=key, inline_id="x", run_id=1, total=3), 1, 0)
    assert progress.steps["a"].loop is None


def test_values_in_a_line() -> None:
    assert parts.value_text(Parameter(type=ParamType.STRING)) == "(not evaluated)"
    mapped = Parameter(type=ParamType.STRING_MAP, evaluated_result={"a": "b"})
    assert parts.value_text(mapped) == '{"a":"b"}'
    assert parts.value_text(Parameter(type=ParamType.LONG, evaluated_result=7)) == "7"


def test_every_kind_of_event_is_a_sentence() -> None:
    events: list[TimelineEvent] = [
        StatusEvent(timestamp=1, status="RUNNING"),
        LogEvent(timestamp=1, message="a word"),
        ActionEvent(timestamp=1, action="STOP"),
        ActionEvent(timestamp=1, action="STOP", message="by ann"),
        MilestoneEvent(timestamp=1, status="SUBMITTED", milestone_type=next(iter(MilestoneType))),
    ]
    assert [line.split("  ", 1)[1] for line in parts.timeline_lines(events)] == [
        "RUNNING",
        "a word",
        "STOP",
        "by ann",
        "SUBMITTED",
    ]
    assert parts.timeline_lines(events * 50)[0].endswith("more before")


def test_who_started_a_run() -> None:
    key = RunKey("w", 1, 1)
    assert run._by(None, key) == "started"
    fired = TimeInitiator(trigger_uuid="t", trigger_time=0)
    assert run._by(fired, key) == f"started by its schedule for {style.date_time(0)}"
    assert run._by(TimeInitiator(trigger_uuid="t"), key) == "started by time"


def test_steps_of_a_run_that_waits(capsys: pytest.CaptureFixture[str]) -> None:
    reason = Reason(cause=Cause.WORK, subject="s", text="its work goes on")
    step = Why(step_id="s", status=StepStatus.RUNNING, reasons=(reason,))
    why._print_run(
        WhyRun(
            workflow_id="w",
            workflow_instance_id=1,
            workflow_run_id=1,
            status=RunStatus.IN_PROGRESS,
            sentence="1 step has not ended",
            steps=(step,),
        ),
        {},
    )
    assert capsys.readouterr().out.splitlines()[1:] == ["  ▶ s RUNNING", "      its work goes on"]


def test_a_step_that_printed_nothing() -> None:
    assert list(step_page._outputs(SimpleNamespace(artifacts={}))) == []  # type: ignore[arg-type]


def test_since_nobody_knows_when() -> None:
    assert why._since(Reason(cause=Cause.WORK, subject="s", text="t")) == ""


def test_a_case_whose_host_must_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sel_cases, "evaluate_maestro", lambda *_arguments: Missing("later"))
    with pytest.raises(CaseError, match="must fetch later"):
        sel_cases._result("x", "maestro", {}, Environment(now_millis=0))


# ------------------------------------------------------------------------------------------------- the prompt
class Terminal:
    def isatty(self) -> bool:
        return True


def test_the_prompt_completes_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    session = sel_prompt.Session({})
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        read: Any = sel_prompt.reader(session)
        completer = read.__self__.completer
        found = list(completer.get_completions(Document("Mat"), CompleteEvent()))
        assert "Math" in {each.text for each in found}
        keys.send_text("1 + 1;\r")
        assert read("> ") == "1 + 1;"


def test_without_the_extra_a_line_is_read_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert sel_prompt.reader(sel_prompt.Session({})) is input


# --------------------------------------------------------------------------------------------------- follower
class Trouble:
    """Lets the next calls of a method fail."""

    def __init__(self) -> None:
        self.errors: dict[str, list[Exception]] = {}

    async def __call__(self, call: str, moment: Moment) -> None:
        if moment is Moment.BEFORE and self.errors.get(call):
            raise self.errors[call].pop(0)


def followed(folder: Path, errors: dict[str, list[Exception]]) -> tuple[RunStatus, list[str], list[set[str]]]:
    """A run that ended before anybody followed it; what was noted, and which steps were shown."""
    assert stretto("run", "wide.yaml").exit_code == 0
    notes: list[str] = []
    shown: list[set[str]] = []

    async def work() -> RunStatus:
        store = await open_store(f"sqlite:///{folder}/.stretto/stretto.db")
        trouble = Trouble()
        (row,) = (await store.glances(RecentRuns(["wide"]))).elements
        follower = Follower(interfered(store, trouble), caller(), row.key, Bell())
        progress = await follower.begin()
        progress.status = RunStatus.IN_PROGRESS  # as if it went on
        progress.began = None
        progress.steps["j"].status = StepStatus.PAUSED
        follower._seq = 0
        trouble.errors = errors
        async with asyncio.timeout(PATIENCE):
            await follower.follow(lambda moved: shown.append({step.id for step in moved}), notes.append)
        await store.close()
        return progress.status

    return asyncio.run(work()), notes, shown


def test_a_database_that_does_not_answer_is_waited_for(folder: Path) -> None:
    status, notes, shown = followed(
        folder, {"read_log": [Unavailable("the server is gone")], "newest_seqs": [Unavailable("still")]}
    )
    assert status is RunStatus.SUCCEEDED
    assert notes == ["the server is gone; waiting for it", "the database answers again"]
    assert shown[0] == {"j"}


def test_a_log_that_was_trimmed_is_no_loss(folder: Path) -> None:
    status, notes, shown = followed(folder, {"read_log": [Trimmed(frozenset({1}))]})
    assert (status, notes, shown[0]) == (RunStatus.SUCCEEDED, [], {"j"})


@pytest.mark.parametrize("error", [Unavailable("gone"), NotFound("it moved on")])
def test_a_question_that_is_not_answered_is_asked_later(
    error: StrettoError, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(following, "why_run", fails)
    follower = Follower(Forgetful(), caller(), progress_of().key, Bell())  # type: ignore[arg-type]
    follower.progress = progress_of()
    if isinstance(error, Unavailable):  # then everything waits
        with pytest.raises(Unavailable):
            asyncio.run(follower._ask_why())
    else:
        asyncio.run(follower._ask_why())
    assert follower.progress.queued is None


class Forgetful:
    """A store whose rows are gone."""

    async def attempts(self, _selection: NamedAttempts) -> list[AttemptRow]:
        return []

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        return [LoopRecord(key=AttemptKey(run, "another", 1), inline_id="x", run_id=1)]


def test_what_the_rows_do_not_tell_stays_unknown() -> None:
    progress = progress_of()
    follower = Follower(Forgetful(), caller(), progress.key, Bell())  # type: ignore[arg-type]
    follower.progress = progress
    loop = progress.steps["each"]
    loop.move(StepStatus.RUNNING, 1, 5)
    asyncio.run(follower._complete(loop))
    loop.move(StepStatus.FATALLY_FAILED, 1, 6)
    asyncio.run(follower._complete(loop))
    assert (loop.loop, loop.reason) == (None, None)
