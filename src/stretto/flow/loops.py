"""Loops over lists: `with foreach(days) as day:`, and `collect(...)` for what they leave."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeVar, cast, overload

from stretto.flow.convert import as_json, has_values, setting, value_in, word
from stretto.flow.errors import TraceError
from stretto.flow.expressions import Constant, Expression
from stretto.flow.leaves import Collected, LoopValue, Outcome, Output
from stretto.flow.nodes import Given, LoopNode, Node, Region, idle
from stretto.flow.order import ignore_failure, node_of
from stretto.flow.places import Place, here
from stretto.flow.refs import NoResult, Ref
from stretto.flow.trace import Trace, Value, required
from stretto.model.error_text import a_name
from stretto.model.param import RESULT
from stretto.model.step import ForeachStep
from stretto.params.text import ELEMENT
from stretto.runtimes.python.kinds import ARRAYS, bare, element_of, union_of
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import JSON_TEXT, JSON_TEXTS, Kind, kind_of

T = TypeVar("T")

LOOP_OPTIONS: Final = ("concurrency", "strict_ordering", "continue_on_failure")
ERRORS: Final = "errors"  # an option of `.map(...)` and `collect(...)`
RETURN: Final = "return"


# -------------------------------------------------------------------------------------------------- foreach
def open_foreach(
    trace: Trace, name: str, items: Any, place: Place, *, element: Any = None, **fields: Any
) -> tuple[LoopNode, Ref]:
    """A foreach in the workflow that is traced, and its item. `element`: what items are annotated with."""
    if isinstance(items, Iterator):  # it can be gone through only once
        items = list(items)
    kind, annotation = _kind_of_items(items, element)
    loop = LoopNode(trace.step_id(name, place), trace.region, ForeachStep, place)
    item = trace.name(fields.pop("item", "item"))
    loop.values = {item: setting(trace, items, kind, item)}
    loop.fields = {key: value for key, value in fields.items() if value is not None}
    trace.add(loop)
    held = JSON_TEXT if kind == JSON_TEXTS else Kind(ELEMENT[kind.type])
    leaf = LoopValue(loop, item, held.type)
    return loop, Ref(Value(trace, leaf, held, annotation, f"the item of `{loop.id}`"))


def _kind_of_items(items: Any, element: Any) -> tuple[Kind, Any]:
    """How the list that a foreach goes through travels, and what each of its elements is."""
    value = value_in(items)
    if value is not None:
        if value.kind != JSON_TEXT and not value.kind.type.is_array:
            raise TraceError(
                f"{value.label} is {word(value.kind)}, and a loop goes through a list",
                "give a step that returns a list, such as `-> list[str]`",
            )
        held = element_of(bare(value.annotation))
        annotation = Any if held is None else held[0]
        return (value.kind if value.kind.type.is_array else JSON_TEXTS), annotation
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise TraceError(
            f"a loop goes through a list, and this is {a_name(type(items).__name__)}",
            "give a list, or put it in one",
        )
    if element is not None and kind_of(list[element]) != JSON_TEXTS:
        return kind_of(list[element]), element
    kinds = {type(each) for each in items} if not has_values(items) else set()
    if len(kinds) == 1 and (only := kinds.pop()) in {int, float, str, bool}:
        return kind_of(list[only]), only if element is None else element  # type: ignore[valid-type]
    return JSON_TEXTS, Any if element is None else element


@contextmanager
def foreach(
    items: Iterable[T],
    *,
    id: str | None = None,  # noqa: A002 - the name that steps have it under
    concurrency: int | None = None,
    strict_ordering: bool | None = None,
    continue_on_failure: bool | None = None,
) -> Iterator[T]:
    """Let what is called inside run once for each element of a list. After a failure no further element
    begins, unless `continue_on_failure` is set: then all of them run, and the loop fails at its end.
    """
    trace, place = required("foreach"), here()
    options = dict(zip(LOOP_OPTIONS, (concurrency, strict_ordering, continue_on_failure), strict=True))
    loop, item = open_foreach(trace, "foreach", items, place, **options)
    if id is not None:
        trace.ids.discard(loop.id)
        loop.id = trace.step_id(id, place, exact=True)
    with trace.inside(loop.body.root):
        yield cast("T", item)
    refuse_empty(loop)


def refuse_empty(loop: LoopNode) -> None:
    if not loop.body.nodes:
        raise TraceError(
            f"the loop `{loop.id}` has no step in it", "call a step in its body", place=loop.place
        )


@overload
def collect(value: T, *, errors: Literal["return"]) -> list[T | StepError]: ...
@overload
def collect(value: T, *, errors: None = None) -> list[T]: ...


def collect(value: Any, *, errors: str | None = None) -> Any:
    """All values that a step in a foreach has returned, in the order of the items. With `errors="return"` the
    loop goes on if the step fails, and the list has a `StepError` in its place.
    """
    trace = required("collect")
    check_errors(errors)
    found = value_in(value if errors is None else _outcome(trace, value))
    if found is None or found.trace is not trace:
        raise TraceError("`collect(...)` gathers the results of a step in a loop", "give it such a result")
    loop = _loop_of(trace, found)
    node, kind = _kept_in(trace, loop, found)
    kind, annotation = collected_kind(kind), list[found.annotation]  # type: ignore[name-defined]
    leaf = Collected(loop, node, RESULT, kind.type)
    label = f"what {found.label} was in `{loop.id}`"
    return Ref(Value(trace, leaf, kind, annotation, label), loop)


def check_errors(given: object) -> None:
    """Refuse an unknown word for `errors`."""
    if given is not None and given != RETURN:
        raise TraceError(
            f"`errors` is {given!r}",
            f'write `errors="{RETURN}"` to get a `StepError` for each item that failed, or leave it out',
        )


def _outcome(trace: Trace, given: Any) -> Ref:
    """What a step returned, or its error: the result of a step behind it, which runs in either case."""
    node = node_of(given, f'`errors="{RETURN}"`')
    ignore_failure(node)
    found = None if isinstance(given, NoResult) else value_in(given)
    value = Constant("null") if found is None else as_json(found.expression, found.kind)
    kept = idle(trace.step_id(f"{node.id}_outcome", node.place), node.region, node.place)
    kept.params = {RESULT: Given(JSON_TEXT, Outcome(node, value))}
    trace.add(kept)
    returned = None if found is None else found.annotation
    annotation = Any if returned is Any else union_of((returned, StepError))
    label = f"the outcome of `{node.id}`"
    return Ref(Value(trace, Output(kept, RESULT, JSON_TEXT.type), JSON_TEXT, annotation, label), kept)


def collected_kind(kind: Kind) -> Kind:
    """How what the iterations left travels together."""
    return JSON_TEXTS if kind.json else Kind(ARRAYS[kind.type])


def _loop_of(trace: Trace, found: Value) -> LoopNode:
    """The foreach at this level in whose body a value is known."""
    level = trace.region.level
    for leaf in found.expression.leaves():
        home = leaf.home
        if home is not None and home is not level and level.contains(home):
            loop = level.loop_around(home)
            if home is not loop.body:
                raise TraceError(
                    f"{found.label} is in a loop inside of `{loop.id}`",
                    "gather it at the end of the outer loop's body first: `inner = collect(...)`",
                )
            if loop.make is not ForeachStep:
                raise TraceError(
                    f"{found.label} is a different one in each pass of `{loop.id}`, and a while keeps none",
                    "carry it in a variable of the loop",
                )
            return loop
    raise TraceError(
        f"{found.label} is not the result of a step in a loop that has ended", "call `collect` after the loop"
    )


def _kept_in(trace: Trace, loop: LoopNode, found: Value) -> tuple[Node, Kind]:
    """The step in whose result a value is kept: the step itself, or one that is made to keep it."""
    leaf, region = found.expression, _region_of(loop, found.expression)
    certain = region is loop.body.root and not found.kind.type.is_array
    if certain and isinstance(leaf, Output) and leaf.param == RESULT:
        return leaf.node, found.kind
    # A value of a branch that does not run leaves a gap, which only JSON can tell from 0 and false.
    kind = found.kind if certain else JSON_TEXT
    node = idle(trace.step_id("value", loop.place), region, loop.place)
    node.params = {RESULT: Given(kind, found.expression if certain else as_json(leaf, found.kind))}
    return trace.add(node), kind


def _region_of(loop: LoopNode, expression: Expression) -> Region:
    """The innermost region of a body that steps behind a value are in."""
    leaves = [leaf for leaf in expression.leaves() if leaf.home is loop.body]
    regions = [node.region for leaf in leaves for node, well in leaf.needs if well]
    return max(regions, key=lambda region: len(list(region.around())), default=loop.body.root)
