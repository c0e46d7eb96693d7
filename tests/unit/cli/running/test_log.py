"""A run line by line."""

import pytest
from tests.unit.cli.running.shown import (
    IN_MEMORY,
    PLACE,
    Clock,
    applied,
    loop_begun,
    progress_of,
    run_moved,
    step_moved,
)

from stretto.cli.running.log import Log
from stretto.cli.running.progress import Progress
from stretto.cli.running.views import Ending
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

S, I = StepStatus, InstanceStatus  # noqa: E741 - short names keep the tests readable


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock: Clock) -> Log:
    return Log(clock)


class Reader:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def lines(self) -> list[str]:
        """What was printed since the last look, without times."""
        return [line[9:] for line in self._capsys.readouterr().out.splitlines()]


@pytest.fixture
def reader(capsys: pytest.CaptureFixture[str]) -> Reader:
    return Reader(capsys)


def begun(log: Log, reader: Reader) -> Progress:
    progress = progress_of()
    applied(progress, run_moved(I.IN_PROGRESS, 0))
    log.begin(progress, PLACE)
    assert reader.lines() == ["etl/3, version 2, .stretto/stretto.db"]
    return progress


def test_what_lasts_is_said_also_if_the_clock_was_set_back(log: Log, reader: Reader, clock: Clock) -> None:
    progress = begun(log, reader)
    clock.time = 5_000_000
    log.show(applied(progress, step_moved("extract", S.STARTING, clock.time)))
    clock.time = 3_000
    log.show([])
    assert reader.lines() == ["▶ extract RUNNING"]


def test_what_lasts_is_said_once(log: Log, reader: Reader, clock: Clock) -> None:
    progress = begun(log, reader)
    log.show(applied(progress, step_moved("extract", S.STARTING, 1)))
    assert reader.lines() == []
    clock.time = 3_000
    log.show([])
    log.show(applied(progress, step_moved("extract", S.RUNNING, 2)))
    log.show(applied(progress, step_moved("extract", S.EVALUATING_PARAMS, 2)))
    log.show([])
    assert reader.lines() == ["▶ extract RUNNING"]
    log.show(applied(progress, step_moved("extract", S.SUCCEEDED, 3_201)))
    assert reader.lines() == ["✓ extract SUCCEEDED 3.2s"]


def test_what_waits_is_told_if_it_lasts(log: Log, reader: Reader, clock: Clock) -> None:
    progress = begun(log, reader)
    moved = applied(progress, step_moved("extract", S.WAITING_FOR_PERMITS, 1))
    log.show(moved)
    assert reader.lines() == []
    clock.time = 2_001
    moved[0].reason = "it waits for a permit of the tag warehouse"
    log.show([])
    log.show([])
    assert reader.lines() == ["◌ extract WAITING_FOR_PERMITS: it waits for a permit of the tag warehouse"]


def test_retries(log: Log, reader: Reader, clock: Clock) -> None:
    progress = begun(log, reader)
    applied(progress, step_moved("load", S.RUNNING, 0))
    (step,) = applied(progress, step_moved("load", S.USER_FAILED, 100))
    step.reason = "exit code 1:\nno"
    log.show([step])
    step.reason = "it is tried again at 12:00:00: exit code 1"
    log.show([])
    applied(progress, step_moved("load", S.RUNNING, 200, attempt=2))
    clock.time = 9_000
    log.show([])
    assert reader.lines() == [
        "↻ load USER_FAILED 0.1s: exit code 1: no",
        "↻ load USER_FAILED 0.1s: it is tried again at 12:00:00: exit code 1",
        "▶ load RUNNING (attempt 2)",
    ]


def test_loops_are_told_now_and_then(log: Log, reader: Reader, clock: Clock) -> None:
    progress = begun(log, reader)
    moved = applied(progress, step_moved("each", S.RUNNING, 0))
    clock.time = 2_000
    log.show(moved)  # nobody knows yet how long it is
    loop_begun(progress)
    log.show([])
    clock.time = 12_000
    log.show([])
    log.show([])
    applied(progress, step_moved("each", S.SUCCEEDED, 12_000))
    log.show(moved)
    assert reader.lines() == ["▶ each RUNNING", "each 0 of 4", "✓ each SUCCEEDED 12s (0 of 4)"]


def test_a_run_that_is_queued(log: Log, reader: Reader) -> None:
    progress = begun(log, reader)
    progress.queued = "etl/3 is number 1 in the queue"
    log.show([])
    log.show([])
    progress.queued = None
    log.show([])
    log.note("by the way")
    assert reader.lines() == ["etl/3 is number 1 in the queue", "by the way"]


def test_a_run_that_goes_on_says_what_is_done(log: Log, reader: Reader, clock: Clock) -> None:
    clock.time = 3_000
    progress = progress_of()
    applied(progress, step_moved("extract", S.SUCCEEDED, 1), step_moved("each", S.RUNNING, 1))
    log.begin(progress, IN_MEMORY)
    assert reader.lines() == [
        "etl/3, version 2, in memory: nothing is kept",
        "✓ extract SUCCEEDED 0.0s",
        "▶ each RUNNING",
    ]


def ended(progress: Progress, **more: object) -> Ending:
    return Ending(progress=progress, place=PLACE, **more)  # type: ignore[arg-type]


def test_the_end(log: Log, capsys: pytest.CaptureFixture[str], reader: Reader) -> None:
    progress = begun(log, reader)
    applied(progress, run_moved(I.SUCCEEDED, 2_500))
    log.end(ended(progress))
    assert capsys.readouterr().out[9:] == "✓ etl/3 SUCCEEDED 2.5s\n"


def test_an_interrupt(log: Log, capsys: pytest.CaptureFixture[str], reader: Reader) -> None:
    progress = begun(log, reader)
    progress.status = RunStatus.PAUSED
    log.end(ended(progress, interrupted=True, again="stretto run etl.yaml --resume"))
    assert capsys.readouterr().out == (
        "etl/3 was interrupted and is paused. Go on with:\n  stretto run etl.yaml --resume\n"
    )
    progress.status = RunStatus.IN_PROGRESS
    log.end(ended(progress, interrupted=True, again="x"))
    assert "was interrupted and is IN_PROGRESS." in capsys.readouterr().out
    log.end(ended(progress, interrupted=True))
    assert capsys.readouterr().out == "etl/3 was interrupted, and nothing of it is kept.\n"


def test_errors_at_the_end(log: Log, capsys: pytest.CaptureFixture[str], reader: Reader) -> None:
    progress = begun(log, reader)
    applied(progress, step_moved("load", S.FATALLY_FAILED, 1), step_moved("each", S.RUNNING, 1))
    progress.steps["load"].reason = "exit code 1: 0\n" + "\n".join(map(str, range(1, 30)))
    loop_begun(progress)
    for place in range(2):
        applied(progress, run_moved(I.FAILED, 2, "maestro_foreach_x", place))
    applied(progress, step_moved("each", S.FATALLY_FAILED, 3), run_moved(I.FAILED, 4))
    log.end(ended(progress))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == ["each: 2 of 4 iterations did not end well", "load: exit code 1: 0", "    …"]
    assert lines[-2:] == ["    29", "More: stretto show etl/3"]
    assert len(lines) == 17
