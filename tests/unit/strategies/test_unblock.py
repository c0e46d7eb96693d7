"""Letting a strictly sequential queue go on past its failures."""

from tests.unit.strategies.table import run, runs, strategy

from stretto.model.properties import RunStrategyRule
from stretto.model.status import FailureMark
from stretto.strategies import Mark, unblock

STRICT = strategy(RunStrategyRule.STRICT_SEQUENTIAL)


def test_all_failures_of_a_workflow() -> None:
    unblocked = unblock(STRICT, runs("4 5"), 0, runs("2 3.2"))
    assert unblocked.marks == (
        Mark(run("2"), FailureMark.UNBLOCKED),
        Mark(run("3.2"), FailureMark.UNBLOCKED),
    )
    assert unblocked.admission.admitted == (run("4"),)


def test_one_of_several_does_not_free_the_queue() -> None:
    unblocked = unblock(STRICT, runs("4"), 0, runs("2 3"), run("3"))
    assert unblocked.marks == (Mark(run("3"), FailureMark.UNBLOCKED),)
    assert unblocked.admission.admitted == ()


def test_the_last_one_does() -> None:
    assert unblock(STRICT, runs("4"), 0, runs("3"), run("3")).admission.admitted == (run("4"),)


def test_nothing_to_unblock() -> None:
    unblocked = unblock(STRICT, runs("4"), 0, runs("3"), run("2"))
    assert unblocked.marks == ()
    assert unblocked.admission.admitted == ()


def test_a_running_one_is_still_waited_for() -> None:
    assert unblock(STRICT, runs("4"), 1, runs("3")).admission.admitted == ()


def test_the_raw_statuses_are_those_of_maestro() -> None:
    assert [str(raw) for raw in FailureMark] == ["FAILED", "FAILED_1", "FAILED_2"]
