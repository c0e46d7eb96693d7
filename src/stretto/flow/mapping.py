"""`.map(...)`: a step or a workflow, once for each element of a list."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from stretto.flow.calls import base_id, bind
from stretto.flow.convert import value_in
from stretto.flow.errors import TraceError
from stretto.flow.loops import collect, open_foreach
from stretto.flow.places import Place
from stretto.flow.refs import NoResult
from stretto.flow.subworkflows import PLAIN, call_flow
from stretto.flow.trace import Trace, required
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.values import Kind

if TYPE_CHECKING:
    from stretto.flow.steps import StepFunction
    from stretto.flow.workflow import Flow


class Each(NamedTuple):
    """See `each`."""

    items: Any


def each(items: Any) -> Any:
    """Mark the list that `.map(...)` goes through, where more than one of its arguments is a list."""
    return Each(items)


def map_step(
    step: "StepFunction[..., Any]", trace: Trace, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place
) -> Any:
    """A foreach with the step in it, and what its iterations leave."""
    options = {key: kwargs.pop(key, None) for key in ("concurrency", "strict_ordering")}
    function = step.function
    given = bind(function, args, kwargs)
    name = mapped_argument(function, given, positional=bool(args))
    items = given[name].items if isinstance(given[name], Each) else given[name]
    element = next((arg.annotation for arg in function.values if arg.name == name), None)
    base = step.options.id or base_id(function)
    loop, item = open_foreach(trace, f"{base}_map", items, place, element=element, item=name, **options)
    with trace.inside(loop.body.root):
        found = step.traced(trace, (), {**given, name: item}, place)
    if isinstance(found, NoResult):
        return NoResult(loop, f"the result of `{loop.id}`")
    return collect(found)


def map_plainly(step: "StepFunction[..., Any]", args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The same as plain calls, one after the other."""
    kwargs = {key: value for key, value in kwargs.items() if key not in {"concurrency", "strict_ordering"}}
    given = bind(step.function, args, kwargs)
    name = mapped_argument(step.function, given, positional=bool(args))
    items = given[name].items if isinstance(given[name], Each) else given[name]
    return [step(**{**given, name: item}) for item in items]


def mapped_argument(function: Function, given: dict[str, Any], *, positional: bool) -> str:
    """The name of the argument that is a list of what the function asks for."""
    kinds = {each.name: each.kind for each in function.values}
    return _mapped(base_id(function), given, kinds, positional=positional)


def _mapped(what: str, given: dict[str, Any], kinds: dict[str, Kind], *, positional: bool) -> str:
    marked = [name for name, value in given.items() if isinstance(value, Each)]
    if len(marked) == 1:
        return marked[0]
    if len(marked) > 1:
        raise TraceError("`.map(...)` goes through one list, and two are marked", "map the one in the other")
    if positional:
        return next(iter(given))
    lists = {name for name, kind in kinds.items() if kind.type.is_array}
    found = [name for name, value in given.items() if name not in lists and _is_list(value)]
    if len(found) == 1:
        return found[0]
    known = f"{len(found)} of its arguments are lists" if found else "none of its arguments is a list"
    raise TraceError(
        f"`.map(...)` of `{what}` goes through one list, and {known}", "mark the list: `each(...)`"
    )


def _is_list(value: Any) -> bool:
    known = value_in(value)
    if known is not None:
        return known.kind.type.is_array
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | dict)


def map_flow(flow: "Flow[..., Any]", args: tuple[Any, ...], kwargs: dict[str, Any], place: Place) -> Any:
    """A foreach in which a workflow runs, and what they return."""
    trace = required("map")
    options = {key: kwargs.pop(key, None) for key in ("concurrency", "strict_ordering")}
    given = flow.bound(args, kwargs)
    kinds = {name: each.kind for name, each in flow.params.items()}
    name = _mapped(flow.id, given, kinds, positional=bool(args))
    items = given[name].items if isinstance(given[name], Each) else given[name]
    element = flow.params[name].annotation
    loop, item = open_foreach(trace, f"{flow.id}_map", items, place, element=element, item=name, **options)
    with trace.inside(loop.body.root):
        found = call_flow(trace, flow, PLAIN, (), {**given, name: item})
    return NoResult(loop, f"the result of `{loop.id}`") if isinstance(found, NoResult) else collect(found)
