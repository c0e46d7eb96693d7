"""`subworkflow(...)`: another workflow as a step."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, overload

from stretto.flow.calls import own_kind
from stretto.flow.convert import refuse_errors, setting
from stretto.flow.errors import TraceError
from stretto.flow.leaves import FromChild
from stretto.flow.nodes import Node, Settings
from stretto.flow.places import here
from stretto.flow.refs import NoResult, Ref
from stretto.flow.trace import Trace, Value, required
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TypedStep, WhileStep
from stretto.runtimes.python.values import kind_of

if TYPE_CHECKING:
    from stretto.flow.workflow import Flow

P = ParamSpec("P")
T = TypeVar("T")


class ChildRun(NoResult):
    """What the call of a workflow by its id gives: its values are read by the names of its steps."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace, node: Node) -> None:
        super().__init__(node, f"the result of `{node.id}`")
        self._trace = trace

    def output(self, step_id: str, param: str, annotation: Any) -> Any:
        """A parameter of one of its steps, as a value of a type."""
        kind = kind_of(annotation)
        leaf = FromChild(self._node, step_id, param, kind.type)
        return Ref(Value(self._trace, leaf, kind, annotation, f"`{param}` of `{step_id}`"), self._node)


@dataclass(frozen=True, slots=True)
class Child:
    """How a workflow is run as a step."""

    id: str | None = None
    version: str = "active"
    sync: bool = True


PLAIN: Final = Child()


@overload
def subworkflow(
    flow: "Flow[P, T]", *, id: str | None = None, version: str | int = ..., sync: bool = True
) -> Callable[P, T]: ...
@overload
def subworkflow(
    flow: str, *, id: str | None = None, version: str | int = ..., sync: bool = True
) -> Callable[..., Any]: ...


def subworkflow(
    flow: Any,
    *,
    id: str | None = None,  # noqa: A002 - the name that steps have it under
    version: str | int = "active",
    sync: bool = True,
) -> Callable[..., Any]:
    """Run another workflow as a step: `subworkflow(report)(day)`, by its id `subworkflow("report")(day=day)`.

    `sync=False` goes on as soon as it has been started.
    """
    child = Child(id, str(version), sync)

    def called(*args: Any, **kwargs: Any) -> Any:
        trace = required("subworkflow")
        if isinstance(flow, str):
            return _by_id(trace, flow, child, args, kwargs)
        return call_flow(trace, flow, child, args, kwargs)

    return called


def call_flow(
    trace: Trace, flow: "Flow[..., Any]", child: Child, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A workflow that is known, as a step of the one that is traced."""
    given = flow.bound(args, kwargs)
    returned = flow.returns  # which traces it, and finds out if it calls this one
    undoable = None if child.sync else _undoable(flow)
    if undoable is not None:
        raise TraceError(
            f"`{flow.id}` has steps that can be undone, such as `{undoable}`, but nobody waits for it:"
            " if this workflow fails, they would stay as they are",
            "wait for it: remove `sync=False`; or start it from a function",
        )
    trace.subflows[flow] = None
    params: Settings = {}
    for name, value in given.items():
        refuse_errors(value, flow.params[name].annotation, f"`{name}` of `{flow.id}`")
        params[name] = setting(trace, value, flow.params[name].kind, name)
    node = _node(trace, flow.id, child, params)
    label = f"the result of `{node.id}`"
    if returned is None or not child.sync:
        return NoResult(node, label)
    leaf = FromChild(node, returned.step, returned.param, returned.kind.type)
    return Ref(Value(trace, leaf, returned.kind, returned.annotation, label), node)


def _undoable(flow: "Flow[..., Any]") -> str | None:
    """A step of a workflow, or of one that it waits for, that can be undone."""
    steps = (step for each in (flow, *flow.subflows) for step in _all(each.definition.workflow.steps))
    return next(
        (step.id for step in steps if isinstance(step, TypedStep) and step.compensation is not None), None
    )


def _all(steps: Iterable[AnyStep]) -> Iterator[AnyStep]:
    for step in steps:
        yield step
        if isinstance(step, ForeachStep | WhileStep):
            yield from _all(step.steps)


def _by_id(
    trace: Trace, workflow_id: str, child: Child, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ChildRun:
    if args:
        raise TraceError(
            f"the arguments of `{workflow_id}` are known by their names only", "write `name=value` for each"
        )
    params: Settings = {name: setting(trace, value, own_kind(value), name) for name, value in kwargs.items()}
    return ChildRun(trace, _node(trace, workflow_id, child, params))


def _node(trace: Trace, workflow_id: str, child: Child, params: Settings) -> Node:
    place = here()
    own: Settings = {
        "subworkflow_id": ParamDefinition(type=ParamType.STRING, value=workflow_id),
        "subworkflow_version": ParamDefinition(type=ParamType.STRING, value=child.version),
    }
    taken = own.keys() & params.keys()
    if taken:
        raise TraceError(f"`{min(taken)}` says which workflow is meant", "rename the argument")
    named = trace.step_id(child.id or workflow_id, place, exact=child.id is not None)
    node = Node(named, trace.region, SubworkflowStep, place, {**own, **params})
    node.fields = {"sync": child.sync, "explicit_params": True}
    return trace.add(node)
