"""`.map(...)`: a step or a workflow, once for each element of a list, or of several lists side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from stretto.flow.calls import base_id, bind
from stretto.flow.convert import SCALARS, as_json, json_expression, value_in
from stretto.flow.errors import TraceError
from stretto.flow.expressions import call
from stretto.flow.loops import ERRORS, LOOP_OPTIONS, check_errors, collect, open_foreach
from stretto.flow.places import Place
from stretto.flow.refs import NoResult, Ref
from stretto.flow.subworkflows import PLAIN, call_flow
from stretto.flow.trace import Trace, Value, required
from stretto.runtimes.python.function import Argument
from stretto.runtimes.python.kinds import bare, element_of
from stretto.runtimes.python.step_error import error_from
from stretto.runtimes.python.values import JSON_TEXTS

if TYPE_CHECKING:
    from stretto.flow.steps import StepFunction
    from stretto.flow.workflow import Flow


class Each(NamedTuple):
    """See `each`."""

    items: Any


def each(items: Any) -> Any:
    """Mark a list that `.map(...)` goes through, where that is not clear. Several are gone through side by
    side.
    """
    return Each(items)


def map_step(
    step: "StepFunction[..., Any]", trace: Trace, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place
) -> Any:
    """A foreach with the step in it, and what its iterations leave."""
    options = _options(kwargs)
    function = step.function
    given = _counted(bind(function, args, kwargs))
    asked = Mapped(base_id(function), {each.name: each for each in function.values}, given, len(args))
    name = f"{step.options.id or base_id(function)}_map"
    return _looped(trace, name, asked, place, options, lambda values: step.traced(trace, (), values, place))


def map_flow(flow: "Flow[..., Any]", args: tuple[Any, ...], kwargs: dict[str, Any], place: Place) -> Any:
    """A foreach in which a workflow runs, and what they return."""
    trace = required("map")
    options = _options(kwargs)
    asked = Mapped(flow.id, flow.params, _counted(flow.bound(args, kwargs)), len(args))
    return _looped(
        trace,
        f"{flow.id}_map",
        asked,
        place,
        options,
        lambda values: call_flow(trace, flow, PLAIN, (), values),
    )


def map_plainly(step: "StepFunction[..., Any]", args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The same as plain calls, one after the other."""
    returns_errors = _options(kwargs)[ERRORS] is not None
    given = _counted(bind(step.function, args, kwargs))
    known = {each.name: each for each in step.function.values}
    lists = Mapped(base_id(step.function), known, given, len(args)).lists()
    rows = _rows(lists)
    calls = [{**given, **dict(zip(lists, row, strict=True))} for row in rows]
    return [_outcome(step, each) if returns_errors else step(**each) for each in calls]


def _counted(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments in which what can be gone through only once is a list."""

    def counted(value: Any) -> Any:
        if isinstance(value, Each):
            return Each(counted(value.items))
        return list(value) if isinstance(value, Iterator) else value

    return {name: counted(value) for name, value in given.items()}


def _outcome(step: "StepFunction[..., Any]", given: dict[str, Any]) -> Any:
    try:
        return step(**given)
    except Exception as error:  # noqa: BLE001 - whatever the function raises is asked for
        return error_from(error, base_id(step.function))


def _options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Take what is about the loop from the arguments of a call."""
    options = {key: kwargs.pop(key, None) for key in (*LOOP_OPTIONS, ERRORS)}
    check_errors(options[ERRORS])
    return options


class Mapped(NamedTuple):
    """A call of `.map(...)`: what is mapped, its arguments, and what was given for which."""

    what: str
    arguments: Mapping[str, Argument]
    given: dict[str, Any]
    positional: int  # so many were given by their place

    def lists(self) -> dict[str, Any]:
        """The lists that are gone through, by the argument that gets their elements."""
        marked = {name: value.items for name, value in self.given.items() if isinstance(value, Each)}
        if marked:
            return marked
        first = list(self.given)[: self.positional]
        found = [
            name
            for name, value in self.given.items()
            if (name in first[:1] and not _is_single(value))
            or (_is_list(value) and self._takes_element(name, named=name not in first))
        ] or first[:1]
        if found:
            return {name: self.given[name] for name in found}
        raise TraceError(
            f"`.map(...)` of `{self.what}` goes through a list, and none of its arguments is a list",
            "mark the list: `each(...)`",
        )

    def _takes_element(self, name: str, *, named: bool) -> bool:
        """Whether an argument is no list itself. Beside others by place, one that is given by its name and
        may be anything is the same list for all.
        """
        known = self.arguments.get(name)
        if known is None or known.kind.type.is_array or element_of(bare(known.annotation)) is not None:
            return False
        return not (named and self.positional and bare(known.annotation) is Any)


def _looped(
    trace: Trace,
    name: str,
    asked: Mapped,
    place: Place,
    options: dict[str, Any],
    body: Callable[[dict[str, Any]], Any],
) -> Any:
    errors = options.pop(ERRORS)
    lists = asked.lists()
    first = next(iter(lists))
    elements = [asked.arguments[each].annotation if each in asked.arguments else None for each in lists]
    if len(lists) == 1:
        loop, item = open_foreach(
            trace, name, lists[first], place, element=elements[0], item=first, **options
        )
        values = {first: item}
    else:
        row = tuple.__class_getitem__(tuple(Any if each is None else each for each in elements))
        items = _zipped(trace, lists)
        loop, item = open_foreach(trace, name, items, place, element=row, item="item", **options)
        values = {each: item[place_in] for place_in, each in enumerate(lists)}
    with trace.inside(loop.body.root):
        found = body({**asked.given, **values})
    if isinstance(found, NoResult) and errors is None:
        return NoResult(loop, f"the result of `{loop.id}`")
    return collect(found, errors=errors)


def _zipped(trace: Trace, lists: dict[str, Any]) -> Any:
    """Lists side by side: known ones at once, others in the run, where an error names the arguments. Lists
    that are known and differ are refused now, whatever the others are.
    """
    known = {name: each for name, each in lists.items() if value_in(each) is None}
    if len(known) > 1:
        _rows(known)
    if all(value_in(each) is None for each in lists.values()):
        return [list(row) for row in _rows(lists)]
    texts = [
        as_json(trace.check(value).expression, value.kind)
        if (value := value_in(each)) is not None
        else json_expression(trace, list(each), name)
        for name, each in lists.items()
    ]
    label = " and ".join(f"`{each}`" for each in lists)
    named = [each for pair in zip(lists, texts, strict=True) for each in pair]
    return Ref(Value(trace, call("Json.zipNamed", *named), JSON_TEXTS, list[Any], f"the lists of {label}"))


def _rows(lists: dict[str, Any]) -> list[tuple[Any, ...]]:
    known = {name: list(each) for name, each in lists.items()}
    lengths = {name: len(each) for name, each in known.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(
            f"`{name}` has {count} element{'' if count == 1 else 's'}" for name, count in lengths.items()
        )
        raise TraceError(
            f"`.map(...)` goes through lists side by side, and {text}", "give lists of one length"
        )
    return list(zip(*known.values(), strict=True))


def _is_single(value: Any) -> bool:
    """Whether a value is certainly no list: beside a list it is the same for all elements, also if it is the
    first argument.
    """
    known = value_in(value)
    if known is not None:
        return known.kind.type in SCALARS and not known.kind.json
    return value is None or isinstance(value, str | bytes | int | float)


def _is_list(value: Any) -> bool:
    known = value_in(value)
    if known is not None:
        return known.kind.type.is_array
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | dict)
