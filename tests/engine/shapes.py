"""Short words for definitions in tests."""

from typing import Any

from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, Transition, TypedStep, WhileStep
from stretto.model.tag import Tag
from stretto.model.workflow import Workflow

Edge = str | tuple[str, str]


def edges(*after: Edge) -> Transition:
    pairs = [(each, "true") if isinstance(each, str) else each for each in after]
    return Transition(successors=dict(pairs))


def step(step_id: str, *after: Edge, type: str = "Python", **fields: Any) -> TypedStep:  # noqa: A002
    return TypedStep(id=step_id, type=type, transition=edges(*after), **fields)


def noop(step_id: str, *after: Edge, **fields: Any) -> TypedStep:
    return step(step_id, *after, type="NoOp", **fields)


def foreach(
    step_id: str, loop: Params, *steps: AnyStep, after: tuple[Edge, ...] = (), **more: Any
) -> ForeachStep:
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value=loop), **more.pop("params", {})}
    return ForeachStep(id=step_id, params=params, steps=steps, transition=edges(*after), **more)


def while_(
    step_id: str, condition: str, loop: Params, *steps: AnyStep, after: tuple[Edge, ...] = (), **more: Any
) -> WhileStep:
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value=loop)}
    return WhileStep(
        id=step_id, condition=condition, params=params, steps=steps, transition=edges(*after), **more
    )


def subworkflow(step_id: str, child: str, *after: Edge, **more: Any) -> SubworkflowStep:
    params = {"subworkflow_id": text(child), "subworkflow_version": text("latest"), **more.pop("params", {})}
    return SubworkflowStep(id=step_id, params=params, transition=edges(*after), **more)


def workflow(*steps: AnyStep, **fields: Any) -> Workflow:
    return Workflow(id=fields.pop("id", "w"), steps=steps, **fields)


# ---------------------------------------------------------------------------------------------- parameters
def text(value: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING, value=value)


def number(value: int) -> ParamDefinition:
    return ParamDefinition(type=ParamType.LONG, value=value)


def numbers(*values: int) -> ParamDefinition:
    return ParamDefinition(type=ParamType.LONG_ARRAY, value=values)


def texts(*values: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING_ARRAY, value=values)


def computed(expression: str, kind: ParamType = ParamType.LONG) -> ParamDefinition:
    return ParamDefinition(type=kind, expression=expression)


def result(value: Any, kind: ParamType = ParamType.LONG) -> Parameter:
    """An output of a step's work."""
    return Parameter(type=kind, value=value, evaluated_result=value, evaluated_time=1)


def tag(name: str, permit: int | None = None) -> Tag:
    return Tag(name=name, permit=permit)


UNIQUE = computed("return params.nextUniqueId();")
ITEMS = {"i": numbers(1, 2, 3, 4, 5)}
