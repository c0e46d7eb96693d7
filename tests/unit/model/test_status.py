"""Statuses, their flags, the tables of moves, and the maps of actions."""

from collections.abc import Mapping
from typing import Any

import pytest

from stretto.model.actions import ENDS_IN, INSTANCE_ACTIONS, STEP_ACTIONS, InstanceAction, StepAction
from stretto.model.moves import INSTANCE_MOVES, RUN_MOVES, STEP_MOVES, draw, may_move
from stretto.model.status import RUN_ENDS, STEP_FLAGS, InstanceStatus, RunStatus, StepStatus

TABLES: list[tuple[Any, Any]] = [
    (RUN_MOVES, RunStatus),
    (INSTANCE_MOVES, InstanceStatus),
    (STEP_MOVES, StepStatus),
]
P = StepStatus


@pytest.mark.parametrize(("moves", "statuses"), TABLES)
def test_every_status_is_drawn_and_every_drawn_one_exists(moves: Any, statuses: Any) -> None:
    drawn = {*moves, *(end for row in moves.values() for end in row)}
    assert drawn == set(statuses)
    assert all(type(each) is statuses for each in drawn)


@pytest.mark.parametrize(("moves", "statuses"), TABLES)
def test_every_status_can_be_reached_and_no_move_is_empty(moves: Any, statuses: Any) -> None:
    reached = {next(iter(moves))}
    while True:
        more = {end for start in reached for end in moves.get(start, {})} - reached
        if not more:
            break
        reached |= more
    assert reached == set(statuses)
    assert all(when for row in moves.values() for when in row.values())
    assert all(start not in row for start, row in moves.items())


def test_ends_have_no_row() -> None:
    assert set(RunStatus) - RUN_MOVES.keys() == RUN_ENDS
    assert {status for status in P if status.is_complete} == set(P) - STEP_MOVES.keys()
    assert INSTANCE_MOVES.keys() == set(InstanceStatus)


def test_only_a_restart_leaves_an_ended_instance() -> None:
    for status in InstanceStatus:
        assert status.is_terminal == (INSTANCE_MOVES[status].keys() == {InstanceStatus.CREATED})
        assert status.is_terminal == RunStatus(status).is_terminal


def test_a_terminal_step_only_begins_again_or_ends_for_good() -> None:
    for start, row in STEP_MOVES.items():
        if start.is_terminal:
            assert all(end is P.CREATED or end.is_terminal for end in row)
        if start.is_restartable:
            assert set(row) == {P.CREATED}


def test_may_move() -> None:
    assert may_move(RUN_MOVES, RunStatus.CREATED, RunStatus.IN_PROGRESS)
    assert not may_move(RUN_MOVES, RunStatus.CREATED, RunStatus.SUCCEEDED)
    assert not may_move(RUN_MOVES, RunStatus.SUCCEEDED, RunStatus.CREATED)


def test_the_drawing_begins_and_ends() -> None:
    moves: Mapping[RunStatus, Mapping[RunStatus, str]] = {RunStatus.CREATED: {RunStatus.FAILED: "killed"}}
    assert draw(moves) == (
        "stateDiagram-v2\n    [*] --> CREATED\n    CREATED --> FAILED: killed\n    FAILED --> [*]\n"
    )


def test_flags_of_a_step() -> None:
    """The table of the reference: terminal, complete, kept in rollups, tried again."""
    assert {status: status.flags for status in P} == STEP_FLAGS
    assert {each for each in P if each.is_retryable} == {P.USER_FAILED, P.PLATFORM_FAILED, P.TIMEOUT_FAILED}
    assert {each for each in P if each.is_restartable} == {
        P.FATALLY_FAILED,
        P.INTERNALLY_FAILED,
        P.STOPPED,
        P.TIMED_OUT,
    }
    assert {each for each in P if each.is_complete} == {
        P.DISABLED,
        P.UNSATISFIED,
        P.SKIPPED,
        P.SUCCEEDED,
        P.COMPLETED_WITH_ERROR,
    }
    assert {each for each in P if each.is_overview and not each.is_terminal} == {
        P.PAUSED,
        P.WAITING_FOR_SIGNALS,
        P.EVALUATING_PARAMS,
        P.WAITING_FOR_PERMITS,
        P.RUNNING,
    }
    for status in P:
        assert status.is_wakeable == (not status.is_terminal or status.is_retryable)


@pytest.mark.parametrize("raw", ["FAILED", "FAILED_1", "FAILED_2", "failed_2"])
def test_stored_failures_read_as_failed(raw: str) -> None:
    assert InstanceStatus(raw) is InstanceStatus.FAILED


def test_an_instance_status_is_read_in_any_case() -> None:
    assert InstanceStatus("in_progress") is InstanceStatus.IN_PROGRESS
    with pytest.raises(ValueError, match="nonsense"):
        InstanceStatus("nonsense")


def test_actions_on_an_instance() -> None:
    assert INSTANCE_ACTIONS.keys() == set(InstanceStatus)
    for status, actions in INSTANCE_ACTIONS.items():
        assert (InstanceAction.RESTART in actions) == status.is_terminal
        assert (InstanceAction.UNBLOCK in actions) == (status is InstanceStatus.FAILED)


def test_actions_on_a_step() -> None:
    assert STEP_ACTIONS.keys() == set(P) - {P.NOT_CREATED}
    for status, actions in STEP_ACTIONS.items():
        assert (StepAction.STOP in actions) == (StepAction.KILL in actions) == status.is_wakeable
        assert (StepAction.RESTART in actions) == (not status.is_wakeable)
        assert StepAction.TIME_OUT not in actions
    bypass = StepAction.BYPASS_STEP_DEPENDENCIES
    assert [status for status, actions in STEP_ACTIONS.items() if bypass in actions] == [
        P.WAITING_FOR_SIGNALS
    ]


@pytest.mark.parametrize("action", ENDS_IN)
def test_what_an_action_ends_in_is_a_legal_move(action: StepAction) -> None:
    assert ENDS_IN[action].is_terminal
    for status, actions in STEP_ACTIONS.items():
        if action in actions and status.is_wakeable:
            assert may_move(STEP_MOVES, status, ENDS_IN[action]), status
