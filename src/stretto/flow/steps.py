"""`@step`: a function becomes the work of a step."""

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import cached_property, partial, update_wrapper
from typing import Any, Final, Generic, Literal, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from stretto.definition.durations import duration_millis
from stretto.definition.functions import CACHED_AND_UNDONE, REMOVE_ONE
from stretto.flow import option_types, plain_calls
from stretto.flow.calls import base_id, bind, own_kind, result_kind
from stretto.flow.convert import refuse_errors, setting
from stretto.flow.durations import duration
from stretto.flow.errors import TraceError
from stretto.flow.leaves import Output
from stretto.flow.mapping import map_plainly, map_step
from stretto.flow.nodes import Level, Node, Settings
from stretto.flow.option_types import check_types
from stretto.flow.order import node_of, wait_for
from stretto.flow.places import Place, here, place_of
from stretto.flow.refs import NoResult, Ref
from stretto.flow.step_options import (
    OF_A_FUNCTION,
    OF_A_STEP,
    FunctionKeywords,
    StepKeywords,
    StepOptions,
    refuse_unknown,
)
from stretto.flow.trace import Trace, Value, current
from stretto.flow.undoing import undo_step
from stretto.model.errors import InvalidRequest
from stretto.model.param import RESULT, ParamDefinition
from stretto.model.step import TypedStep
from stretto.params import STEP_DEFAULTS
from stretto.runtimes.python.function import Argument, Function, function_of
from stretto.runtimes.python.own_params import FUNCTION, OWN, TYPE, named
from stretto.runtimes.python.roles import Role
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.storable import check_storable
from stretto.runtimes.python.substeps import params_of
from stretto.runtimes.python.values import empty

P = ParamSpec("P")
T = TypeVar("T")

RESERVED: Final = OWN | STEP_DEFAULTS.keys()
RENAMED: Final = {"cache": "cache_ttl_s", "heartbeat": "heartbeat_within"}
FUNCTION_OPTIONS: Final = tuple(key for key in OF_A_FUNCTION if key not in {"name", "compensate"})


class StepFunction(Generic[P, T]):
    """A function that is the work of a step. `fn` is the function as it was written.

    In a workflow a call of it becomes a step and gives a reference to what it will return; elsewhere it is
    a plain call.
    """

    def __init__(
        self,
        function: Function,
        options: StepOptions,
        compensate: "StepFunction[..., Any] | None" = None,
        waits: tuple[Any, ...] = (),
    ) -> None:
        self.function = function
        self.options = options
        self.compensate = compensate
        self._waits = waits
        self.fn: Callable[..., Any] = function.call
        update_wrapper(self, function.call)

    def __repr__(self) -> str:
        return f"<step {self.function.name}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        trace = current()
        if trace is None:
            return cast("T", plain_calls.call(self.function, args, kwargs))
        return cast("T", self.traced(trace, args, kwargs, here()))

    @overload
    def map(self, *args: Any, errors: Literal["return"], **kwargs: Any) -> list[T | StepError]: ...
    @overload
    def map(self, *args: Any, **kwargs: Any) -> list[T]: ...

    def map(self, *args: Any, **kwargs: Any) -> Any:
        """Run the step once for each element of a list; gives the list of what they return.

        The list is the first argument, or the one that is a list where the function asks for an element;
        `each(...)` marks it where that is not clear. `concurrency=` says how many run at once.
        With `errors="return"` the run goes on if one fails, and the list has a `StepError` in its place.
        """
        trace = current()
        if trace is None:
            return map_plainly(self, args, kwargs)
        return map_step(self, trace, args, kwargs, here())

    def with_options(self, **options: Unpack[StepKeywords]) -> "StepFunction[P, T]":
        """The same function, as a step that runs in another way."""
        for key in OF_A_FUNCTION:
            if key in options:
                raise TraceError(
                    f"`{key}` belongs to the function wherever it is used, not to one step",
                    f"write it in `@step({key}=...)`",
                )
        refuse_unknown(options, OF_A_STEP, f"the step `{self.function.qualname}`")
        check_types(options, option_types.OF_A_STEP)
        made = self.options.changed(options)
        return StepFunction(self.function, made, self.compensate, self._waits)

    def named(self, step_id: str) -> "StepFunction[P, T]":
        """The same function, as a step with this id."""
        return self.with_options(id=step_id)

    def after(self, *others: Any) -> "StepFunction[P, T]":
        """The same function, as a step that runs after others, although it needs nothing of them."""
        return StepFunction(self.function, self.options, self.compensate, (*self._waits, *others))

    def as_step(self, step_id: str, params: Mapping[str, Any]) -> TypedStep:
        """The step with arguments that are known: a sub-step, for `ctx.add`."""
        made = params_of(self.function, params)
        fields = self._fields()
        if self.compensate is not None:
            node = Node(step_id, Level().root, partial(TypedStep, type=TYPE), here(), dict(made))
            fields["compensation"] = undo_step(self, self.compensate, node, f"undo_{step_id}")
        return TypedStep(id=step_id, type=TYPE, params=made, **fields)

    def _fields(self) -> dict[str, Any]:
        fields = {**self.options.fields(), "retry_policy": self.options.retry_policy()}
        if self.function.doc:
            fields.setdefault("description", self.function.doc)
        return fields

    # --------------------------------------------------------------------------------------------- tracing
    def traced(self, trace: Trace, args: Iterable[Any], kwargs: dict[str, Any], place: Place) -> Any:
        """A step in the workflow that is traced."""
        given = bind(self.function, tuple(args), kwargs)
        if self.function not in trace.functions:
            _check_storable(self.function)
            trace.functions[self.function] = None
        wanted = self.options.id
        step_id = trace.step_id(wanted or base_id(self.function), place, exact=wanted is not None)
        node = Node(step_id, trace.region, partial(TypedStep, type=TYPE), place)
        node.params = self._params(trace, given)
        node.fields = self._fields()
        if self.compensate is not None:
            trace.functions[self.compensate.function] = None
            undo_id = trace.step_id(self.compensate.options.id or f"undo_{step_id}", place)
            node.fields["compensation"] = undo_step(self, self.compensate, node, undo_id)
        trace.add(node)
        for each in self._waits:
            wait_for(node, node_of(each, "`.after(...)`"))
        label = f"the result of `{step_id}`"
        kind = result_kind(self.function.kind, node.region.level)
        if kind is None:
            return NoResult(node, label)
        node.params[RESULT] = ParamDefinition(type=kind.type, value=empty(kind), meta=kind.meta)
        return Ref(Value(trace, Output(node, RESULT, kind.type), kind, self.function.returns, label), node)

    def _params(self, trace: Trace, given: dict[str, Any]) -> Settings:
        params: Settings = {FUNCTION: named(self.function.name)}
        known = {each.name: each for each in self.function.values}
        for name, value in given.items():
            if name not in known:
                params[name] = setting(trace, value, own_kind(value), name)
                continue
            refuse_errors(value, known[name].annotation, f"`{name}` of `{base_id(self.function)}`")
            params[name] = setting(trace, value, known[name].kind, name)
        return params


# ------------------------------------------------------------------------------------------------ decorator
class Decorator(Protocol):
    """What `@step(...)` gives."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, T]], /) -> StepFunction[P, T]: ...
    @overload
    def __call__(self, function: Callable[P, T], /) -> StepFunction[P, T]: ...


@overload
def step(function: Callable[P, Coroutine[Any, Any, T]], /) -> StepFunction[P, T]: ...
@overload
def step(function: Callable[P, T], /) -> StepFunction[P, T]: ...
@overload
def step(**options: Unpack[FunctionKeywords]) -> Decorator: ...


def step(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function the work of a step: `@step`, or `@step(retries=2, timeout="5 minutes")`."""
    refuse_unknown(options, (*OF_A_STEP, *OF_A_FUNCTION), "`@step`")
    check_types(options, option_types.OF_A_STEP, never_none=["tolerance"])
    if function is None:
        return partial(_step, options)
    return _step(options, function)


def _step(options: dict[str, Any], function: Callable[..., Any]) -> StepFunction[..., Any]:
    if isinstance(function, StepFunction):
        raise TraceError(f"`{function.function.qualname}` is a step already", "write one `@step`")
    refuse_descriptor(function, "`@step`")
    if inspect.ismethod(function) and "name" not in options:
        raise TraceError(
            f"`{function.__qualname__}` is a method of an object, which is gone after a restart",
            "write a function, and hand over what it needs of the object",
            place=place_of(function),
        )
    of_function = {RENAMED.get(key, key): options[key] for key in FUNCTION_OPTIONS if key in options}
    for key in RENAMED.values():
        if key in of_function:
            of_function[key] = seconds(of_function[key], key)
    try:
        made = function_of(function, options.get("name"), **of_function)
    except InvalidRequest as error:
        raise TraceError(
            error.message, "a step is a function with a name and arguments", place=place_of(function)
        ) from None
    _check(made, function)
    own = StepOptions().changed({key: options[key] for key in OF_A_STEP if key in options})
    undo = undo_of(options.get("compensate"))
    if undo is not None:
        _check_cache(made, undo.function, function)
    return StepFunction(made, own, undo)


def _check_cache(made: Function, undo: Function, function: Callable[..., Any]) -> None:
    """What is undone, and what undoes, must happen each time."""
    if made.options.cache_ttl_s is not None:
        raise TraceError(
            f"`{base_id(made)}` has `cache` and `compensate`: {CACHED_AND_UNDONE}",
            REMOVE_ONE,
            place=place_of(function),
        )
    if undo.options.cache_ttl_s is not None:
        raise TraceError(
            f"`{base_id(undo)}` undoes `{base_id(made)}` and has `cache`: taken from it, it undoes nothing",
            f"remove `cache` from `{base_id(undo)}`",
            place=place_of(function),
        )


def refuse_descriptor(function: Any, decorator: str) -> None:
    """Refuse what is a function only in its class."""
    if isinstance(function, classmethod | property | cached_property):
        wrapped = next(filter(None, (getattr(function, each, None) for each in ("__func__", "fget", "func"))))
        raise TraceError(
            f"`{wrapped.__qualname__}` is a `{type(function).__name__}`, which belongs to a class",
            f"write a function outside of the class, with {decorator} above it",
            place=place_of(wrapped),
        )


def undo_of(given: Any) -> "StepFunction[..., Any] | None":
    if given is None or isinstance(given, StepFunction):
        return given
    return _step({}, given)


def seconds(given: Any, what: str) -> float:
    """A time in seconds."""
    found = duration(given, what)
    if isinstance(found, int):
        return float(found)
    return (duration_millis(str(found)) or 0) / 1_000


def _check(made: Function, function: Callable[..., Any]) -> None:
    place = place_of(function)
    first = method_argument(function)
    if first:
        raise TraceError(
            f"`{made.qualname}` is a method, and a step has no object to call it on",
            f"write a function, or `@staticmethod` below `@step`, with what it needs instead of `{first}`",
            place=place,
        )
    for each in made.args:
        if each.role is Role.VALUE:
            _check_argument(each, made, place)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise TraceError(
                f"`{base_id(made)}` takes `*{parameter.name}`, and the values of a step have names",
                "take a list instead",
                place=place,
            )


def method_argument(function: Callable[..., Any]) -> str:
    """`self` or `cls`, if a function is a method; else nothing."""
    first = next(iter(inspect.signature(function).parameters), "")
    qualname = str(getattr(inspect.unwrap(function), "__qualname__", ""))
    return first if first in {"self", "cls"} and "." in qualname.rpartition("<locals>.")[2] else ""


def _check_storable(function: Function) -> None:
    """Refuse annotations that say that a value can not be stored, before anything runs."""
    try:
        check_storable(function, base_id(function))
    except InvalidRequest as error:
        raise TraceError(error.message, error.hint or "", place=place_of(function.call)) from None


def _check_argument(each: Argument, made: Function, place: Place) -> None:
    if each.name in RESERVED:
        raise TraceError(
            f"the argument `{each.name}` of `{base_id(made)}` has a meaning of its own in steps",
            "choose another name",
            place=place,
        )
