"""`stretto logs` on a database with a history, and on runs that go on."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import chdir
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tests.unit.cli.running.files import stretto

from stretto.actions.reading import log_target
from stretto.actions.reading.log_lines import at_once
from stretto.actions.reading.log_pages import LogEntry, LogFollower, LogPlace, LogQuery, StepLogs
from stretto.actions.reading.log_target import LogTarget, Look, elsewhere_text, kept_elsewhere
from stretto.cli import logs
from stretto.cli.address import Address
from stretto.cli.database import place_of
from stretto.cli.finding import reading
from stretto.cli.output.printing import Printer, Wish
from stretto.engine.records import AttemptKey, RunKey, copy_of
from stretto.model.errors import NotFound, Unavailable
from stretto.model.status import RunStatus
from stretto.node.process import own_address
from stretto.ports.groups import NodeRow, NodeState
from stretto.ports.history import AttemptsOfStep
from stretto.ports.paging import Slice
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import NamedRuns, read_attempt, read_run
from stretto.ports.runtime import Launch
from stretto.ports.store import Store
from stretto.runtimes.logs.files import LogFiles

TALK = """
properties: {owner: ann}
workflow:
  id: talk
  steps:
    - step:
        id: first
        type: Shell
        params: {command: {type: STRING, value: "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf three"}}
        transition: {successors: {flaky: "true"}}
    - step:
        id: flaky
        type: Shell
        params: {command: {type: STRING, value: "echo try $$STRETTO_ATTEMPT; test $$STRETTO_ATTEMPT = 2"}}
        retry_policy: {error_retry_limit: 1, backoff: {type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1}}
        transition: {successors: {each: "true"}}
    - foreach:
        id: each
        params: {loop_params: {type: MAP, value: {day: {type: LONG_ARRAY, value: [1, 2]}}}}
        steps:
          - step: {id: say, type: Shell, params: {command: {type: STRING, value: "echo day $day"}}}
        transition: {successors: {quiet: "true"}}
    - step: {id: quiet, type: NoOp}
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    (folder / "talk.yaml").write_text(TALK)
    with chdir(folder):
        assert stretto("run", "talk.yaml").exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def here(history: Path) -> Iterator[None]:
    with chdir(history):
        yield


# ------------------------------------------------------------------------------------------------------ lines
def test_a_step() -> None:
    result = stretto("logs", "talk/1:first")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "one\ntwo\nthree\n", "")
    assert stretto("logs", "-f", "talk/1:first").stdout == "one\ntwo\nthree\n"


def test_a_run() -> None:
    lines = stretto("logs", "talk/1").stdout.splitlines()
    assert lines == ["first | one", "first | two", "first | three", "flaky/2 | try 2"]
    assert stretto("logs", "--follow", "talk/1/1").stdout.splitlines() == lines


def test_attempts() -> None:
    assert stretto("logs", "talk/1:flaky").stdout == "try 2\n"
    assert stretto("logs", "talk/1:flaky/1").stdout == "try 1\n"
    assert stretto("logs", "talk/1:flaky", "--attempt", "1", "-f").stdout == "try 1\n"


def test_inside_a_loop() -> None:
    assert stretto("logs", "talk/1:each[2].say").stdout == "day 2\n"
    assert stretto("logs", "talk/1:each[1]").stdout == "say | day 1\n"


def test_streams_and_tails() -> None:
    assert stretto("logs", "talk/1:first", "--stream", "stderr").stdout == "two\n"
    both = stretto("logs", "talk/1:first", "--stream", "stderr", "--stream", "stdout", "--tail", "2")
    assert both.stdout == "two\nthree\n"
    none = stretto("logs", "talk/1:first", "--tail", "0")
    assert (none.stdout, none.stderr) == ("", "")


def test_times() -> None:
    times = [
        line.split(" ", 1) for line in stretto("logs", "talk/1:first", "--timestamps").stdout.splitlines()
    ]
    assert [text for _, text in times] == ["one", "two", "three"]
    assert [time for time, _ in times] == sorted(time for time, _ in times)
    assert all(time.startswith("20") and time.endswith("Z") and len(time) == 24 for time, _ in times)


def test_for_programs() -> None:
    made = [json.loads(line) for line in stretto("logs", "talk/1", "--json").stdout.splitlines()]
    assert [each["text"] for each in made] == ["one", "two", "three", "try 2"]
    assert made[3]["time"].startswith("20")
    assert isinstance(made[3].pop("at"), int)
    del made[3]["time"]
    assert made[3] == {
        "run": "talk/1/1",
        "step": "flaky",
        "attempt": 2,
        "line": 1,
        "stream": "stdout",
        "text": "try 2",
    }


# -------------------------------------------------------------------------------------------------- not there
def test_nothing_was_printed() -> None:
    quiet = stretto("logs", "talk/1:quiet")
    folder = Path(".stretto/stretto.logs").absolute()
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert quiet.stderr == f"talk/1:quiet has printed nothing, as far as is kept in {folder}\n"
    other = stretto("logs", "talk/1:first", "--stream", "log", "--stream", "stderr", "--tail", "0")
    assert other.stderr == ""
    other = stretto("logs", "talk/1", "--stream", "log")
    assert other.stderr.splitlines()[0] == f"talk/1 has printed nothing on log, as far as is kept in {folder}"


def test_of_a_loop_its_steps_are_named() -> None:
    loop = stretto("logs", "talk/1:each").stderr
    assert "talk/1:each has printed nothing" in loop
    hint = "hint: `each` runs other steps; name one of them: talk/1:each[1].STEP in a loop"
    assert hint in loop
    assert hint in stretto("logs", "talk/1", "--stream", "log").stderr
    assert (
        LogTarget(cast("Store", None), "a/1:b[2]", RunKey("x", 1, 1), None, None).path_to("c") == "a/1:b[2].c"
    )


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("talk/7", "there is no run talk/7 in .stretto/stretto.db"),
        ("talk/1:nope", "Cannot find [nope]"),
        ("talk/1:each[9].say", "Cannot find iteration [9]"),
        ("talk/1:flaky/3", "Cannot find step attempt talk/1:flaky/3"),
        ("talk", "`talk` names no run"),
    ],
)
def test_what_is_not_there(address: str, message: str) -> None:
    for options in ([], ["-f"]):
        result = stretto("logs", address, *options)
        assert result.exit_code == 2
        assert message in result.stderr


def test_bad_options() -> None:
    assert "name a step, too" in stretto("logs", "talk/1", "--attempt", "1").stderr
    assert stretto("logs", "talk/1:first", "--stream", "stdin").exit_code == 2
    assert stretto("logs", "talk/1:first", "--tail", "-1").exit_code == 2


def test_where_nothing_was_run(tmp_path: Path) -> None:
    with chdir(tmp_path):
        result = stretto("logs", "talk/1")
        assert result.exit_code == 2
        assert "nothing was run here yet" in result.stderr
        assert os.listdir() == []  # noqa: PTH208 - nothing is made by looking


# ------------------------------------------------------------------------------------------------- a terminal
def entry(text: str, stream: str = "stdout") -> LogEntry:
    return LogEntry(step_id="new", step_attempt_id=1, line=1, at=0, stream=stream, text=text)


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = [
        entry("\x1b[31mred\x1b[0m \x07bell\tand\x1b]0;title\x07"),
        entry("bad", "stderr"),
        entry("said", "log"),
    ]
    screen, pipe = Screen(), StringIO()
    for out in (screen, pipe):
        printer = Printer(out, Wish(), RunKey("talk", 1, 1))
        printer.print(lines)
        assert not printer.is_silent
    shown = screen.getvalue().splitlines()
    assert shown[0].startswith("red  bell")
    assert "\x1b" not in shown[0]
    assert shown[1:] == ["\x1b[31mbad\x1b[0m", "\x1b[90msaid\x1b[0m"]
    assert pipe.getvalue().splitlines()[0] == lines[0].text


def test_what_a_stream_can_not_show_is_replaced() -> None:
    raw = BytesIO()
    out = TextIOWrapper(raw, "ascii")
    Printer(out, Wish(), RunKey("talk", 1, 1)).print([entry("h\u00e4")])
    assert raw.getvalue() == b"h?\n"


def test_little_is_held_of_many() -> None:
    assert at_once(0) == at_once(1) == 256 * 1024
    assert at_once(1_000) == 16 * 1024 * 1024 // 1_000
    assert at_once(1_000_000) == 4 * 1024


# --------------------------------------------------------------------------------------------- what goes on
class Told(LogTarget):
    """Answers what it was told to."""

    def __init__(self, *looks: Look | Exception, has_step: bool = True) -> None:
        self.name = "talk/1:first"
        self._step_id = "first" if has_step else None
        self.run = RunKey("talk", 1, 1)
        self._looks = list(looks)

    async def look(self) -> Look:
        look = self._looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return look


def key(number: int, step: str = "new") -> AttemptKey:
    return AttemptKey(RunKey("talk", 1, 1), step, number)


def going(*keys: AttemptKey) -> Look:
    return Look(list(keys), frozenset(keys[-1:]), frozenset(keys[:-1]), False)


def over(*keys: AttemptKey) -> Look:
    return Look(list(keys), frozenset(), frozenset(keys), True)


def followed(
    folder: Path,
    looker: LogTarget,
    then: Callable[[LogFiles], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """What is shown while something else goes on."""
    monkeypatch.setattr(logs, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(logs, "TRY_EVERY", 0.01)
    out = StringIO()

    async def follow() -> None:
        files = LogFiles(folder, 1024 * 1024, lambda: 0)
        place = place_of(None, (), None)
        async with reading(place, Address("talk", 1)) as (store, _row):
            follower = LogFollower(StepLogs(store, files, "here"), looker, LogQuery())
            printer = Printer(out, Wish(width=3), RunKey("talk", 1, 1))
            task = asyncio.create_task(logs.show(follower, printer))
            await then(files)
            await task
        files.close()

    asyncio.run(follow())
    return out.getvalue()


def test_retries_are_followed_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = going(key(1), key(2))
    first: list[Look | Exception] = [going(key(1))]
    looks = [*first * 3, both, Unavailable("no answer"), both, over(key(1), key(2))]

    async def then(files: LogFiles) -> None:
        files.write(Launch(key(1), 1), "stdout", b"one\nend")
        files.write(Launch(key(2), 1), "stdout", b"two\nend")

    text = followed(tmp_path, Told(*looks), then, monkeypatch)
    assert text.splitlines() == ["new | one", "new | end", "new/2 | two", "new/2 | end"]


def test_of_a_run_a_newer_attempt_takes_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def then(files: LogFiles) -> None:
        files.write(Launch(key(1), 1), "stdout", b"one")
        await asyncio.sleep(0)
        files.write(Launch(key(2), 1), "stdout", b"two")

    looker = Told(going(), going(key(1)), going(key(2)), over(key(2)), has_step=False)
    text = followed(tmp_path, looker, then, monkeypatch)
    assert text.splitlines() == ["new | one", "new/2 | two"]


def test_a_step_that_never_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def then(_files: LogFiles) -> None:
        pass

    assert followed(tmp_path, Told(going(), over()), then, monkeypatch) == ""
    with pytest.raises(NotFound, match=r"Cannot find a step attempt \[talk\]\[1\]\[1\]\[first\]"):
        followed(tmp_path, Told(over()), then, monkeypatch)


def with_store(work: Callable[[Store], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with reading(place_of(None, (), None), Address("talk", 1)) as (store, _row):
            return await work(store)

    return asyncio.run(run())


def test_when_nothing_more_can_come() -> None:
    async def work(store: Store) -> list[tuple[int, int, bool]]:
        run = RunKey("talk", 1, 1)
        lookers = [
            LogTarget(store, "", run, None, None),
            LogTarget(store, "", run, "flaky", None),
            LogTarget(store, "", run, "flaky", 1),
            LogTarget(store, "", run, "nope", None),
            LogTarget(store, "", RunKey("talk", 9, 1), None, None),
        ]
        looks = [await each.look() for each in lookers]
        assert await lookers[0].width() == 5
        assert await lookers[1].width() is None
        assert await lookers[4].width() is None
        return [(len(look.attempts), len(look.ended), look.is_over) for look in looks]

    assert with_store(work) == [(4, 4, True), (1, 1, True), (1, 1, True), (0, 0, True), (0, 0, True)]


def test_a_step_that_is_tried_again_has_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(store: Store) -> list[bool]:
        run = await read_run(store, RunKey("talk", 1, 1))
        assert run is not None
        going_on = copy_of(run.record)
        going_on.status = RunStatus.IN_PROGRESS

        async def same(_selection: NamedRuns) -> Slice[RunRow]:
            return Slice(elements=(msgspec.structs.replace(run, record=going_on),))

        monkeypatch.setattr(store, "runs", same)
        (first, second) = await store.attempts(AttemptsOfStep(run.key, "flaky"))
        rows = [first]

        async def some(_selection: AttemptsOfStep) -> list[AttemptRow]:
            return rows

        monkeypatch.setattr(store, "attempts", some)
        looker = LogTarget(store, "", run.key, "flaky", None)
        looks = [await looker.look()]
        rows.append(second)
        looks.append(await looker.look())
        looks.append(await LogTarget(store, "", run.key, "flaky", 1).look())
        looks.append(await LogTarget(store, "", run.key, None, None).look())
        assert looks[0].ended == {first.key}
        assert looks[1].attempts == [first.key, second.key]  # nothing is left out that came in between
        return [look.is_over for look in looks]

    assert with_store(work) == [False, True, True, False]


def test_output_on_another_machine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [key(1, "first"), key(2, "flaky"), key(1, "quiet"), key(1, "gone")]

    async def work(store: Store) -> list[str]:
        assert await kept_elsewhere(store, (), "here") == {}
        assert await kept_elsewhere(store, steps, log_target.host_of(own_address())) == {}
        rows = [await read_attempt(store, each) for each in steps]
        ids = {row.runs_on for row in rows if row is not None and row.runs_on is not None}
        nodes = [
            NodeRow(
                node=each, state=NodeState.DEAD, beats=1, expires_at=0, joined_at=0, address="far.example/1"
            )
            for each in ids
        ]

        async def known() -> list[NodeRow]:
            return nodes

        monkeypatch.setattr(store, "nodes", known)
        monkeypatch.setattr(log_target, "SOME", 1)
        found = await kept_elsewhere(store, steps, "here")
        return [elsewhere_text(host, names) for host, names in found.items()]

    assert with_store(work) == ["first and 1 more ran on far.example: the output is kept there"]


def test_it_is_said_while_one_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def said(_logs: StepLogs, attempts: Any) -> tuple[LogPlace, ...]:
        return (LogPlace(host="far.example", steps=(f"{len(attempts)}",)),) if attempts else ()

    async def then(_files: LogFiles) -> None:
        pass

    monkeypatch.setattr(StepLogs, "elsewhere", said)
    followed(tmp_path, Told(going(key(1)), going(key(1)), over(key(1))), then, monkeypatch)
    assert capsys.readouterr().err == "1 ran on far.example: the output is kept there\n"
    result = stretto("logs", "talk/1:quiet")
    assert result.stderr == "1 ran on far.example: the output is kept there\n"


def test_an_interrupt_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_args: Any, **_options: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(logs, "show", interrupted)
    result = stretto("logs", "-f", "talk/1")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")
