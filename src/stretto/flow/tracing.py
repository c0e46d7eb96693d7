"""A workflow function is called once, and what it called becomes a definition."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from stretto.definition import Limits, validate
from stretto.definition.required import REQUIRES, RETURNS
from stretto.flow.compiling import compile_level
from stretto.flow.convert import converted, refuse_errors, setting, value_in, word
from stretto.flow.errors import TraceError
from stretto.flow.leaves import Output, RunParam
from stretto.flow.nodes import Level, LoopNode, Node, idle
from stretto.flow.places import Place, end_of
from stretto.flow.refs import NoResult, Ref
from stretto.flow.trace import Trace, Value, tracing
from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.model.param import RESULT, ParamDefinition
from stretto.model.problem import Problem, keys_in
from stretto.model.step import AnyStep
from stretto.model.workflow import Definition, Semantics, Workflow
from stretto.params import RESERVED_NAMES, STEP_DEFAULTS, WORKFLOW_DEFAULTS
from stretto.runtimes.python.annotations import annotations_of
from stretto.runtimes.python.function import Argument, Function
from stretto.runtimes.python.storable import unstorable, way_out
from stretto.runtimes.python.values import JSON_TEXT, Kind, kind_of, literal

if TYPE_CHECKING:
    from stretto.flow.workflow import Flow

RETURN: Final = "return"
KNOWN_NAMES: Final = frozenset(
    {*WORKFLOW_DEFAULTS, *RESERVED_NAMES, *STEP_DEFAULTS, "loop_index", "condition", RESULT}
)


@dataclass(frozen=True, slots=True)
class Returned:
    """Where a run keeps what its workflow returns. If the step has no result, neither has the workflow."""

    step: str
    param: str
    kind: Kind
    annotation: Any


@dataclass(frozen=True, slots=True)
class Traced:
    """What a workflow function came to."""

    definition: Definition
    returns: Returned | None
    functions: tuple[Function, ...]
    subflows: "tuple[Flow[..., Any], ...]"


def trace_flow(flow: "Flow[..., Any]") -> Traced:
    """Call the function with references, and make a definition of what it did."""
    trace = Trace(flow.id, {*KNOWN_NAMES, *flow.params})
    _check_storable(flow)
    _check_schedule(flow)
    given = {name: _reference(trace, each) for name, each in flow.params.items()}
    with tracing(trace):
        result = _called(flow, trace, given)
        try:
            returned = _returned(trace, flow, result)
        except TraceError as error:  # the function has ended, so no line of it is being carried out
            raise error.at(end_of(flow.fn)) from None
    definition = _definition(flow, trace, returned)
    _check(flow, trace, definition)
    return Traced(definition, returned, tuple(trace.functions), tuple(trace.subflows))


def _check_storable(flow: "Flow[..., Any]") -> None:
    """As of steps: a value that nobody can give, or read, is refused before anything runs."""
    asked = [(f"takes `{each.name}` as", each.annotation, False) for each in flow.params.values()]
    returned = annotations_of(flow.fn).get("return", Any)
    for verb, annotation, is_returned in [*asked, ("returns", returned, True)]:
        wrong = unstorable(annotation, returned=is_returned)
        if wrong is not None:
            what = f"the workflow `{flow.id}` {verb} {a_name(wrong)}, which can not be stored"
            raise TraceError(what, way_out(wrong), place=flow.place)


def _check_schedule(flow: "Flow[..., Any]") -> None:
    """A schedule starts runs without parameters, so each of them needs a default."""
    needed = [f"`{each.name}`" for each in flow.params.values() if not each.has_default]
    if needed and flow.fields.get("time_triggers"):
        what = f"the schedule of the workflow `{flow.id}` gives no value for {' and '.join(needed)}"
        raise TraceError(what, "give each of them a default", place=flow.place)


def _called(flow: "Flow[..., Any]", trace: Trace, given: dict[str, Ref]) -> Any:
    """What the function returns. Its first mistake is raised, whatever its own handlers made of it."""
    try:
        result = flow.fn(**given)
    except Exception as error:
        if trace.mistakes and trace.mistakes[0] is not error:
            raise trace.mistakes[0] from error
        raise
    if trace.mistakes:
        raise trace.mistakes[0]
    return result


def _reference(trace: Trace, each: Argument) -> Ref:
    leaf = RunParam(each.name, each.kind.type)
    return Ref(Value(trace, leaf, each.kind, each.annotation, f"the parameter `{each.name}`"))


# ------------------------------------------------------------------------------------------------- the result
def _returned(trace: Trace, flow: "Flow[..., Any]", result: Any) -> Returned | None:
    """What is returned is the result of a step; if it is anything else, a step is made to keep it."""
    if result is None or isinstance(result, NoResult):
        return None
    annotation = annotations_of(flow.fn).get("return", Any)
    value = value_in(result)
    if value is not None:
        trace.check(value)
        refuse_errors(result, annotation, "what the workflow returns")
        annotation = value.annotation if annotation is Any else annotation
        leaf = value.expression
        if isinstance(leaf, Output) and leaf.param == RESULT:
            _check_returned(flow, value, annotation)
            return Returned(leaf.node.id, RESULT, value.kind, annotation)
    kind = JSON_TEXT if annotation is Any and value is None else kind_of(annotation)
    if value is not None and annotation is Any:
        kind = value.kind
    node = idle(trace.step_id(RETURN, flow.place), trace.region, flow.place)
    node.params = {RESULT: setting(trace, result, kind, "the result")}
    trace.add(node)
    return Returned(node.id, RESULT, kind, annotation)


def _check_returned(flow: "Flow[..., Any]", value: Value, annotation: Any) -> None:
    """Refuse an annotation that the result of the step never fits: a list where the step returns a number."""
    kind = kind_of(annotation)
    if converted(value.expression, value.kind, kind) is None:
        what = f"the workflow `{flow.id}` returns {word(kind)}, and {value.label} is {word(value.kind)}"
        raise TraceError(what, "change one of the annotations, or put a step between that converts it")


# --------------------------------------------------------------------------------------------- the definition
def _definition(flow: "Flow[..., Any]", trace: Trace, returned: Returned | None) -> Definition:
    fields = {"description": _description(flow), **flow.fields}
    params = {name: _default(each, flow.place) for name, each in flow.params.items() if each.has_default}
    workflow = Workflow(
        id=flow.id,
        semantics=Semantics.STRETTO,
        params=params or None,
        steps=compile_level(trace, trace.top),
        **fields,
    )
    return Definition(properties=flow.properties, workflow=workflow, extra=_extra(flow, returned))


def _description(flow: "Flow[..., Any]") -> str | None:
    return (flow.fn.__doc__ or "").strip().partition("\n")[0] or None


def _default(each: Argument, place: Place) -> ParamDefinition:
    try:
        return literal(each.default, each.kind, each.name)
    except InvalidRequest as error:
        raise TraceError(
            f"a default of the workflow can not be kept: {error.message}",
            "give a default of plain data, and make the object in a step",
            place=place,
        ) from None


def _extra(flow: "Flow[..., Any]", returned: Returned | None) -> dict[str, Any]:
    """What others than Python can learn of it: what must be given, and where the result is."""
    extra: dict[str, Any] = {}
    needed = [each for each in flow.params.values() if not each.has_default]
    if needed:
        extra[REQUIRES] = {each.name: _declared(each.kind) for each in needed}
    if returned is not None:
        extra[RETURNS] = {"step": returned.step, "param": returned.param, **_declared(returned.kind)}
    return extra


def _declared(kind: Kind) -> dict[str, str]:
    return {"type": kind.type.value, **kind.meta}


# --------------------------------------------------------------------------------------------------- checking
def _check(flow: "Flow[..., Any]", trace: Trace, definition: Definition) -> None:
    problems = validate(definition, Limits(empty_workflow=True))
    if problems:
        first = problems[0]
        place = _place(first, trace, definition) or flow.place
        raise TraceError(first.message, first.hint or f"see `{first.path}` of the definition", place=place)


def _place(problem: Problem, trace: Trace, definition: Definition) -> Place | None:
    """The line of the step that a problem is about."""
    places = {node.id: node.place for node in _nodes(trace.top)}
    found: Place | None = None
    steps: tuple[AnyStep, ...] = definition.workflow.steps
    keys = keys_in(problem.path)
    for before, key in pairwise(keys):
        if before == "steps" and isinstance(key, int):
            found = places.get(steps[key].id, found)
            steps = getattr(steps[key], "steps", ())
    return found


def _nodes(level: Level) -> Iterator[Node]:
    for node in level.nodes:
        yield node
        if isinstance(node, LoopNode):
            yield from _nodes(node.body)
