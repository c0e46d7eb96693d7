"""Restarts of instances and of steps, and skips."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, CHAIN, WORK, World, failing, flow, going_on

from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.engine.events import ResultState
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound, TimedOut, WrongState
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import InstanceRestartRequest, StepRestartRequest, UpstreamRestartMode
from stretto.model.response import StartStatus
from stretto.model.run_config import RunPolicy
from stretto.model.status import FailureMark
from stretto.params import ParamError
from stretto.ports.history import RunList
from stretto.ports.paging import Slice
from stretto.ports.run_snapshot import NewestAttempts, NewestRun, read_run

INCOMPLETE, BEGINNING = RunPolicy.RESTART_FROM_INCOMPLETE, RunPolicy.RESTART_FROM_BEGINNING
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)
SIBLINGS = ("{id: a, type: Python}", "{id: b, type: Python}")
SUB = "subworkflow: {id: sub, sync: %s, params: {subworkflow_id: {value: child, type: STRING}}}"


def made(text: str = "", runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text or flow(*CHAIN))
    world.start()
    return world.settle()


def again(world: World, policy: RunPolicy = INCOMPLETE, workflow_id: str = "flow", **more: Any) -> Any:
    patience = more.pop("patience", None)
    request = InstanceRestartRequest(restart_policy=policy, **more)
    return world.do(restart(world.store, ANN, workflow_id, 1, request, patience=patience))


def step_again(world: World, step_id: str, workflow_id: str = "flow", **more: Any) -> Any:
    patience = more.pop("patience", None)
    request = StepRestartRequest(restart_policy=more.pop("policy", INCOMPLETE), **more)
    return world.do(restart_step(world.store, ANN, workflow_id, 1, step_id, request, patience=patience))


# ------------------------------------------------------------------------------------------------- instances
def test_a_restart_covers_what_is_incomplete() -> None:
    world = made(runtime=failing("b"))
    assert world.status() == "FAILED"
    world.runtime = failing()
    answer = again(world)
    assert (answer.workflow_run_id, answer.status) == (2, StartStatus.CREATED)
    first = world.do(read_run(world.store, RunKey("flow", 1, 1)))
    assert first is not None
    assert first.failure is FailureMark.SUPERSEDED
    assert world.settle().status() == "SUCCEEDED"
    rows = world.do(world.store.attempts(NewestAttempts((RunKey("flow", 1, 2),))))
    assert [row.key.step_id for row in rows] == ["b", "c"]
    record = world.row().record
    assert record.initiator == ManualInitiator(user=ANN.user)
    assert record.correlation_id == "flow:1:1"


def test_a_restart_from_the_beginning_covers_all() -> None:
    world = made(runtime=failing())
    again(world, BEGINNING)
    assert world.settle().status() == "SUCCEEDED"
    assert len(world.do(world.store.attempts(NewestAttempts((RunKey("flow", 1, 2),))))) == 3


def test_nothing_is_left_to_restart() -> None:
    world = made(runtime=failing())
    with pytest.raises(WrongState, match="nothing is left"):
        again(world)


@pytest.mark.parametrize("policy", [RunPolicy.RESTART_FROM_SPECIFIC, RunPolicy.START_FRESH_NEW_RUN])
def test_other_policies_are_refused(policy: RunPolicy) -> None:
    world = made(runtime=failing("b"))
    with pytest.raises(InvalidRequest, match=policy):
        again(world, policy)
    with pytest.raises(InvalidRequest, match=policy):
        step_again(world, "b", policy=policy)


def test_a_run_that_goes_on_is_not_restarted() -> None:
    world = made()
    with pytest.raises(WrongState, match=r"\[flow\]\[1\] does not support restart .* \[IN_PROGRESS\]"):
        again(world)
    with pytest.raises(NotFound):
        world.do(restart(world.store, ANN, "flow", 9, InstanceRestartRequest(restart_policy=INCOMPLETE)))


def test_what_is_being_forgotten_is_not_restarted() -> None:
    """Some of its rows are gone: it would begin without the results of its steps."""
    world = made(runtime=failing("b"))
    assert world.do(world.store.prune_runs("flow", world.do(world.store.now()) + 1, most=1)) == 1
    with pytest.raises(NotFound, match=r"Cannot find workflow instance \[flow\]\[1\]"):
        again(world)


def test_a_restart_request_counts_once() -> None:
    world = made(runtime=failing("b"))
    first = again(world, request_id="r1")
    world.settle()
    second = again(world, request_id="r1")
    assert (first.status, second.status) == (StartStatus.CREATED, StartStatus.DUPLICATED)
    assert world.row().key.run_id == 2


def test_of_two_restarts_at_once_the_second_is_refused() -> None:
    world = made(runtime=failing("b"))
    row = world.row()
    again(world)

    runs = world.store.runs

    async def old(selection: RunList) -> Any:
        return Slice(elements=(row,)) if isinstance(selection, NewestRun) else await runs(selection)

    world.swap("runs", old)
    with pytest.raises(WrongState, match=r"already a workflow instance run \[flow\]\[1\]\[2\]"):
        again(world)


def test_parameters_change_with_a_restart() -> None:
    params = "  params: {day: {value: one, type: STRING}}\n"
    world = made(flow(WORK, more=params), failing("a"))
    again(world, run_params={"day": ParamDefinition(type=ParamType.STRING, value="two")})
    assert world.row().record.params["day"].evaluated_result == "two"
    world.settle()
    with pytest.raises(ParamError):
        again(world, run_params={"util": ParamDefinition(type=ParamType.STRING, value="two")})


# ----------------------------------------------------------------------------------------------------- steps
def test_a_step_of_a_run_that_goes_on_gets_another_attempt() -> None:
    world = made(flow(*SIBLINGS))
    world.report("a", ResultState.FATAL_ERROR)
    params = {"x": ParamDefinition(type=ParamType.STRING, value="y")}
    answer = step_again(world, "a", step_run_params=params)
    assert (answer.step_id, answer.step_attempt_id, answer.status) == ("a", 2, StartStatus.CREATED)
    world.settle()
    assert world.steps()["a"] == "RUNNING"


def test_who_waits_is_told_what_became_of_it() -> None:
    world = made(flow(*SIBLINGS))
    world.report("a", ResultState.FATAL_ERROR)
    answer = step_again(world, "a", patience=world.patience())
    assert answer.step_attempt_id == 2
    assert world.do(world.store.fetch("node-1", range(128))).messages == ()  # type: ignore[arg-type]


def test_a_request_that_nobody_hears_is_taken_back() -> None:
    world = made(flow(*SIBLINGS))
    world.report("a", ResultState.FATAL_ERROR)
    patience = world.patience(120)
    world.clock.meanwhile = None
    with pytest.raises(TimedOut, match="120 ms"):
        step_again(world, "a", patience=patience)
    world.settle()
    assert world.steps()["a"] == "FATALLY_FAILED"


@pytest.mark.parametrize("step_id", ["a", "b"])
def test_what_is_under_way_is_not_restarted(step_id: str) -> None:
    world = made(flow(*CHAIN))
    world.report("a", ResultState.DONE)
    with pytest.raises(WrongState, match=rf"\[flow\]\[1\]\[{step_id}\]"):
        step_again(world, step_id)
    with pytest.raises(NotFound, match="x"):
        step_again(world, "x")


def test_the_owner_refuses_what_can_not_be() -> None:
    world = made(flow(*CHAIN))
    with pytest.raises(WrongState, match="before it is created"):
        step_again(world, "c", patience=world.patience())


def test_a_new_run_begins_at_a_step() -> None:
    world = made(runtime=failing())
    answer = step_again(world, "b", policy=BEGINNING)
    assert (answer.workflow_run_id, answer.step_id, answer.step_attempt_id) == (2, "b", None)
    record = world.row().record
    assert record.policy is RunPolicy.RESTART_FROM_SPECIFIC
    assert record.restart is not None
    assert record.restart.downstream_policy is BEGINNING
    assert world.settle().status() == "SUCCEEDED"
    rows = world.do(world.store.attempts(NewestAttempts((RunKey("flow", 1, 2),))))
    assert [row.key.step_id for row in rows] == ["b", "c"]


def test_a_step_behind_a_failed_one_must_wait() -> None:
    world = made(runtime=failing("b"))
    with pytest.raises(WrongState, match=r"\[c\]: it is NOT_CREATED"):
        step_again(world, "c")
    world.runtime = failing("a")
    again(world, BEGINNING)
    world.settle()
    with pytest.raises(InvalidRequest, match=r"\[b\] should be one of root nodes"):
        step_again(world, "b")


def test_a_root_that_waits_is_started_by_a_user() -> None:
    world = made(flow(*SIBLINGS), failing("a", "b"))
    world.runtime = going_on
    step_again(world, "a")
    world.settle()
    assert world.steps() == {"a": "RUNNING", "b": "FATALLY_FAILED"}
    answer = step_again(world, "b", patience=world.patience())
    assert answer.step_attempt_id == 1
    assert world.steps()["b"] == "RUNNING"


# --------------------------------------------------------------------------------------------------- nesting
def inline_of(world: World) -> str:
    return world.do(world.store.loops(RunKey("flow", 1, 1)))[0].inline_id


def test_a_nested_restart_begins_with_the_root() -> None:
    world = made(flow(LOOP), failing("g"))
    inline = inline_of(world)
    answer = again(world, workflow_id=inline)
    assert (answer.workflow_id, answer.workflow_run_id) == ("flow", 2)
    config = world.row().record.restart
    assert config is not None
    assert [node.step_id for node in config.restart_path] == [None, "f"]
    assert world.row().record.policy is RunPolicy.RESTART_FROM_SPECIFIC


def test_a_nested_step_restart_begins_with_the_root() -> None:
    world = made(flow(LOOP), failing("g"))
    answer = step_again(world, "g", inline_of(world))
    assert (answer.workflow_id, answer.step_id) == ("flow", "f")


def test_a_nested_restart_may_begin_with_a_step_of_a_run_that_goes_on() -> None:
    world = World(failing("g"))
    world.publish(flow(LOOP, "{id: z, type: Wait}"))
    world.start()
    world.settle()
    assert world.steps() == {"f": "FATALLY_FAILED", "z": "RUNNING"}
    inline = inline_of(world)
    answer = again(world, workflow_id=inline)
    assert (answer.workflow_id, answer.workflow_run_id, answer.status) == ("flow", 1, StartStatus.CREATED)
    params = {"x": ParamDefinition(type=ParamType.STRING, value="y")}
    nested = step_again(world, "g", inline, step_run_params=params)
    assert (nested.workflow_id, nested.step_id, nested.step_attempt_id) == ("flow", "f", 2)


def test_a_child_that_nobody_waits_for_is_restarted_by_itself() -> None:
    for sync, expected in (("true", "flow"), ("false", "child")):
        world = World(failing("a"))
        world.publish(flow(WORK, name="child"))
        world.publish(flow(SUB % sync))
        world.start()
        world.settle()
        assert world.status("child") == "FAILED"
        assert again(world, workflow_id="child").workflow_id == expected


def test_from_the_inline_root() -> None:
    mode = UpstreamRestartMode.RESTART_FROM_INLINE_ROOT
    world = made(flow(LOOP), failing("g"))
    params = {"x": ParamDefinition(type=ParamType.STRING, value="y")}
    answer = step_again(
        world, "g", inline_of(world), upstream_restart_mode=mode, step_run_params=params, policy=BEGINNING
    )
    assert (answer.workflow_id, answer.step_id) == ("flow", None)
    record = world.row().record
    assert record.policy is BEGINNING
    assert record.restart is not None
    assert list(record.restart.step_restart_params or {}) == ["g"]
    world.settle()
    own = step_again(world, "f", upstream_restart_mode=mode)
    assert (own.workflow_id, own.workflow_run_id) == ("flow", 3)


# ----------------------------------------------------------------------------------------------------- skips
def skip(world: World, step_id: str, **more: Any) -> Any:
    return world.do(skip_step(world.store, ANN, "flow", 1, step_id, **more))


def test_a_step_under_way_is_skipped_on_the_spot() -> None:
    world = made()
    answer = skip(world, "a", patience=world.patience())
    assert answer.step_attempt_id == 1
    assert world.settle().steps() == {"a": "SKIPPED", "b": "RUNNING"}


def test_a_failed_step_is_skipped_by_an_attempt() -> None:
    world = made(flow(*SIBLINGS))
    world.report("a", ResultState.FATAL_ERROR)
    skip(world, "a")
    assert world.settle().steps() == {"a": "SKIPPED", "b": "RUNNING"}


def test_a_step_of_a_run_that_ended_is_skipped_by_a_run() -> None:
    world = made(runtime=failing("b"))
    answer = skip(world, "b")
    assert (answer.workflow_run_id, answer.step_id) == (2, "b")
    assert world.settle().status() == "SUCCEEDED"
    assert world.steps() == {"a": "SUCCEEDED", "b": "SKIPPED", "c": "SUCCEEDED"}


def test_a_step_that_is_not_created_can_not_be_skipped() -> None:
    world = made()
    with pytest.raises(WrongState, match=r"Cannot skip step \[flow\]\[1\]\[c\] before it is created"):
        skip(world, "c")
    with pytest.raises(NotFound):
        skip(world, "x")
