"""Parameters that a request gives to steps: they win wherever they are read, or the request is refused."""

from typing import Any

import pytest
from tests.unit.actions.test_restart import BEGINNING, INCOMPLETE, again, inline_of, step_again
from tests.unit.actions.world import World, failing, flow, going_on

from stretto.engine.events import ResultState
from stretto.model.errors import InvalidRequest, StrettoError, WrongState
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import UpstreamRestartMode
from stretto.params import Fault, ParamError
from stretto.ports.history import NewestInInstance
from stretto.ports.run_snapshot import read_newest_run

RUN = "  params: {n: {value: 1, type: LONG}, fixed: {value: 1, type: LONG, mode: CONSTANT}}\n"
SEEN = "params: {seen: {expression: 'n * 10', type: LONG}}"
READS = f"{{id: a, type: Python, {SEEN}, transition: {{successors: {{b: 'true'}}}}}}"
AFTER = f"{{id: b, type: Python, {SEEN}}}"
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    f" steps: [{{step: {{id: g, type: Python, {SEEN}}}}}]}}"
)
MODES = (
    "{id: a, type: Python, params: {seen: {value: 1, type: LONG, mode: CONSTANT},"
    " kept: {value: 1, type: LONG, mode: IMMUTABLE}, begun: {value: 1, type: LONG, mode: MUTABLE_ON_START}}}"
)


def number(value: int | str) -> ParamDefinition:
    if isinstance(value, str):
        return ParamDefinition(type=ParamType.LONG, expression=value)
    return ParamDefinition(type=ParamType.LONG, value=value)


def made(*steps: str, runtime: Any = going_on, start: bool = True, **more: Any) -> World:
    world = World(runtime)
    world.publish(flow(*steps, more=RUN))
    if start:
        world.start(**more)
        world.settle()
    return world


def seen(world: World, step_id: str, name: str = "seen", workflow_id: str = "flow", instance: int = 1) -> Any:
    rows = world.do(world.store.attempts(NewestInInstance(workflow_id, instance, step_id)))
    return (rows[0].record.params or {})[name].evaluated_result


# ------------------------------------------------------------------------------------------------ they win
@pytest.mark.parametrize("value", [7, "3 + 4", "n + 6"])
def test_a_restart_from_a_step_overrides_a_parameter_of_the_run(value: int | str) -> None:
    world = made(READS, AFTER, runtime=failing("a"))
    world.runtime = failing()
    step_again(world, "a", step_run_params={"n": number(value)})
    assert world.settle().status() == "SUCCEEDED"
    assert (seen(world, "a"), seen(world, "b")) == (70, 10)  # it is the step's: others read the run's


def test_a_restart_from_a_step_changes_parameters_of_the_run_for_what_follows() -> None:
    world = made(READS, AFTER, runtime=failing("a"))
    world.runtime = failing()
    step_again(world, "a", run_params={"n": number(7)})
    world.settle()
    assert (seen(world, "a"), seen(world, "b")) == (70, 70)


def test_a_start_gives_parameters_to_a_step() -> None:
    world = made(READS, AFTER, runtime=failing(), step_run_params={"b": {"n": number(7)}})
    assert (seen(world, "a"), seen(world, "b")) == (10, 70)


def test_a_restart_gives_parameters_to_several_steps() -> None:
    world = made(READS, AFTER, runtime=failing("a"))
    world.runtime = failing()
    again(world, step_run_params={"a": {"n": number(7)}, "b": {"seen": number(3)}})
    world.settle()
    assert (seen(world, "a"), seen(world, "b")) == (70, 3)


def test_the_newest_override_wins() -> None:
    world = made(READS.replace(", transition: {successors: {b: 'true'}}", ""), AFTER)
    world.report("a", ResultState.FATAL_ERROR)
    world.report("b", ResultState.FATAL_ERROR)
    step_again(world, "a", step_run_params={"n": number(7)})
    world.settle()
    world.report("a", ResultState.DONE)
    step_again(world, "b", step_run_params={"n": number(3)})
    world.settle()
    world.report("b", ResultState.FATAL_ERROR)
    step_again(world, "b", step_run_params={"n": number(8)})
    assert seen(world.settle(), "b") == 80


def test_an_override_of_a_start_stays_in_a_restart() -> None:
    given = {"a": {"begun": number(5)}}
    world = made(MODES, runtime=failing("a"), step_run_params=given)
    assert seen(world, "a", "begun") == 5
    again(world)
    assert seen(world.settle(), "a", "begun") == 5


def test_a_restart_of_the_run_wins_over_what_its_start_gave_to_a_step() -> None:
    given = {"a": {"n": number(5), "begun": number(5)}}
    world = made(
        MODES.replace("params: {", "params: {read: {expression: n * 10, type: LONG}, "),
        runtime=failing("a"),
        step_run_params=given,
    )
    assert (seen(world, "a", "read"), seen(world, "a", "begun")) == (50, 5)
    again(world, run_params={"n": number(7), "begun": number(8)})
    world.settle()
    assert (seen(world, "a", "read"), seen(world, "a", "begun")) == (70, 5)  # `begun` is the step's own


def test_overrides_reach_steps_in_loops() -> None:
    world = made(LOOP, runtime=failing("g"), step_run_params={"g": {"n": number(7)}})
    inline = inline_of(world)
    assert seen(world, "g", workflow_id=inline) == 70
    again(world, BEGINNING, step_run_params={"g": {"n": number(8)}})
    assert seen(world.settle(), "g", workflow_id=inline) == 80


def test_an_override_of_a_loop_is_seen_in_its_iterations() -> None:
    world = made(LOOP, runtime=failing("g"))
    inline = inline_of(world)
    step_again(world, "f", step_run_params={"n": number(7)})
    assert seen(world.settle(), "g", workflow_id=inline) == 70


def test_an_override_of_a_nested_step() -> None:
    world = made(LOOP, runtime=failing("g"))
    inline = inline_of(world)
    step_again(world, "g", inline, step_run_params={"n": number(7)}, run_params={"i": number(4)})
    world.settle()
    assert seen(world, "g", workflow_id=inline) == 70
    record = world.row(inline).record
    assert record.params["i"].evaluated_result == 4


def test_an_override_from_the_inline_root() -> None:
    world = made(LOOP, runtime=failing("g"))
    inline = inline_of(world)
    mode = UpstreamRestartMode.RESTART_FROM_INLINE_ROOT
    step_again(world, "g", inline, upstream_restart_mode=mode, step_run_params={"n": number(7)})
    assert seen(world.settle(), "g", workflow_id=inline) == 70


@pytest.mark.parametrize("explicit", ["false", "true"])
def test_an_override_of_a_subworkflow_step_reaches_its_run(explicit: str) -> None:
    world = World(failing("a"))
    world.publish(flow(f"{{id: a, type: Python, {SEEN}}}", name="child", more=RUN))
    sub = (
        f"subworkflow: {{id: sub, sync: true, explicit_params: {explicit},"
        " params: {subworkflow_id: {value: child, type: STRING}}}"
    )
    world.publish(flow(sub, more=RUN))
    world.start()
    world.settle()
    step_again(world, "sub", step_run_params={"n": number(7)})
    assert seen(world.settle(), "a", workflow_id="child") == 70


# ------------------------------------------------------------------------------------------- they are refused
def refusal(error: type[StrettoError], ask: Any) -> StrettoError:
    with pytest.raises(error) as caught:
        ask()
    return caught.value


@pytest.mark.parametrize("name", ["seen", "kept"])
def test_what_is_constant_is_refused_at_the_start(name: str) -> None:
    world = made(MODES, start=False)
    error = refusal(ParamError, lambda: world.start(step_run_params={"a": {name: number(2)}}))
    assert isinstance(error, ParamError)
    assert (error.fault, error.param) == (Fault.NOT_CHANGEABLE, f"a.{name}")
    assert error.message.startswith(f"Step [a] of workflow [flow]: Param [{name}] has the mode")
    assert world.do(read_newest_run(world.store, "flow", 1)) is None


@pytest.mark.parametrize("name", ["seen", "kept", "begun"])
def test_what_is_constant_is_refused_in_a_restart(name: str) -> None:
    world = made(MODES, runtime=failing("a"))
    for ask in (
        lambda: step_again(world, "a", step_run_params={name: number(2)}),
        lambda: again(world, step_run_params={"a": {name: number(2)}}),
    ):
        assert "has the mode" in refusal(ParamError, ask).message
    assert world.row().key.run_id == 1


def test_what_is_constant_is_refused_while_the_run_goes_on() -> None:
    world = made(MODES, "{id: b, type: Python}")
    world.report("a", ResultState.FATAL_ERROR)
    error = refusal(ParamError, lambda: step_again(world, "a", step_run_params={"begun": number(2)}))
    assert "in a restart" in error.message
    assert world.settle().steps() == {"a": "FATALLY_FAILED", "b": "RUNNING"}


def test_a_value_of_another_type_is_refused() -> None:
    world = made(READS, AFTER, start=False)
    wrong = ParamDefinition(type=ParamType.STRING, value="many")
    error = refusal(ParamError, lambda: world.start(step_run_params={"a": {"seen": wrong}}))
    assert "seen" in error.message


def test_parameters_of_a_run_that_goes_on_are_fixed() -> None:
    world = made("{id: a, type: Python}", "{id: b, type: Python}")
    world.report("a", ResultState.FATAL_ERROR)
    error = refusal(WrongState, lambda: step_again(world, "a", run_params={"n": number(7)}))
    assert "it goes on" in error.message
    assert "step_run_params" in (error.hint or "")


def test_constants_of_a_run_are_refused_also_below_another() -> None:
    world = World(failing("a"))
    world.publish(flow("{id: a, type: Python}", name="child", more=RUN))
    world.publish(
        flow("subworkflow: {id: sub, sync: true, params: {subworkflow_id: {value: child, type: STRING}}}")
    )
    world.start()
    world.settle()
    error = refusal(ParamError, lambda: again(world, INCOMPLETE, "child", run_params={"fixed": number(2)}))
    assert "[fixed] has the mode [CONSTANT]" in error.message
    assert world.row().key.run_id == 1
    again(world, INCOMPLETE, "child", run_params={"n": number(2)})
    assert world.settle().row("child").record.params["n"].evaluated_result == 2


def test_unknown_steps_are_refused_with_those_that_there_are() -> None:
    world = made(LOOP, start=False)
    error = refusal(InvalidRequest, lambda: world.start(step_run_params={"h": {"n": number(2)}}))
    assert "inputs [h] vs dag [f, g]" in error.message


def test_steps_that_do_not_run_again_are_refused() -> None:
    world = made(READS, AFTER, runtime=failing("b"))
    error = refusal(InvalidRequest, lambda: again(world, step_run_params={"a": {"n": number(7)}}))
    assert "step [a] of workflow [flow] is complete" in error.message


def test_values_of_a_loop_are_not_a_parameter_of_its_step() -> None:
    world = made(LOOP, start=False)
    error = refusal(InvalidRequest, lambda: world.start(step_run_params={"f": {"i": number(2)}}))
    assert (error.hint, "[i] is a loop parameter" in error.message) == ("give loop_params", True)
