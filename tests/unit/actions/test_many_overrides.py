"""Parameters for many steps of one request: what is done for each does not grow with their number."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import msgspec
import pytest
from tests.unit.actions.test_restart import BEGINNING, again
from tests.unit.actions.world import World, failing, flow

from stretto.api.v1.execution import check_names
from stretto.api.v1.shapes import V1Execution
from stretto.cli.running.wanted import step_params_of
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.flow.engine.library import Chosen, run_params, step_params
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.workflow import Workflow

FEW: Final = 40
TIMES: Final = 4  # so many more
MOST: Final = TIMES * 1.25


def definition_of(steps: int) -> str:
    """Half of the steps are in loops."""
    numbers = "loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}"
    lines = []
    for place in range(steps // 2):
        lines.append(f"{{id: s{place}, type: Python, params: {{x: {{value: 1, type: LONG}}}}}}")
        inner = f"{{step: {{id: i{place}, type: Python, params: {{x: {{value: 1, type: LONG}}}}}}}}"
        lines.append(f"foreach: {{id: f{place}, params: {{{numbers}}}, steps: [{inner}]}}")
    return flow(*lines)


def overrides_of(steps: int) -> dict[str, Params]:
    value = ParamDefinition(type=ParamType.LONG, value=5)
    return {f"{kind}{place}": {"x": value} for place in range(steps // 2) for kind in "si"}


def workflow_of(steps: int) -> Workflow:
    (definition,) = load(definition_of(steps), Options(rules=False))
    return definition.workflow


def calls_of(work: Callable[[], Any]) -> int:
    """How many calls something comes to."""
    calls = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def start(steps: int) -> Callable[[], Any]:
    world = World()
    world.publish(definition_of(steps))
    return lambda: world.start(step_run_params=overrides_of(steps))


def restart(steps: int) -> Callable[[], Any]:
    """What the start gave is kept, and as much is given again."""
    world = World(failing("s0"))
    world.publish(definition_of(steps))
    world.start(step_run_params=overrides_of(steps))
    world.settle()
    assert world.status() == "FAILED"
    return lambda: again(world, BEGINNING, step_run_params=overrides_of(steps))


def in_python(steps: int) -> Callable[[], Any]:
    chosen = Chosen(workflow=workflow_of(steps), version_id=1, returned=None)
    given = {step: {"x": 5} for step in overrides_of(steps)}
    return lambda: step_params(chosen, given)


def in_the_command_line(steps: int) -> Callable[[], Any]:
    workflow = workflow_of(steps)
    given = [f"{step}:x=5" for step in overrides_of(steps)]
    return lambda: step_params_of(workflow, given)


def unknown_names(steps: int) -> dict[str, int]:
    return {f"{kind}{place}_x": 5 for place in range(steps // 2) for kind in "si"}


def with_params(count: int) -> Workflow:
    one = ParamDefinition(type=ParamType.LONG, value=1)
    declared = {name.removesuffix("_x"): one for name in unknown_names(count)}
    return msgspec.structs.replace(workflow_of(4), params=declared)


def refused(work: Callable[[], Any]) -> Callable[[], None]:
    def tried() -> None:
        with pytest.raises(InvalidRequest):
            work()

    return tried


def unknown_in_python(steps: int) -> Callable[[], Any]:
    workflow = with_params(steps)
    chosen = Chosen(workflow=workflow, version_id=1, returned=None)
    return refused(lambda: run_params(chosen, unknown_names(steps)))


def unknown_to_the_task_engine(steps: int) -> Callable[[], Any]:
    workflow = with_params(steps)
    return refused(lambda: check_names(workflow, V1Execution(params=unknown_names(steps))))


def unknown_steps(steps: int) -> Callable[[], Any]:
    world = World()
    world.publish(definition_of(steps))
    given = {f"{step}_x": params for step, params in overrides_of(steps).items()}
    return refused(lambda: world.start(step_run_params=given))


@pytest.mark.parametrize(
    "request_with",
    [
        start,
        restart,
        in_python,
        in_the_command_line,
        unknown_in_python,
        unknown_to_the_task_engine,
        unknown_steps,
    ],
)
def test_the_work_is_in_proportion_to_the_overrides(request_with: Callable[[int], Callable[[], Any]]) -> None:
    calls_of(request_with(4))  # what is done once
    few, many = (calls_of(request_with(each)) for each in (FEW, FEW * TIMES))
    assert many <= few * MOST, (few, many)
