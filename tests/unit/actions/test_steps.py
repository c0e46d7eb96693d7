"""What is asked of single steps: stop, kill, bypass, an answer, output; and breakpoints."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.actions.world import ANN, CHAIN, WORK, World, failing, flow, going_on

from stretto.actions.act_on_step import bypass_step, kill_step, stop_step
from stretto.actions.answer_step import answer_step
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.parts.breakpoint_place import kept_under
from stretto.actions.reading.breakpoints import all_paused, list_breakpoints, list_paused
from stretto.actions.report_output import report_output
from stretto.actions.restart import restart
from stretto.actions.resume_attempt import resume_attempt, resume_paused
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.artifact import RetryArtifact
from stretto.model.breakpoint import PausedStepAttempt
from stretto.model.errors import InvalidRequest, NotFound, TimedOut, WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.request import BreakpointRequest, CallbackRequest, InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.params import ParamLimits
from stretto.ports.hints import SILENT
from stretto.ports.messages import Output

WAITING = "{id: a, type: NoOp, signal_dependencies: [{name: go}]}"
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: NoOp}}]}"
)
WHILE = (
    "while: {id: w, condition: 'false',"
    " params: {loop_params: {value: {i: {value: 1, type: LONG}}, type: MAP}},"
    " steps: [{step: {id: v, type: NoOp}}]}"
)
RUN = RunKey("flow", 1, 1)


def made(text: str = "", runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text or flow(*CHAIN))
    world.start()
    return world.settle()


# --------------------------------------------------------------------------------------------------- ending
@pytest.mark.parametrize(("act", "status"), [(stop_step, "STOPPED"), (kill_step, "FATALLY_FAILED")])
def test_a_step_is_ended(act: Callable[..., Any], status: str) -> None:
    world = made()
    answer = world.do(act(world.store, ANN, "flow", 1, "a", patience=world.patience()))
    assert answer.step_attempt_id == 1
    assert world.settle().steps() == {"a": status}


def test_who_waits_sees_how_the_step_ended() -> None:
    world = made(flow(WAITING))
    answer = world.do(stop_step(world.store, ANN, "flow", 1, "a", patience=world.patience()))
    assert answer.step_runtime_state is not None
    assert answer.step_runtime_state.status == "STOPPED"


def test_an_end_comes_even_if_nobody_waits_for_it() -> None:
    world = made()
    patience = world.patience(100)
    world.clock.meanwhile = None
    with pytest.raises(TimedOut):
        world.do(stop_step(world.store, ANN, "flow", 1, "a", patience=patience))
    assert world.settle().steps() == {"a": "STOPPED"}


def test_what_has_ended_is_not_ended_again() -> None:
    world = made(runtime=failing("b"))
    with pytest.raises(WrongState, match=r"\[flow\]\[1\]\[b\]"):
        world.do(stop_step(world.store, ANN, "flow", 1, "b"))
    with pytest.raises(NotFound, match=r"\[flow\]\[1\]\[c\]"):
        world.do(kill_step(world.store, ANN, "flow", 1, "c"))
    world.runtime = going_on
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    with pytest.raises(WrongState, match=r"\[a\]: it is not part of a run that goes on"):
        world.do(stop_step(world.store, ANN, "flow", 1, "a"))


def test_bypass_ends_the_wait_for_signals() -> None:
    world = made(flow(WAITING))
    assert world.steps() == {"a": "WAITING_FOR_SIGNALS"}
    world.do(bypass_step(world.store, ANN, "flow", 1, "a"))
    assert world.settle().status() == "SUCCEEDED"


def test_bypass_of_anything_else_is_refused() -> None:
    world = made()
    with pytest.raises(WrongState, match="unsupported by the step action map"):
        world.do(bypass_step(world.store, ANN, "flow", 1, "a"))
    assert world.settle().steps() == {"a": "RUNNING"}


# --------------------------------------------------------------------------------------------------- answers
@pytest.mark.parametrize(("approved", "status"), [(True, "SUCCEEDED"), (False, "FAILED")])
def test_a_wait_step_is_answered(approved: bool, status: str) -> None:
    world = made(flow("{id: a, type: Wait}"))
    request = CallbackRequest(approved=approved, message="because", request_id="once")
    for _ in range(2):
        answer = world.do(answer_step(world.store, ANN, AttemptKey(RUN, "a", 1), request))
        assert answer.step_attempt_id == 1
    assert world.settle().status() == status
    with pytest.raises(WrongState, match="does not wait for an answer"):
        world.do(answer_step(world.store, ANN, AttemptKey(RUN, "a", 1), CallbackRequest()))


def test_other_steps_have_no_answer() -> None:
    world = made()
    with pytest.raises(WrongState, match=r"\[a\]\[1\]"):
        world.do(answer_step(world.store, ANN, AttemptKey(RUN, "a", 1), CallbackRequest()))
    for missing in (AttemptKey(RUN, "a", 5), AttemptKey(RUN._replace(run_id=7), "a", 1)):
        with pytest.raises(NotFound):
            world.do(answer_step(world.store, ANN, missing, CallbackRequest()))


def test_output_of_an_outside_job_is_sent_to_the_owner() -> None:
    world = made()
    param = Parameter(type=ParamType.LONG, value=1, evaluated_result=1)
    request = OutputDataRequest(
        params={"x": param}, artifacts={"maestro_retry": RetryArtifact(retryable=False)}
    )
    world.do(report_output(world.store, ANN, AttemptKey(RUN, "a", 1), request))
    (message,) = world.do(world.store.fetch("node-1", range(128))).messages  # type: ignore[arg-type]
    assert isinstance(message.body, Output)
    assert message.body.params == {"x": param}
    with pytest.raises(InvalidRequest, match="limit is 10"):
        world.do(
            report_output(world.store, ANN, AttemptKey(RUN, "a", 1), request, limits=ParamLimits(size=10))
        )


def test_output_for_what_has_ended_is_refused() -> None:
    world = made(flow(WORK), failing())
    with pytest.raises(WrongState, match="SUCCEEDED"):
        world.do(report_output(world.store, ANN, AttemptKey(RUN, "a", 1), OutputDataRequest()))
    with pytest.raises(NotFound):
        world.do(report_output(world.store, ANN, AttemptKey(RUN, "x", 1), OutputDataRequest()))


# ----------------------------------------------------------------------------------------------- debug stops
def breakpoint_on(world: World, step_id: str, **more: Any) -> Any:
    request = BreakpointRequest(workflow_id="flow", step_id=step_id, **more)
    return world.do(set_breakpoint(world.store, ANN, request))


def paused(world: World, step_id: str) -> list[PausedStepAttempt]:
    return world.do(list_paused(world.store, ANN, "flow", step_id))


def test_a_breakpoint_holds_and_lets_go() -> None:
    world = World()
    world.publish(flow(*CHAIN))
    made_ = breakpoint_on(world, "b")
    assert (made_.workflow_id, made_.created_by) == ("flow", ANN.user)
    assert breakpoint_on(world, "b") == made_
    world.start()
    assert world.settle().steps() == {"a": "SUCCEEDED", "b": "PAUSED"}
    assert [each.step_attempt_id for each in paused(world, "b")] == [1]
    assert world.do(list_breakpoints(world.store, ANN, "flow", "b")) == [made_]
    answer = world.do(delete_breakpoint(world.store, ANN, "flow", "b"))
    assert "resumed [1] step attempt'" in str(answer.timeline_event)
    assert world.settle().status() == "SUCCEEDED"
    with pytest.raises(NotFound, match="No breakpoint is deleted"):
        world.do(delete_breakpoint(world.store, ANN, "flow", "b"))


def test_a_deletion_may_leave_them_paused() -> None:
    world = World()
    world.publish(flow(*CHAIN))
    breakpoint_on(world, "b")
    world.start()
    world.settle()
    world.do(delete_breakpoint(world.store, ANN, "flow", "b", resume=False))
    assert world.settle().steps()["b"] == "PAUSED"
    world.do(resume_attempt(world.store, ANN, AttemptKey(RUN, "b", 1), patience=world.patience()))
    assert world.settle().status() == "SUCCEEDED"


def test_a_breakpoint_holds_every_iteration() -> None:
    world = World()
    world.publish(flow(LOOP))
    made_ = breakpoint_on(world, "g")
    assert made_.workflow_id.startswith("maestro_foreach_")
    world.start()
    world.settle()
    held = paused(world, "g")
    assert [each.workflow_instance_id for each in held] == [1, 2]
    first = AttemptKey(RunKey(held[0].workflow_id, 1, 1), "g", 1)
    world.do(resume_attempt(world.store, ANN, first))
    world.settle()
    assert len(paused(world, "g")) == 1
    with pytest.raises(NotFound, match="No paused attempt is resumed"):
        world.do(resume_attempt(world.store, ANN, first))
    world.do(delete_breakpoint(world.store, ANN, "flow", "g"))
    assert world.settle().status() == "SUCCEEDED"


def test_many_are_resumed_page_by_page() -> None:
    world = World()
    world.publish(flow(WORK))
    breakpoint_on(world, "a")
    for _ in range(4):
        world.start()
    world.settle()

    async def pages() -> list[int]:
        found = all_paused(world.store, "flow", "a", batch=3)
        return [each.workflow_instance_id async for each in found]

    assert world.do(pages()) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "narrow",
    [{"workflow_version": "1"}, {"workflow_instance_id": 1}, {"workflow_run": "1"}, {"step_attempt_id": 1}],
)
def test_a_breakpoint_is_for_all_runs(narrow: dict[str, Any]) -> None:
    world = made()
    with pytest.raises(InvalidRequest, match=r"\[flow\]\[a\]"):
        breakpoint_on(world, "a", **narrow)


def test_a_breakpoint_needs_its_step() -> None:
    world = made(
        flow(
            WHILE,
            LOOP,
        )
    )
    with pytest.raises(InvalidRequest, match=r"stepId \[x\] is not present for the workflowId \[flow\]"):
        breakpoint_on(world, "x")
    assert world.do(kept_under(world.store, "flow", "v")).startswith("maestro_while_")
    assert world.do(kept_under(world.store, "flow", "w")) == "flow"


def test_an_attempt_that_is_gone_is_no_error_among_many() -> None:
    gone = PausedStepAttempt(
        workflow_id="flow",
        workflow_version_id=1,
        workflow_instance_id=9,
        workflow_run_id=1,
        step_id="a",
        step_attempt_id=1,
    )
    world = made()
    assert world.do(resume_paused(world.store, ANN, gone, SILENT)) is False
    with pytest.raises(NotFound):
        world.do(resume_attempt(world.store, ANN, AttemptKey(RUN, "zzz", 1)))
