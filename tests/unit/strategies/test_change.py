"""Changing the run strategy of a workflow that has runs."""

import pytest
from tests.unit.strategies.table import Given, Then, outcome, strategy

from stretto.model.errors import PreconditionFailed
from stretto.model.properties import RunStrategyRule
from stretto.strategies import check_change

R = RunStrategyRule


@pytest.mark.parametrize(
    ("new", "queued", "running", "failed", "reason"),
    [
        (R.FIRST_ONLY, 1, 1, 0, "2 runs have not ended, and it allows one"),
        (R.FIRST_ONLY, 0, 3, 0, "3 runs have not ended, and it allows one"),
        (R.LAST_ONLY, 2, 0, 0, "2 runs have not ended, and it would have to choose one"),
        (R.STRICT_SEQUENTIAL, 0, 0, 1, "1 failed run would block the queue at once"),
        (R.STRICT_SEQUENTIAL, 5, 5, 2, "2 failed runs would block the queue at once"),
    ],
)
def test_refused(new: R, queued: int, running: int, failed: int, reason: str) -> None:
    with pytest.raises(PreconditionFailed) as caught:
        check_change(strategy(R.PARALLEL), strategy(new), queued, running, failed)
    message = f"The run strategy can not be changed from PARALLEL to {new}: {reason}"
    assert (caught.value.message, caught.value.status) == (message, 412)


@pytest.mark.parametrize(
    ("new", "queued", "running", "failed"),
    [
        (R.FIRST_ONLY, 1, 0, 9),
        (R.LAST_ONLY, 0, 1, 9),
        (R.STRICT_SEQUENTIAL, 9, 9, 0),
        (R.SEQUENTIAL, 9, 9, 9),
        (R.SERIAL_LATEST_ONLY, 9, 9, 9),
    ],
)
def test_allowed(new: R, queued: int, running: int, failed: int) -> None:
    check_change(strategy(R.PARALLEL), strategy(new), queued, running, failed)


@pytest.mark.parametrize("rule", R)
def test_the_same_rule_can_always_be_paused(rule: R) -> None:
    check_change(strategy(rule), strategy(rule, 0), 5, 5, 5)


def test_the_new_strategy_admits_what_the_old_one_held_back() -> None:
    held = Given("4 5 6", running=1)
    assert outcome(strategy(R.SEQUENTIAL), held) == Then()
    assert outcome(strategy(R.PARALLEL, 3), held) == Then(admitted="4 5")
