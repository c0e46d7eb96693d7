"""The workflows and functions of a program: made known once, published where something is new."""

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.finding import find_version, find_workflow, step_in
from stretto.actions.publish_if_new import publish_if_new
from stretto.definition import Limits
from stretto.definition.functions import steps_by_id
from stretto.definition.required import required_of, result_place_of
from stretto.flow.engine.handlers import Handlers
from stretto.flow.steps import StepFunction
from stretto.flow.workflow import Flow, flow_of
from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.param import ParamDefinition, Parameter, Params
from stretto.model.step import AnyStep
from stretto.model.suggest import did_you_mean, hints_for
from stretto.model.workflow import Definition, Workflow, WorkflowVersion
from stretto.params import WORKFLOW_DEFAULTS
from stretto.ports.hints import Hints
from stretto.ports.store import Store
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.registry import Registry
from stretto.runtimes.python.values import Kind, encode, kind_of_param, literal
from stretto.runtimes.types import with_installed

MOST_VERSIONS: Final = 1_000  # that are kept in memory


class Returned(NamedTuple):
    """Where the value of a workflow stands: a parameter of one of its steps."""

    step: str
    param: str
    kind: Kind
    annotation: Any = Any


Runnable = Flow[..., Any] | Definition | Workflow
Given = Runnable | StepFunction[..., Any] | str  # a text is the id of a workflow that is there already


Named = Flow[..., Any] | StepFunction[..., Any] | str  # which workflow


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """A version to be run."""

    workflow: Workflow
    version_id: int
    returned: Returned | None
    required: Mapping[str, ParamDefinition] = {}  # without a default: they are not in the definition
    flow: Flow[..., Any] | None = None


class Library:
    """All that a program has made known, for one store."""

    def __init__(self, registry: Registry, handlers: Handlers, limits: Limits) -> None:
        self.registry = registry
        self._handlers = handlers
        self._limits = with_installed(limits)
        self._published: dict[
            int, tuple[Any, int]
        ] = {}  # by identity -> itself, so that it stays; its version
        self._publishing: dict[tuple[int, bool], asyncio.Task[int]] = {}
        self._versions: dict[tuple[str, int], WorkflowVersion] = {}
        self._recorded: set[Function] = set()  # those that the store was told of

    # ------------------------------------------------------------------------------------------------ knowing
    def register(self, *given: Any) -> None:
        """Make functions known, or all functions of workflows."""
        for each in given:
            if isinstance(each, Flow):
                self._register_flow(each)
            else:
                self.registry.register(each)

    def _register_flow(self, flow: Flow[..., Any]) -> None:
        self.registry.register(*flow.functions)
        for each in (flow, *flow.subflows):
            self._handlers.of_workflow(each.id, each.handlers)
        self.registry.handlers = self._handlers.names

    def take_unrecorded(self) -> list[Function]:
        """Functions of which the store was not told yet. The caller tells it."""
        fresh = [each for each in self.registry if each not in self._recorded]
        self._recorded.update(fresh)
        return fresh

    def forget(self) -> None:
        """A store is opened, which may be another one: nothing is known of it."""
        self._published.clear()
        self._versions.clear()
        self._recorded.clear()

    # --------------------------------------------------------------------------------------------- publishing
    async def publish(
        self, store: Store, caller: Caller, hints: Hints, given: Given, *, triggers: bool = False
    ) -> Chosen:
        """The version that has this content. What this program has published once is not compared again."""
        if isinstance(given, str):
            row = await find_workflow(store, given)
            version_id, found = await find_version(store, row, "default")
            return chosen_of(found, version_id)
        if isinstance(given, StepFunction):
            given = flow_of(given)
        known = self._published.get(id(given))
        definition = definition_of(given)
        if known is None or triggers:
            version_id = await self._once(store, caller, hints, given, triggers=triggers)
            self._published[id(given)] = given, version_id
        else:
            version_id = known[1]
        flow = given if isinstance(given, Flow) else None
        return Chosen(
            workflow=definition.workflow,
            version_id=version_id,
            returned=_place_of(definition) if flow is None else _returned_by(flow),
            required=required_of(definition.extra),
            flow=flow,
        )

    async def _once(
        self, store: Store, caller: Caller, hints: Hints, given: Runnable, *, triggers: bool
    ) -> int:
        """Publish what others publish at this moment together with them."""
        at = id(given), triggers
        task = self._publishing.get(at)
        if task is None:
            task = asyncio.create_task(self._publish(store, caller, hints, given, triggers=triggers))
            self._publishing[at] = task
            task.add_done_callback(lambda _task: self._publishing.pop(at, None))
        return await asyncio.shield(task)

    async def _publish(
        self, store: Store, caller: Caller, hints: Hints, given: Runnable, *, triggers: bool
    ) -> int:
        """With the workflows that it runs, first."""
        if isinstance(given, Flow):
            self.register(given)
            for each in given.subflows:  # a step that runs one means the active version
                await self.publish(store, caller, hints, each, triggers=True)
        return await publish_if_new(
            store, caller, definition_of(given), triggers=triggers, limits=self._limits, hints=hints
        )

    async def version(self, store: Store, workflow_id: str, version_id: int) -> WorkflowVersion:
        """A version as it is stored."""
        found = self._versions.get((workflow_id, version_id))
        if found is None:
            found = await store.version(workflow_id, version_id)
            if found is None:
                raise NotFound(
                    f"there is no version {version_id} of workflow `{workflow_id}`: it was deleted"
                )
            while len(self._versions) >= MOST_VERSIONS:
                del self._versions[next(iter(self._versions))]
            self._versions[workflow_id, version_id] = found
        return found


# ------------------------------------------------------------------------------------------------ definitions
def definition_of(given: Any) -> Definition:
    if isinstance(given, Definition):
        return given
    if isinstance(given, Workflow):
        return Definition(workflow=given)
    if isinstance(given, Flow):
        return given.definition
    if inspect.isroutine(given):
        name = getattr(given, "__name__", "it")
        where = f"`def {name}`" if name.isidentifier() else "a `def`"
        way_out = f"write `@workflow` above {where} if it calls steps, or `@step` to run it by itself"
        raise InvalidRequest(f"`{name}` is a plain function, and no workflow; {way_out}", hint=way_out)
    way_out = "give a function with `@workflow`, a Definition, or the id of a workflow that was published"
    raise InvalidRequest(f"{a_name(type(given).__qualname__)} is not a workflow; {way_out}", hint=way_out)


def id_of(given: Named | None) -> str | None:
    """The id of a workflow, however a program names it."""
    if isinstance(given, StepFunction):
        given = flow_of(given)
    return given.id if isinstance(given, Flow) else given


def _returned_by(flow: Flow[..., Any]) -> Returned | None:
    made = flow.returns
    return None if made is None else Returned(made.step, made.param, made.kind, made.annotation)


def chosen_of(version: WorkflowVersion, version_id: int) -> Chosen:
    """A version as it is stored. The types of its author are not known: values are plain data."""
    extra = {} if version.metadata is None else version.metadata.extra
    definition = Definition(workflow=version.workflow, extra=extra)
    return Chosen(
        workflow=version.workflow,
        version_id=version_id,
        returned=_place_of(definition),
        required=required_of(extra),
    )


def _place_of(definition: Definition) -> Returned | None:
    """The type of a value is not stored; its kind is that of the parameter."""
    place = result_place_of(definition.extra)
    step = None if place is None else step_in(definition.workflow.steps, place.step)
    if place is None or step is None:
        return None
    declared = (step.params or {}).get(place.param)
    return None if declared is None else Returned(place.step, place.param, kind_of_param(declared))


# ------------------------------------------------------------------------------------------------- parameters
def run_params(chosen: Chosen, given: Mapping[str, Any], *, new: bool = True) -> Params:
    """Values of a program as parameters of a request; all that is wrong with their names at once. One that is
    not `new` has its parameters already: these are others.
    """
    if chosen.flow is not None:
        return dict(chosen.flow.encode(given))
    own = {**(chosen.workflow.params or {}), **chosen.required}
    missing = [f"`{name}`" for name in chosen.required if name not in given]
    if missing and new:
        raise InvalidRequest(
            f"workflow `{chosen.workflow.id}` needs {' and '.join(missing)}", hint="give a value"
        )
    return _encoded(given, {**WORKFLOW_DEFAULTS, **own}, f"workflow `{chosen.workflow.id}`", tuple(own))


def step_params(chosen: Chosen, given: Mapping[str, Mapping[str, Any]]) -> dict[str, Params]:
    """The same for parameters of single steps."""
    steps = steps_by_id(chosen.workflow.steps)
    return {step_id: _step_params(chosen, steps, step_id, values) for step_id, values in given.items()}


def _step_params(
    chosen: Chosen, steps: Mapping[str, AnyStep], step_id: str, given: Mapping[str, Any]
) -> Params:
    step = steps.get(step_id)
    if step is None:
        raise _no_step(chosen, step_id)
    declared = step.params or {}
    whose = f"step `{step_id}` of workflow `{chosen.workflow.id}`"
    return _encoded(given, declared, whose, tuple(declared))


def _no_step(chosen: Chosen, step_id: str) -> InvalidRequest:
    known = [each.id for each in chosen.workflow.steps]
    hint = did_you_mean(step_id, known) or f"it has {', '.join(known)}"
    return InvalidRequest(f"workflow `{chosen.workflow.id}` has no step `{step_id}`: {hint}")


def output_params(chosen: Chosen, step_id: str, given: Mapping[str, Any]) -> dict[str, Parameter]:
    """Values that somebody answers for a step: data, of the types that the step declares."""
    step = step_in(chosen.workflow.steps, step_id)
    if step is None and given:
        raise _no_step(chosen, step_id)
    declared = (None if step is None else step.params) or {}
    _check_names(given, declared, f"step `{step_id}`", tuple(declared))
    found: dict[str, Parameter] = {}
    for name, value in given.items():
        kind = kind_of_param(declared[name])
        plain = encode(value, kind, name)
        found[name] = Parameter(type=kind.type, value=plain, evaluated_result=plain, evaluated_time=1)
    return found


def _encoded(
    given: Mapping[str, Any], declared: Mapping[str, ParamDefinition], whose: str, own: tuple[str, ...]
) -> Params:
    _check_names(given, declared, whose, own)
    return {
        name: value
        if isinstance(value, ParamDefinition)
        else literal(value, kind_of_param(declared[name]), name)
        for name, value in given.items()
    }


def _check_names(
    given: Mapping[str, Any], declared: Mapping[str, ParamDefinition], whose: str, own: tuple[str, ...]
) -> None:
    unknown = [name for name in given if name not in declared]
    if unknown:
        hints = hints_for(unknown, declared)
        known = ", ".join(f"`{each}`" for each in own) or "none"
        more = f"; {'; '.join(hints)}" if hints else f"; it has {known}"
        raise InvalidRequest(f"{whose} has no parameter {', '.join(f'`{each}`' for each in unknown)}{more}")
