"""`@workflow`: a function becomes a workflow. It is called once, with references, and its calls are noted."""

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property, partial, update_wrapper
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    overload,
)
from weakref import WeakKeyDictionary

from stretto.definition import to_json, to_yaml
from stretto.flow.calls import base_id
from stretto.flow.errors import TraceError
from stretto.flow.mapping import map_flow
from stretto.flow.option_types import check_types
from stretto.flow.places import Place, here, place_of
from stretto.flow.plain_calls import IN_A_WORKFLOW
from stretto.flow.signature import TAKEN, arguments_of, bind_arguments
from stretto.flow.step_options import refuse_unknown
from stretto.flow.steps import StepFunction, method_argument, refuse_descriptor
from stretto.flow.subworkflows import PLAIN, call_flow
from stretto.flow.trace import current
from stretto.flow.tracing import Returned, Traced, trace_flow
from stretto.flow.workflow_options import (
    KEYWORDS,
    TYPES,
    Handler,
    WorkflowKeywords,
    fields_of,
    handlers_of,
    properties_of,
)
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition
from stretto.runtimes.python.function import Argument, Function
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import literal

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Bound(NamedTuple, Generic[T_co]):
    """A workflow with its parameters, ready to be started."""

    flow: "Flow[..., T_co]"
    params: dict[str, Any]


class Flow(Generic[P, T]):
    """A workflow that is written in Python. `fn` is the function as it was written."""

    def __init__(
        self,
        fn: Callable[P, T],
        options: WorkflowKeywords,
        *,
        params: Mapping[str, Argument] | None = None,
        place: Place | None = None,
    ) -> None:
        self.fn = fn
        self.options = options
        self.place = place or place_of(fn)
        check_types(options, TYPES)
        self.id: str = options.get("id") or fn.__name__
        self.params = arguments_of(fn, self.id, self.place) if params is None else params
        self.handlers: Mapping[str, tuple[Handler, ...]] = handlers_of(options)
        self.fields = fields_of(options)
        self.properties = properties_of(options)
        self._busy = False
        update_wrapper(self, fn)

    def __repr__(self) -> str:
        return f"<workflow {self.id}>"

    # --------------------------------------------------------------------------------------------- definition
    @cached_property
    def _traced(self) -> Traced:
        if self._busy:
            raise TraceError(f"the workflow `{self.id}` calls itself", "write a `loop_while`")
        self._busy = True
        try:
            return trace_flow(self)
        finally:
            self._busy = False

    @property
    def definition(self) -> Definition:
        """The ordinary definition. The function is traced once, when somebody asks."""
        return self._traced.definition

    @property
    def returns(self) -> Returned | None:
        """Where what the workflow returns is found in a run; None if it returns nothing."""
        return self._traced.returns

    @property
    def subflows(self) -> "tuple[Flow[..., Any], ...]":
        """The workflows that it runs as steps, and those that these run; inner ones first."""
        found: dict[Flow[..., Any], None] = {}
        for flow in self._traced.subflows:
            found.update(dict.fromkeys((*flow.subflows, flow)))
        return tuple(found)

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions that it and its subflows need."""
        found = dict.fromkeys(self._traced.functions)
        for flow in self._traced.subflows:
            found.update(dict.fromkeys(flow.functions))
        return tuple(found)

    def to_yaml(self) -> str:
        return to_yaml(self.definition)

    def to_json(self) -> str:
        return to_json(self.definition)

    # ----------------------------------------------------------------------------------------------- starting
    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What is given for which parameter."""
        return bind_arguments(self.id, self.params, args, kwargs)

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> Bound[T]:
        """The workflow with its parameters."""
        return Bound(self, self.bound(args, kwargs))

    def encode(self, params: Mapping[str, Any]) -> dict[str, ParamDefinition]:
        """Python values as the parameters of a start request; InvalidRequest names what is wrong."""
        for name in params:
            if name not in self.params:
                hint = did_you_mean(name, self.params) or f"it has {', '.join(self.params) or 'none'}"
                raise InvalidRequest(f"the workflow `{self.id}` has no parameter `{name}`: {hint}", hint=hint)
        missing = [
            each.name for each in self.params.values() if not each.has_default and each.name not in params
        ]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            raise InvalidRequest(f"the workflow `{self.id}` needs {names}", hint="give a value")
        return {name: literal(value, self.params[name].kind, name) for name, value in params.items()}

    # ------------------------------------------------------------------------------------------------ calling
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """In another workflow: a step that runs this one. Elsewhere: a plain call of the function."""
        trace = current()
        if trace is not None:
            return cast("T", call_flow(trace, self, PLAIN, args, kwargs))
        token = IN_A_WORKFLOW.set(True)
        try:
            return self.fn(*args, **kwargs)
        finally:
            IN_A_WORKFLOW.reset(token)

    @overload
    def map(self, *args: Any, errors: Literal["return"], **kwargs: Any) -> list[T | StepError]: ...
    @overload
    def map(self, *args: Any, **kwargs: Any) -> list[T]: ...

    def map(self, *args: Any, **kwargs: Any) -> Any:
        """Run the workflow once for each element of a list; see `map` of a step."""
        return map_flow(self, args, kwargs, here())


class WorkflowDecorator(Protocol):
    """What `@workflow(...)` gives."""

    def __call__(self, function: Callable[P, T], /) -> Flow[P, T]: ...


@overload
def workflow(function: Callable[P, T], /) -> Flow[P, T]: ...
@overload
def workflow(**options: Unpack[WorkflowKeywords]) -> WorkflowDecorator: ...


def workflow(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a workflow: `@workflow`, or `@workflow(schedule="0 6 * * *", owner="ann")`."""
    refuse_unknown(options, KEYWORDS, "`@workflow`")
    if function is None:
        return partial(_workflow, options)
    return _workflow(options, function)


def _workflow(options: dict[str, Any], function: Callable[..., Any]) -> Flow[..., Any]:
    place = place_of(function)
    if isinstance(function, Flow):
        raise TraceError(f"`{function.id}` is a workflow already", "write one `@workflow`")
    refuse_descriptor(function, "`@workflow`")
    if isinstance(function, staticmethod):
        raise TraceError(
            f"`{function.__qualname__}` is a `staticmethod` already",
            "write `@staticmethod` above `@workflow`",
            place=place,
        )
    if inspect.ismethod(function) or (inspect.isfunction(function) and method_argument(function)):
        raise TraceError(
            f"`{function.__qualname__}` is a method, and a workflow has no object to call it on",
            "write a function, and hand over what it needs as parameters",
            place=place,
        )
    if not inspect.isfunction(function):
        raise TraceError(
            f"a {type(function).__name__} is not a function", "write `@workflow` above a `def`", place=place
        )
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TraceError(
            f"the workflow `{function.__name__}` is a coroutine or a generator",
            "write a plain `def`: it only says which steps there are, and steps may be async",
            place=place,
        )
    return Flow(function, cast("WorkflowKeywords", options))


def flow_of(step: StepFunction[P, T]) -> Flow[P, T]:
    """The workflow of one step: its id is that of the step, and its parameters are the step's arguments. The
    same step always gives the same workflow.
    """
    known = _FLOWS.get(step)
    if known is not None:
        return cast("Flow[P, T]", known)
    function = step.function
    place = place_of(function.call)
    flow_id = step.options.id or base_id(function)
    for each in function.values:
        if each.name in TAKEN:
            raise TraceError(
                f"the step `{flow_id}` can not be run by itself: every run has a parameter `{each.name}`",
                "call it in a function with `@workflow`",
                place=place,
            )

    def alone(**values: Any) -> Any:
        return step(**values)  # type: ignore[call-arg]

    params = {each.name: each for each in function.values}
    made = Flow(alone, {"id": flow_id}, params=params, place=place)
    made.__doc__ = alone.__doc__ = function.doc or None
    _FLOWS[step] = made
    return cast("Flow[P, T]", made)


_FLOWS: Final[WeakKeyDictionary[StepFunction[..., Any], Flow[..., Any]]] = WeakKeyDictionary()
