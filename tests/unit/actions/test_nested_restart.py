"""Restarts below steps: iterations of loops that go on, children of subworkflows, and their paths."""

from typing import Any

import pytest
from tests.unit.actions.test_restart import LOOP, SUB, again, inline_of, step_again
from tests.unit.actions.world import ANN, WORK, World, failing, flow, going_on

from stretto.actions.parts.candidate import Sender
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.start_child import start_child
from stretto.actions.stop import stop
from stretto.engine.earlier import EarlierRun
from stretto.engine.effects import ChildRestart, StartChild, StartWork
from stretto.engine.events import ResultState
from stretto.engine.live_rollup import kept_leaves
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict, NotFound, WrongState
from stretto.model.initiator import Ancestor, SubworkflowInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import InstanceRestartRequest, StepRestartRequest
from stretto.model.response import StartStatus
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.node.perform.earlier import Earlier
from stretto.ports.run_snapshot import NewestAttempts, read_attempt, read_newest_run
from stretto.testing.faults import Moment, interfered

INCOMPLETE, BEGINNING = RunPolicy.RESTART_FROM_INCOMPLETE, RunPolicy.RESTART_FROM_BEGINNING
TWO = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2, 3], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python, transition: {successors: {h: 'true'}}}},"
    " {step: {id: h, type: Python}}]}"
)
ROOT = RunKey("flow", 1, 1)
FIRST = RunKey("child", 1, 1)
PARAM = ParamDefinition(type=ParamType.LONG, expression="i * 100")


def failing_at(*places: tuple[int, str]):
    """Work that fails in these iterations at these steps; in the first iteration the last step goes on."""

    def play(effect: StartWork) -> ResultState | None:
        place = (effect.attempt.run.instance_id, effect.attempt.step_id)
        if place == (1, "h"):
            return None
        return ResultState.FATAL_ERROR if place in places else ResultState.DONE

    return play


def looping(*places: tuple[int, str], text: str = "") -> World:
    world = World(failing_at(*places))
    world.publish(text or flow(TWO))
    world.start()
    return world.settle()


def newest(world: World, inline: str, instance: int) -> Any:
    row = world.do(read_newest_run(world.store, inline, instance))
    assert row is not None
    return row.record


# ------------------------------------------------------------------------------------- iterations in flight
def test_an_iteration_is_restarted_while_the_loop_goes_on() -> None:
    world = looping((2, "h"))
    inline = inline_of(world)
    assert world.steps() == {"f": "RUNNING"}
    world.runtime = failing_at()
    answer = world.do(_restart(world, inline, 2))
    assert (answer.workflow_id, answer.workflow_run_id, answer.status) == ("flow", 1, StartStatus.CREATED)
    world.settle()
    record = newest(world, inline, 2)
    assert (record.key.run_id, record.status, record.policy) == (2, RunStatus.SUCCEEDED, INCOMPLETE)
    rows = world.do(world.store.attempts(NewestAttempts((record.key,))))
    assert [row.key.step_id for row in rows] == ["h"]
    world.report("h", ResultState.DONE)
    assert world.status() == "SUCCEEDED"
    assert world.steps() == {"f": "SUCCEEDED"}


def _restart(world: World, inline: str, instance: int, policy: RunPolicy = INCOMPLETE, **more: Any) -> Any:
    patience = more.pop("patience", None)
    request = InstanceRestartRequest(restart_policy=policy, **more)
    return restart(world.store, ANN, inline, instance, request, patience=patience)


def _restart_step(world: World, inline: str, instance: int, step_id: str, **more: Any) -> Any:
    patience = more.pop("patience", None)
    request = StepRestartRequest(restart_policy=INCOMPLETE, **more)
    return restart_step(world.store, ANN, inline, instance, step_id, request, patience=patience)


def test_a_step_in_it_is_restarted_with_its_params() -> None:
    world = looping((2, "h"))
    inline = inline_of(world)
    world.runtime = failing_at()
    params = {"x": ParamDefinition(type=ParamType.STRING, value="y")}
    answer = world.do(_restart_step(world, inline, 2, "g", step_run_params=params, patience=world.patience()))
    assert (answer.workflow_id, answer.step_id, answer.step_attempt_id) == ("flow", "f", 1)
    row = world.do(read_attempt(world.store, AttemptKey(RunKey(inline, 2, 2), "g", 1)))
    assert row is not None
    assert row.record.params is not None
    assert row.record.params["x"].evaluated_result == "y"


def test_params_of_the_request_are_evaluated_for_the_iteration() -> None:
    world = looping((2, "h"))
    inline = inline_of(world)
    world.do(_restart(world, inline, 2, BEGINNING, run_params={"p": PARAM}))
    world.settle()
    record = newest(world, inline, 2)
    assert record.params["p"].evaluated_result == 200
    assert record.params["i"].evaluated_result == 2


def test_what_can_not_be_restarted_is_refused_at_once() -> None:
    world = looping((2, "h"))
    inline = inline_of(world)
    with pytest.raises(WrongState, match="nothing is left to restart"):
        world.do(_restart(world, inline, 3))
    with pytest.raises(WrongState, match="non-terminal"):
        world.do(_restart(world, inline, 1))
    world.do(_restart(world, inline, 2, BEGINNING))
    with pytest.raises(WrongState, match="has not ended"):
        world.do(_restart(world, inline, 2, BEGINNING, patience=world.patience()))


def test_a_while_that_goes_on_is_not_restarted_below() -> None:
    body = "{step: {id: g, type: Python, params: {n: {expression: n + 1, type: LONG}}}}"
    loop = (
        "while: {id: w, condition: n < 3, params: {loop_params: {value: {n: {value: 0, type: LONG}},"
        f" type: MAP}}}}, steps: [{body}]}}"
    )
    world = World(lambda effect: None if effect.attempt.run.instance_id == 2 else ResultState.DONE)
    world.publish(flow(loop))
    world.start()
    world.settle()
    with pytest.raises(Conflict, match=r"\[w\]\[1\] now, as it is RUNNING"):
        world.do(_restart(world, inline_of(world), 1, BEGINNING))


def test_the_next_run_of_the_loop_goes_on_after_them() -> None:
    """Ids of iterations that were restarted alone are not used again."""
    world = looping((2, "h"))
    inline = inline_of(world)
    world.do(_restart(world, inline, 2))
    world.settle()
    world.do(stop(world.store, ANN, "flow", 1))
    world.settle()
    assert newest(world, inline, 2).key.run_id == 2
    world.runtime = failing()
    again(world)
    world.settle()
    assert world.status() == "SUCCEEDED"
    assert [newest(world, inline, each).key.run_id for each in (1, 2, 3)] == [3, 3, 1]


def test_the_root_begins_with_the_iteration_that_is_meant() -> None:
    world = World(failing("h"))
    world.publish(flow(TWO))
    world.start()
    world.settle()
    inline = inline_of(world)
    world.runtime = failing()
    world.do(_restart(world, inline, 2))
    world.settle()
    assert [newest(world, inline, each).key.run_id for each in (1, 2, 3)] == [1, 3, 1]
    assert world.status() == "FAILED"
    again(world)
    world.settle()
    assert [newest(world, inline, each).key.run_id for each in (1, 2, 3)] == [4, 3, 4]
    assert world.status() == "SUCCEEDED"


# ------------------------------------------------------------------------------------------------ children
CHILD = ("{id: a, type: Python, transition: {successors: {b: 'true'}}}", "{id: b, type: Python}")


def with_child(runtime: Any, *more: str, sync: str = "true") -> World:
    world = World(runtime)
    world.publish(flow(*CHILD, name="child"))
    world.publish(flow(SUB % sync, *more))
    world.start()
    return world.settle()


def covered(world: World, run: RunKey) -> list[str]:
    return [row.key.step_id for row in world.do(world.store.attempts(NewestAttempts((run,))))]


def test_a_restart_of_the_parent_goes_on_in_the_child() -> None:
    world = with_child(failing("b"))
    world.runtime = failing()
    again(world)
    world.settle()
    assert (world.status(), world.status("child")) == ("SUCCEEDED", "SUCCEEDED")
    row = world.row("child")
    assert row.key == RunKey("child", 1, 2)
    assert covered(world, row.key) == ["b"]
    assert isinstance(row.record.initiator, SubworkflowInitiator)
    assert row.record.initiator.parent.run_id == 2
    assert row.parent is not None
    assert row.record.timeline[0].message == (  # type: ignore[union-attr]
        "Step [flow][1][2][sub][1] restarted run [child][1][1] with policy [RESTART_FROM_INCOMPLETE]"
    )


def test_a_restart_of_the_child_comes_down_from_a_parent_that_goes_on() -> None:
    world = with_child(failing("b"), "{id: z, type: Wait}")
    world.runtime = failing()
    params = {"x": ParamDefinition(type=ParamType.STRING, value="y")}
    answer = again(world, BEGINNING, "child", run_params=params)
    assert (answer.workflow_id, answer.workflow_run_id) == ("flow", 1)
    world.settle()
    row = world.row("child")
    assert (row.key.run_id, row.record.policy) == (2, BEGINNING)
    assert row.record.params["x"].evaluated_result == "y"
    assert world.steps()["sub"] == "SUCCEEDED"
    with pytest.raises(Conflict, match=r"\[sub\]\[2\] now, as it is SUCCEEDED"):
        step_again(world, "b", "child")


def test_a_step_of_the_child_is_restarted() -> None:
    world = with_child(failing("b"), "{id: z, type: Wait}")
    world.runtime = failing()
    answer = step_again(world, "a", "child")
    assert (answer.workflow_id, answer.step_id, answer.step_attempt_id) == ("flow", "sub", 2)
    world.settle()
    assert covered(world, RunKey("child", 1, 2)) == ["a", "b"]


def test_a_restart_goes_up_through_a_loop_and_a_subworkflow_and_down_again() -> None:
    around = (
        "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
        " steps: [{subworkflow: {id: sub, params: {subworkflow_id: {value: child, type: STRING}}}}]}"
    )
    world = World(failing("b"))
    world.publish(flow(*CHILD, name="child"))
    world.publish(flow(around))
    world.start()
    world.settle()
    inline = inline_of(world)
    assert [world.status(), world.status(inline, 2), world.status("child", 2)] == ["FAILED"] * 3
    world.runtime = going_on
    request = StepRestartRequest(restart_policy=INCOMPLETE)
    answer = world.do(restart_step(world.store, ANN, "child", 2, "b", request))
    assert (answer.workflow_id, answer.workflow_run_id, answer.step_id) == ("flow", 2, "f")
    world.settle()
    assert [world.status(), world.status(inline, 2), world.status("child", 2)] == ["IN_PROGRESS"] * 3
    assert (world.steps()["f"], world.steps(inline, 2)["sub"]) == ("RUNNING", "RUNNING")
    assert (world.status(inline, 1), world.row("child", 1).key.run_id) == ("FAILED", 1)  # beside the path
    world.report("b", ResultState.DONE, "child")
    assert (world.status("child", 2), world.status(inline, 2), world.status()) == (
        "SUCCEEDED",
        "SUCCEEDED",
        "FAILED",
    )


def test_where_nothing_is_incomplete_the_child_runs_from_the_beginning() -> None:
    world = with_child(failing())
    step_again(world, "sub")
    world.settle()
    row = world.row("child")
    assert (row.key.run_id, row.record.policy) == (2, BEGINNING)
    assert covered(world, row.key) == ["a", "b"]


def effect_for(
    world: World, *, sync: bool = True, child: RunKey = FIRST
) -> tuple[StartChild, SubworkflowInitiator, Sender]:
    attempt = AttemptKey(ROOT, "sub", 2)
    made = StartChild(
        attempt=attempt,
        workflow_id="child",
        version="latest",
        sync=sync,
        params={},
        again=ChildRestart(child=child, policy=INCOMPLETE, config=None),
    )
    own = Ancestor(workflow_id="flow", instance_id=1, run_id=1, step_id="sub", step_attempt_id=2, sync=sync)
    row = world.row()
    sender = Sender(attempt=attempt, lease=world.leases[row.group], correlation_id="c", waits=sync)
    return made, SubworkflowInitiator(ancestors=(own,)), sender


def test_a_child_that_goes_on_is_not_restarted() -> None:
    world = with_child(going_on)
    with pytest.raises(Conflict, match=r"\[child\]\[1\]\[1\]: it is IN_PROGRESS"):
        world.do(start_child(world.store, *effect_for(world), "r1"))
    beside = world.do(start_child(world.store, *effect_for(world, sync=False), "r1"))
    assert (beside.workflow_instance_id, beside.workflow_run_id) == (2, 1)


def test_a_child_that_is_gone_begins_anew() -> None:
    world = with_child(failing())
    made = world.do(start_child(world.store, *effect_for(world, child=RunKey("child", 9, 1)), "r1"))
    assert (made.workflow_instance_id, made.workflow_run_id) == (2, 1)
    effect, initiator, sender = effect_for(world)
    nobody = StartChild(attempt=effect.attempt, workflow_id="x", version="1", sync=True, params={})
    with pytest.raises(NotFound):
        world.do(start_child(world.store, nobody, initiator, sender, "r2"))


def test_a_child_is_restarted_once_for_an_attempt() -> None:
    world = with_child(failing("b"))
    first = world.do(start_child(world.store, *effect_for(world), "r1"))
    second = world.do(start_child(world.store, *effect_for(world), "r1"))
    assert (first.status, second.status) == (StartStatus.CREATED, StartStatus.DUPLICATED)
    assert first.workflow_run_id == second.workflow_run_id == 2


@pytest.mark.parametrize("runtime", [failing("b"), going_on])
def test_a_restart_that_a_try_before_has_made_meanwhile_is_that_of_the_attempt(runtime: Any) -> None:
    """Its answer was lost, and it arrives after the next try has found nothing: that one must not be refused
    because the child goes on.
    """
    world = with_child(failing("b"))
    wanted, made = effect_for(world), list[Any]()
    world.runtime = runtime

    async def interfere(call: str, when: Moment) -> None:
        if call == "runs" and when is Moment.BEFORE and not made:
            made.append(await start_child(world.store, *wanted, "r1"))
            await world.work()

    again = world.do(start_child(interfered(world.store, interfere), *wanted, "r1"))
    assert [each.status for each in (*made, again)] == [StartStatus.CREATED, StartStatus.DUPLICATED]
    assert (again.workflow_instance_id, again.workflow_run_id) == (1, 2)
    assert world.row("child").key.run_id == 2


def test_on_the_path_the_config_goes_on() -> None:
    world = with_child(failing("b"))
    effect, initiator, sender = effect_for(world)
    node = RestartNode(workflow_id="child", instance_id=1, step_id="b")
    config = RestartConfig(restart_path=(node,), restart_policy=RunPolicy.RESTART_FROM_SPECIFIC)
    again_ = ChildRestart(child=RunKey("child", 1, 1), policy=RunPolicy.RESTART_FROM_SPECIFIC, config=config)
    made = StartChild(
        attempt=effect.attempt, workflow_id="child", version="latest", sync=True, params={}, again=again_
    )
    world.do(start_child(world.store, made, initiator, sender, "r1"))
    assert world.row("child").record.restart == config


# ------------------------------------------------------------------------------------------------- the rows
async def earlier_run(
    world: World, workflow_id: str, instance_id: int, below: int | None = None
) -> EarlierRun | None:
    version = await world.store.version(workflow_id, 1)
    assert version is not None
    return await Earlier(world.store).run(version.workflow, workflow_id, instance_id, below)


def test_an_instance_over_its_runs() -> None:
    world = with_child(failing("b"))
    first = world.do(earlier_run(world, "flow", 1))
    assert first is not None
    assert dict(first.children) == {"sub": RunKey("child", 1, 1)}
    assert dict(first.statuses) == {"sub": StepStatus.FATALLY_FAILED}
    assert (first.run_id, first.status) == (1, RunStatus.FAILED)
    assert kept_leaves(first, ()).counts == {StepStatus.FATALLY_FAILED: 1}
    assert world.do(earlier_run(world, "flow", 1, 1)) is None
    assert world.do(earlier_run(world, "flow", 9)) is None
    child = world.do(earlier_run(world, "child", 1))
    assert child is not None
    assert list(child.steps) == ["a"]
    world.runtime = failing("a")
    again(world, BEGINNING)
    world.settle()
    child = world.do(earlier_run(world, "child", 1))
    assert child is not None
    assert (child.run_id, list(child.steps)) == (2, [])  # what the newer run covers begins anew
    assert kept_leaves(child, ()).counts == {StepStatus.FATALLY_FAILED: 1}
    assert dict(child.statuses) == {"a": StepStatus.FATALLY_FAILED, "b": StepStatus.NOT_CREATED}
    before = world.do(earlier_run(world, "child", 1, 2))
    assert before is not None
    assert list(before.steps) == ["a"]


def test_the_iterations_of_a_loop_are_read_in_pages() -> None:
    world = looping((2, "g"))
    world.do(stop(world.store, ANN, "flow", 1))
    world.settle()
    earlier = Earlier(world.store, page=1)
    found = world.do(earlier.loop(inline_of(world)))
    assert found is not None
    assert dict(found.rows) == {
        RunStatus.STOPPED: ((1, 1),),
        RunStatus.FAILED: ((2, 2),),
        RunStatus.SUCCEEDED: ((3, 3),),
    }
    assert world.do(earlier.loop("nobody")) is None


def test_steps_of_work_that_was_added_are_restarted_with_the_step() -> None:
    world = World(failing("g"))
    world.publish(flow(LOOP, WORK))
    world.start()
    world.settle()
    found = world.do(earlier_run(world, "flow", 1))
    assert found is not None
    assert dict(found.loop_runs) == {"f": 1}
