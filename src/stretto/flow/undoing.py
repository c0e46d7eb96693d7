"""`@step(compensate=undo)`: the step that undoes another one if the run fails later on."""

from typing import TYPE_CHECKING, Any, Final

from stretto.flow.calls import base_id, result_kind
from stretto.flow.convert import converted
from stretto.flow.errors import TraceError
from stretto.flow.leaves import Output
from stretto.flow.nodes import Given, Node, Setting, param_of
from stretto.model.param import RESULT, ParamDefinition, Params
from stretto.model.step import TypedStep
from stretto.runtimes.python.function import Argument
from stretto.runtimes.python.kinds import kind_of_param
from stretto.runtimes.python.own_params import FUNCTION, TYPE, named
from stretto.runtimes.python.values import Kind, empty

if TYPE_CHECKING:
    from stretto.flow.steps import StepFunction

NOTHING: Final = "let it take what the step takes, or what it returns"


def undo_step(
    step: "StepFunction[..., Any]", undo: "StepFunction[..., Any]", node: Node, undo_id: str
) -> TypedStep:
    """The step that undoes a node: what it takes by name is what the node was given, the rest its result."""
    function = undo.function
    if undo.compensate is not None:
        raise TraceError(
            f"`{base_id(function)}` undoes `{node.id}`, and nothing undoes an undo",
            f"remove `compensate` from `{base_id(function)}`",
        )
    params: Params = {FUNCTION: named(function.name)}
    rest: list[Argument] = []
    for argument in function.values:
        if argument.name in node.params:
            params[argument.name] = _same(node, argument)
        else:
            rest.append(argument)
    if rest:
        kind = result_kind(step.function.kind, node.region.level)
        needed = [each for each in rest if not each.has_default] or rest[:1]
        if len(needed) > 1 or kind is None:
            names = " and ".join(f"`{each.name}`" for each in needed)
            raise TraceError(
                f"`{base_id(function)}`, which undoes `{node.id}`, takes {names} besides", NOTHING
            )
        params[needed[0].name] = _read(node, RESULT, kind, needed[0])
    if function.kind is not None:
        params[RESULT] = ParamDefinition(
            type=function.kind.type, value=empty(function.kind), meta=function.kind.meta
        )
    fields = {**undo.options.fields(), "retry_policy": undo.options.retry_policy()}
    return TypedStep(id=undo_id, type=TYPE, params=params, **fields)


def _same(node: Node, argument: Argument) -> ParamDefinition:
    given: Setting = node.params[argument.name]
    kind = given.kind if isinstance(given, Given) else kind_of_param(given)
    return _read(node, argument.name, kind, argument)


def _read(node: Node, name: str, kind: Kind, argument: Argument) -> ParamDefinition:
    own = Output(node, name, kind.type)
    made = converted(own, kind, argument.kind)
    if made is None:
        raise TraceError(
            f"`{argument.name}` of what undoes `{node.id}` does not fit to what it would be given",
            "change one of the annotations",
        )
    reference = own.spelled(str)
    return param_of(Given(argument.kind, made), lambda found: found.text(lambda _: reference))
