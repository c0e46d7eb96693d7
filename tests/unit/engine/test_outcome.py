"""When a run is over, and how it ended."""

import pytest

from stretto.definition.graph import Graph
from stretto.engine.outcome import is_moving, outcome, outcome_of, worst_end
from stretto.model.errors import Internal
from stretto.model.status import RunStatus as R
from stretto.model.status import StepStatus as S

DIAMOND = Graph({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []})


def never() -> bool:
    raise AssertionError("nobody needs to walk the graph")


@pytest.mark.parametrize("status", S)
def test_what_a_single_step_says_of_its_run(status: S) -> None:
    ended = {
        S.FATALLY_FAILED: R.FAILED,
        S.INTERNALLY_FAILED: R.FAILED,
        S.TIMED_OUT: R.TIMED_OUT,
        S.STOPPED: R.STOPPED,
    }
    failed = {S.USER_FAILED, S.PLATFORM_FAILED, S.TIMEOUT_FAILED}
    expected = R.SUCCEEDED if status.is_complete else ended.get(status)
    assert outcome_of(Graph({"a": []}), {"a": status}) is expected
    over = outcome_of(Graph({"a": []}), {"a": status}, retries_over=True)
    assert over is (R.FAILED if status in failed else expected)


def test_failed_before_timed_out_before_stopped() -> None:
    assert worst_end({S.STOPPED: 1, S.TIMED_OUT: 1, S.USER_FAILED: 1}) is R.FAILED
    assert worst_end({S.STOPPED: 1, S.TIMED_OUT: 1, S.FATALLY_FAILED: 0}) is R.TIMED_OUT
    assert worst_end({S.STOPPED: 1, S.TIMED_OUT: 1}, timeouts_fail=True) is R.FAILED
    assert worst_end({S.STOPPED: 1}, timeouts_fail=True) is R.STOPPED
    assert worst_end({S.STOPPED: 1, S.SUCCEEDED: 5}) is R.STOPPED
    assert worst_end({S.SUCCEEDED: 5}) is None


def test_the_graph_is_walked_only_when_nothing_moves_and_steps_are_missing() -> None:
    assert outcome({S.RUNNING: 1, S.SUCCEEDED: 1}, 9, never) is None
    assert outcome({S.USER_FAILED: 1}, 9, never) is None
    assert outcome({S.SUCCEEDED: 2, S.RUNNING: 0}, 2, never) is R.SUCCEEDED
    assert outcome({S.SUCCEEDED: 1}, 2, lambda: False) is None
    assert outcome({S.SUCCEEDED: 1, S.NOT_CREATED: 1}, 2, lambda: True) is R.SUCCEEDED


def test_a_run_without_a_created_step_has_failed() -> None:
    assert outcome({}, 3, lambda: True) is R.FAILED
    assert outcome({S.NOT_CREATED: 3}, 3, lambda: True) is R.FAILED


def test_moving_means_under_way_or_waiting_for_a_retry() -> None:
    assert is_moving({S.PAUSED: 1})
    assert is_moving({S.TIMEOUT_FAILED: 1})
    assert not is_moving({S.TIMEOUT_FAILED: 1}, retries_over=True)
    assert not is_moving({S.NOT_CREATED: 4, S.STOPPED: 1})


def test_a_failed_branch_lets_the_other_one_end_first() -> None:
    assert outcome_of(DIAMOND, {"a": S.SUCCEEDED, "b": S.FATALLY_FAILED}) is None
    assert outcome_of(DIAMOND, {"a": S.SUCCEEDED, "b": S.FATALLY_FAILED, "c": S.RUNNING}) is None
    assert outcome_of(DIAMOND, {"a": S.SUCCEEDED, "b": S.FATALLY_FAILED, "c": S.SKIPPED}) is R.FAILED


def test_a_restart_of_a_specific_step_leaves_other_roots_asleep() -> None:
    graph = Graph({"b": ["d"], "c": ["d"], "d": []})
    assert outcome_of(graph, {"b": S.SUCCEEDED}, restarted="b") is R.SUCCEEDED
    assert outcome_of(graph, {"b": S.SUCCEEDED, "c": S.NOT_CREATED}, restarted="b") is R.SUCCEEDED
    assert outcome_of(graph, {"b": S.SUCCEEDED, "c": S.SUCCEEDED}, restarted="b") is None
    with pytest.raises(Internal, match=r"stepId \[d\] should not have any status"):
        outcome_of(graph, {"b": S.SUCCEEDED, "d": S.SUCCEEDED}, restarted="b")
