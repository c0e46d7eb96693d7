"""Which attempts a breakpoint holds, and what queries find."""

from stretto.engine.breakpoints import (
    Where,
    find_breakpoints,
    find_paused,
    holds,
    key_of,
    no_such_breakpoint,
    not_paused,
    stored_id,
    unknown_step,
)
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint


def breakpoint_at(where: Where, workflow_id: str = "wf", step_id: str = "job") -> StepBreakpoint:
    return StepBreakpoint(
        workflow_id=workflow_id,
        step_id=step_id,
        workflow_version_id=where.version or None,
        workflow_instance_id=where.instance,
        workflow_run_id=where.run,
        step_attempt_id=where.attempt or None,
    )


def attempt_at(where: Where, workflow_id: str = "wf", step_id: str = "job") -> PausedStepAttempt:
    return PausedStepAttempt(
        workflow_id=workflow_id,
        workflow_version_id=where.version,
        workflow_instance_id=where.instance,
        workflow_run_id=where.run,
        step_id=step_id,
        step_attempt_id=where.attempt,
    )


def test_a_field_that_is_not_set_or_zero_stands_for_all() -> None:
    attempt = attempt_at(Where(1, 2, 3, 4))
    for place in (Where(), Where(1), Where(1, 2), Where(1, 2, 3), Where(1, 2, 3, 4), Where(attempt=4)):
        assert holds(breakpoint_at(place), attempt)
    for place in (Where(2), Where(1, 3), Where(1, 2, 4), Where(attempt=1)):
        assert not holds(breakpoint_at(place), attempt)


def test_only_the_named_step_of_the_named_workflow_is_held() -> None:
    assert not holds(breakpoint_at(Where(), step_id="other"), attempt_at(Where(1, 1, 1, 1)))
    assert not holds(breakpoint_at(Where(), "wf2"), attempt_at(Where(1, 1, 1, 1)))
    assert not holds(breakpoint_at(Where(), "w"), attempt_at(Where(1, 1, 1, 1)))


def test_a_step_in_a_loop_is_held_in_every_iteration() -> None:
    stored = stored_id("wf", 54_321, Loop.FOREACH)
    inside = inline_workflow_id(Loop.FOREACH, 54_321, "wf", 1, "loop", 1)
    other = inline_workflow_id(Loop.FOREACH, 54_322, "wf", 1, "loop", 1)
    assert holds(breakpoint_at(Where(), stored), attempt_at(Where(1, 5, 1, 1), inside))
    assert not holds(breakpoint_at(Where(), stored), attempt_at(Where(1, 5, 1, 1), other))
    assert len(find_paused([attempt_at(Where(1, 1, 1, 1), inside)], stored, "job", Where())) == 1
    assert stored_id("wf", 54_321, None) == "wf"


def test_queries_find_what_agrees_with_them() -> None:
    stored = [
        breakpoint_at(Where()),
        breakpoint_at(Where(1)),
        breakpoint_at(Where(2)),
        breakpoint_at(Where(), "x"),
    ]
    assert find_breakpoints(stored, "wf", "job", Where()) == stored[:3]
    assert find_breakpoints(stored, "wf", "job", Where(1, 7)) == stored[:2]
    assert find_breakpoints(stored, "wf", "other", Where()) == []
    assert find_breakpoints(stored, "outer", "job", Where(), kept_as="x") == [breakpoint_at(Where(), "outer")]
    paused = [
        attempt_at(Where(1, 1, 1, 1)),
        attempt_at(Where(1, 2, 1, 1)),
        attempt_at(Where(1, 2, 1, 1), "x"),
    ]
    assert find_paused(paused, "wf", "job", Where(1, 2)) == paused[1:2]
    assert find_paused(paused, "wf", "other", Where()) == []


def test_setting_it_again_is_the_same_breakpoint() -> None:
    assert key_of(breakpoint_at(Where(1))) == key_of(breakpoint_at(Where(1)))
    assert key_of(breakpoint_at(Where(1))) != key_of(breakpoint_at(Where(2)))


def test_refusals_name_the_place() -> None:
    assert "stepId [job] is not present" in unknown_step("wf", "job").message
    assert "[wf][1][2][3][job][4]" in no_such_breakpoint("wf", "job", Where(1, 2, 3, 4)).message
    assert "[wf][1][2][3][job][4]" in not_paused("wf", "job", Where(1, 2, 3, 4)).message
