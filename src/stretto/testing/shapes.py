"""Short words for definitions in tests."""

from typing import Any, Final

from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, Transition, TypedStep, WhileStep
from stretto.model.tag import Tag
from stretto.model.workflow import Workflow

Edge = str | tuple[str, str]


def edges(*after: Edge) -> Transition:
    """Edges to these steps; a pair is a step with the condition on its edge."""
    pairs = [(each, "true") if isinstance(each, str) else each for each in after]
    return Transition(successors=dict(pairs))


def step(step_id: str, *after: Edge, type: str = "Python", **fields: Any) -> TypedStep:  # noqa: A002
    """A step that a runtime does."""
    return TypedStep(id=step_id, type=type, transition=edges(*after), **fields)


def noop(step_id: str, *after: Edge, **fields: Any) -> TypedStep:
    """A step that does nothing."""
    return step(step_id, *after, type="NoOp", **fields)


def foreach(
    step_id: str, loop: Params, *steps: AnyStep, after: tuple[Edge, ...] = (), **more: Any
) -> ForeachStep:
    """A loop over the combinations of its parameters."""
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value=loop), **more.pop("params", {})}
    return ForeachStep(id=step_id, params=params, steps=steps, transition=edges(*after), **more)


def while_(
    step_id: str, condition: str, loop: Params, *steps: AnyStep, after: tuple[Edge, ...] = (), **more: Any
) -> WhileStep:
    """A loop as long as a condition holds."""
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value=loop)}
    return WhileStep(
        id=step_id, condition=condition, params=params, steps=steps, transition=edges(*after), **more
    )


def subworkflow(step_id: str, child: str, *after: Edge, **more: Any) -> SubworkflowStep:
    """A step that runs another workflow."""
    params = {"subworkflow_id": text(child), "subworkflow_version": text("latest"), **more.pop("params", {})}
    return SubworkflowStep(id=step_id, params=params, transition=edges(*after), **more)


def workflow(*steps: AnyStep, **fields: Any) -> Workflow:
    """A workflow, `w` if it has no id."""
    return Workflow(id=fields.pop("id", "w"), steps=steps, **fields)


# ---------------------------------------------------------------------------------------------- parameters
def text(value: str) -> ParamDefinition:
    """A STRING."""
    return ParamDefinition(type=ParamType.STRING, value=value)


def number(value: int) -> ParamDefinition:
    """A LONG."""
    return ParamDefinition(type=ParamType.LONG, value=value)


def numbers(*values: int) -> ParamDefinition:
    """A LONG_ARRAY."""
    return ParamDefinition(type=ParamType.LONG_ARRAY, value=values)


def texts(*values: str) -> ParamDefinition:
    """A STRING_ARRAY."""
    return ParamDefinition(type=ParamType.STRING_ARRAY, value=values)


def computed(expression: str, kind: ParamType = ParamType.LONG) -> ParamDefinition:
    """What an expression gives."""
    return ParamDefinition(type=kind, expression=expression)


def result(value: Any, kind: ParamType = ParamType.LONG) -> Parameter:
    """An output of a step's work."""
    return Parameter(type=kind, value=value, evaluated_result=value, evaluated_time=1)


def tag(name: str, permit: int | None = None) -> Tag:
    """A tag, and how many may hold it."""
    return Tag(name=name, permit=permit)


UNIQUE: Final = computed("return params.nextUniqueId();")
ITEMS: Final = {"i": numbers(1, 2, 3, 4, 5)}
