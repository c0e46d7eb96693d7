"""Parameters of a run that a restart changes: they win wherever something runs again, or are refused."""

from typing import Any

import pytest
from tests.unit.actions.test_overrides import number, seen
from tests.unit.actions.test_restart import BEGINNING, INCOMPLETE, again, step_again
from tests.unit.actions.world import World, failing, flow

from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.timeline import LogEvent

TWICE = "twice: {expression: 'n * 2', type: LONG}"
MORE = "more: {expression: 'twice + 1', type: LONG}"
PARAMS = f"  params: {{n: {{value: 1, type: LONG}}, m: {{value: 1, type: LONG}}, {TWICE}, {MORE}}}\n"
RUN = f"  semantics: STRETTO\n{PARAMS}"
UNDO = "compensation: {step: {id: u, type: Python, params: {x: {value: '$n', type: STRING}}}}"
NEXT = "transition: {successors: {b: 'true'}}"


def reading(step_id: str, expression: str, more: str = "") -> str:
    params = f"params: {{seen: {{expression: '{expression}', type: LONG}}}}"
    return f"{{id: {step_id}, type: Python, {params}{', ' + more if more else ''}}}"


def text(step_id: str) -> str:
    return f"{{id: {step_id}, type: Python, params: {{seen: {{value: 'no name', type: STRING}}}}}}"


def failed(*steps: str, fails: str = "b", more: str = RUN) -> World:
    world = World(failing(fails))
    world.publish(flow(*steps, more=more))
    world.start()
    assert world.settle().status() == "FAILED"
    world.runtime = failing()
    return world


def lines(world: World) -> list[str]:
    told = (each.message for each in world.row().record.timeline if isinstance(each, LogEvent))
    return [each for each in told if "is changed" in each]


# --------------------------------------------------------------------------------------------- without effect
def test_a_parameter_that_only_complete_steps_read_is_refused() -> None:
    world = failed(reading("a", "n", NEXT), reading("b", "m"))
    with pytest.raises(InvalidRequest, match=r"\[n\] .* is read by \[a\] alone, .* has no effect") as refused:
        again(world, run_params={"n": number(7)})
    assert refused.value.hint == "restart from [a], or the whole run from the beginning"
    assert world.row().key.run_id == 1


def test_it_is_refused_whatever_was_made_of_it() -> None:
    world = failed(reading("a", "more", NEXT), reading("b", "m"))
    with pytest.raises(InvalidRequest, match=r"\[n\]"):
        again(world, run_params={"n": number(7), "m": number(8)})


def test_so_is_one_that_only_a_loop_reads_which_is_complete() -> None:
    numbers = "loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}"
    inner = f"{{step: {reading('g', 'n + i')}}}"
    loop = f"foreach: {{id: f, params: {{{numbers}}}, steps: [{inner}], {NEXT}}}"
    world = failed(loop, reading("b", "m"))
    with pytest.raises(InvalidRequest, match=r"read by \[f\] alone"):
        again(world, run_params={"n": number(7)})


def test_so_is_one_of_a_restart_from_another_step() -> None:
    steps = reading("a", "n", NEXT), reading("b", "m", NEXT.replace("b:", "c:")), reading("c", "m")
    world = failed(*steps, fails="c")
    with pytest.raises(InvalidRequest, match=r"read by \[a\] alone"):
        step_again(world, "b", run_params={"n": number(7)})
    step_again(world, "a", run_params={"n": number(7)})
    world.settle()
    assert seen(world, "a") == 7


def test_the_value_that_it_has_is_no_change() -> None:
    world = failed(reading("a", "n", NEXT), reading("b", "m"))
    again(world, run_params={"n": number(1), "m": number(5)})
    assert world.settle().status() == "SUCCEEDED"
    assert (seen(world, "b"), lines(world)) == (5, [])


@pytest.mark.parametrize(
    "reader",
    [
        reading("b", "params.get(`n`)").replace("`", "''"),
        "subworkflow: {id: b, params: {subworkflow_id: {value: child, type: STRING}}}",
        "{id: b, type: Python, timeout: '$n hours'}",
        f"{{id: b, type: Python, {UNDO}}}",
    ],
)
def test_whatever_may_read_it_again_lets_it_pass(reader: str) -> None:
    world = World(failing("b", "c"))
    world.publish(flow(text("c"), name="child"))
    world.publish(flow(reading("a", "n", NEXT), reader, more=RUN))
    world.start()
    assert world.settle().status() == "FAILED"
    world.runtime = failing()
    again(world, run_params={"n": number(7)})
    assert world.settle().status() == "SUCCEEDED"


def test_the_undo_of_a_complete_step_reads_it() -> None:
    world = failed(
        reading("a", "n", f"{NEXT}, {UNDO}"), reading("b", "m"), more=f"{RUN}  undo_on_stop: true\n"
    )
    again(world, run_params={"n": number(7)})
    assert world.settle().status() == "SUCCEEDED"


def test_the_timeout_of_the_run_reads_it() -> None:
    world = failed(reading("a", "n", NEXT), reading("b", "m"), more=f"{RUN}  timeout: '$n hours'\n")
    again(world, run_params={"n": number(7)})
    assert world.settle().status() == "SUCCEEDED"


def test_one_that_nobody_reads_is_for_who_looks_at_the_run() -> None:
    world = failed(text("a"), text("b"))
    again(world, run_params={"m": number(7)})
    assert world.row().record.params["m"].evaluated_result == 7


def test_maestro_accepts_it() -> None:
    world = failed(reading("a", "more", NEXT), reading("b", "m"), more=f"  semantics: MAESTRO\n{PARAMS}")
    again(world, run_params={"n": number(7)})
    assert world.settle().status() == "SUCCEEDED"
    params = world.row().record.params
    assert [params[name].evaluated_result for name in ("n", "more")] == [7, 3]
    assert lines(world) == []


# ------------------------------------------------------------------------------------------------ old and new
def test_the_timeline_names_what_was_made_with_the_old_value() -> None:
    world = failed(reading("a", "n", NEXT), reading("b", "n"))
    again(world, run_params={"n": number(7)})
    assert world.settle().status() == "SUCCEEDED"
    assert (seen(world, "a"), seen(world, "b")) == (1, 7)
    assert lines(world) == ["Param [n] is changed: what [a] made with the old value is kept"]


def test_it_names_loops_of_which_some_iterations_are_kept() -> None:
    numbers = "loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}"
    loop = f"foreach: {{id: f, params: {{{numbers}}}, steps: [{{step: {reading('g', 'n + i')}}}]}}"
    steps = *(reading(f"s{place}", "n", NEXT.replace("b:", "f:")) for place in range(5)), loop
    world = World(failing("g"))
    world.publish(flow(*steps, more=RUN))
    world.start()
    world.settle()
    again(world, run_params={"n": number(7)})
    assert lines(world) == [
        "Param [n] is changed: what [s0], [s1], [s2] and 2 more made with the old value is kept",
        "Param [n] is changed: what has succeeded inside [f] is kept",
    ]


# --------------------------------------------------------------------------------------------- made of others
@pytest.mark.parametrize("policy", [INCOMPLETE, BEGINNING])
def test_what_was_made_of_it_follows(policy: Any) -> None:
    world = failed(reading("b", "more * 100"))
    again(world, policy, run_params={"n": number(7)})
    world.settle()
    assert seen(world, "b") == 1500
    assert world.row().record.params["twice"].evaluated_result == 14


def test_it_follows_in_the_third_run_too_and_what_was_given_stays() -> None:
    world = failed(reading("b", "more"))
    world.runtime = failing("b")
    again(world, run_params={"m": number(3)})
    world.settle()
    again(world, run_params={"n": number(7)})
    world.settle()
    assert seen(world, "b") == 15
    again(world, run_params={"twice": number(100)})
    world.settle()
    world.runtime = failing()
    again(world, run_params={"n": number(8)})
    world.settle()
    assert seen(world, "b") == 101  # `twice` is what somebody gave


def test_an_expression_that_a_start_gave_follows() -> None:
    world = World(failing("b"))
    world.publish(flow(reading("b", "twice"), more=RUN))
    world.start(
        params={"twice": number("n * 5"), "extra": ParamDefinition(type=ParamType.STRING, value="$n!")}
    )
    world.settle()
    again(world, run_params={"n": number(7)})
    params = world.row().record.params
    assert [params[name].evaluated_result for name in ("twice", "extra")] == [35, "7!"]


def test_a_child_that_is_restarted_follows_its_parent() -> None:
    sub = (
        "subworkflow: {id: sub, explicit_params: true, params: {subworkflow_id: {value: child, type: STRING},"
        " n: {expression: 'm * 10', type: LONG}}}"
    )
    world = World(failing("b"))
    world.publish(flow(reading("b", "more"), more=RUN, name="child"))
    world.publish(flow(sub, more=RUN))
    world.start()
    assert world.settle().status() == "FAILED"
    assert seen(world, "b", workflow_id="child") == 21
    world.runtime = failing()
    again(world, run_params={"m": number(5)})
    assert world.settle().status() == "SUCCEEDED"
    assert seen(world, "b", workflow_id="child") == 101
