"""Why a queued run waits."""

import pytest
from tests.unit.strategies.table import run, runs, strategy

from stretto.model.errors import WrongState
from stretto.model.properties import RunStrategyRule
from stretto.model.response import Hold
from stretto.strategies import explain

R = RunStrategyRule


@pytest.mark.parametrize(
    ("rule", "slots", "queue", "running", "failed", "hold", "says"),
    [
        (R.PARALLEL, 0, "9", "", "", Hold.PAUSED, "the workflow is paused, because its concurrency is 0"),
        (R.STRICT_SEQUENTIAL, 0, "9", "3", "2", Hold.PAUSED, "the workflow is paused"),
        (
            *(R.STRICT_SEQUENTIAL, 1, "9", "", "3 4.2", Hold.BLOCKED),
            "STRICT_SEQUENTIAL is blocked until a restart or unblock of instance 3 run 1 and instance 4 run",
        ),
        (R.STRICT_SEQUENTIAL, 1, "9", "5", "3", Hold.BLOCKED, "unblock of instance 3 run 1"),
        (
            *(R.LAST_ONLY, 1, "9", "8", "", Hold.REPLACING),
            "instance 8 run 1 is being stopped to make room for it",
        ),
        (R.SEQUENTIAL, 1, "9", "8", "3", Hold.BUSY, "every slot of SEQUENTIAL is taken, by instance 8 run 1"),
        (
            *(R.PARALLEL, 5, "9", "1 2 3 4 5", "", Hold.BUSY),
            "is taken, by instance 1 run 1, instance 2 run 1, instance 3 run 1 and 2 more",
        ),
        (
            R.PARALLEL,
            3,
            "7 8 9",
            "6",
            "",
            Hold.BEHIND,
            "free slots go first to instance 7 run 1 and instance 8",
        ),
        (R.FIRST_ONLY, 1, "9", "", "3", Hold.NOTHING, "nothing holds it, it is admitted next"),
    ],
)
def test_explain(rule: R, slots: int, queue: str, running: str, failed: str, hold: Hold, says: str) -> None:
    waiting = explain(strategy(rule, slots), run("9"), runs(queue), runs(running), runs(failed))
    assert waiting.hold is hold
    assert waiting.has_no_slot is (rule is R.PARALLEL and hold in {Hold.BUSY, Hold.BEHIND})
    behind = {Hold.BLOCKED: failed, Hold.REPLACING: running, Hold.BUSY: running, Hold.BEHIND: queue}
    assert waiting.in_the_way == tuple(each for each in runs(behind.get(hold, "")) if each != waiting.run)
    assert waiting.sentence.startswith(f"instance 9 run 1 is number {len(queue.split())} in the queue: ")
    assert says in waiting.sentence


def test_the_answer_as_data() -> None:
    strict = strategy(R.STRICT_SEQUENTIAL)
    waiting = explain(strict, run("8"), runs("7 8 9"), runs("5"), runs("3"))
    assert (waiting.position, waiting.ahead) == (2, (run("7"),))
    assert (waiting.running, waiting.failed) == ((run("5"),), (run("3"),))
    assert (waiting.run, waiting.strategy) == (run("8"), strict)


def test_failures_are_named_only_where_they_block() -> None:
    assert explain(strategy(R.SEQUENTIAL), run("8"), runs("8"), [], runs("3")).failed == ()


def test_only_a_queued_run_waits() -> None:
    with pytest.raises(WrongState, match="instance 8 run 1 is not queued"):
        explain(strategy(R.SEQUENTIAL), run("8"), runs("9"), [], [])
