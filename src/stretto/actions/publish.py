"""Publish a version of a workflow."""

from collections.abc import Iterator
from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, check_may, check_role
from stretto.actions.parts.changed import changed
from stretto.actions.parts.dry_run import dry_run
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.property_rules import check_owner, check_strategy, pushed, snapshot_of
from stretto.actions.parts.trigger_rows import signal_trigger_rows, time_trigger_rows
from stretto.actions.reading.version_view import version_view
from stretto.definition import Limits, validate
from stretto.model.errors import InvalidDefinition, InvalidRequest
from stretto.model.event import DefinitionChanged, VersionChanged
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.response import WorkflowCreateResponse
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.timeline import ActionEvent, WorkflowChange
from stretto.model.workflow import Definition, Metadata, Workflow, WorkflowVersion
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Activation, Change, Found

DEFAULT_LIMITS: Final = Limits()
DEFAULT_TEMPLATE: Final = "default"


async def publish(
    store: Store,
    caller: Caller,
    definition: Definition,
    *,
    limits: Limits = DEFAULT_LIMITS,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
) -> WorkflowCreateResponse:
    """Store a new version, which becomes the active one unless it says otherwise. The same text again makes
    another version: versions are never compared.
    """
    workflow_id = definition.workflow.id
    row = await store.workflow(workflow_id)
    check_may(caller, Right.CHANGE, workflow_id, None if row is None else row.properties)
    await _check(store, caller, definition, limits, evaluate)

    def decide(found: Found) -> Change[int]:
        return decide_publish(found, caller, definition)

    version_id = await changed(store, workflow_id, lambda: store.change_workflow(workflow_id, decide), hints)
    return WorkflowCreateResponse(workflow_definition=await version_view(store, workflow_id, version_id))


async def check_definition(
    store: Store,
    caller: Caller,
    definition: Definition,
    *,
    limits: Limits = DEFAULT_LIMITS,
    evaluate: Evaluator = evaluate_here,
) -> ActionEvent:
    """Everything that a push checks, and nothing stored (Maestro's VALIDATE)."""
    check_role(caller, Role.AUTHOR, "check definitions")
    now = await _check(store, caller, definition, limits, evaluate)
    message = f"Workflow [{definition.workflow.id}] is valid"
    return ActionEvent(timestamp=now, action="VALIDATE", author=caller.user, message=message)


async def _check(
    store: Store, caller: Caller, definition: Definition, limits: Limits, evaluate: Evaluator
) -> int:
    """Raise what is wrong with a definition; returns the time at which nothing was."""
    workflow = definition.workflow
    first = await store.workflow(workflow.id) is None
    templates = [each for each, version in _job_types(workflow) if await store.template(each, version)]
    problems = validate(definition, limits, templates=templates, first_version=first)
    if problems:
        raise InvalidDefinition(problems)
    now = await store.now()
    await dry_run(store, workflow, caller.user, now, evaluate, limits.step_types)
    return now


def decide_publish(found: Found, caller: Caller, definition: Definition) -> Change[int]:
    """What a push writes: a version, and with it properties and triggers where they change."""
    row, workflow, given = found.row, definition.workflow, definition.properties
    before = None if row is None else row.properties
    check_may(caller, Right.CHANGE, workflow.id, before)
    after = before if given is None and before is not None else pushed(before, given or Properties())
    if row is None and after.owner is None:
        raise InvalidRequest(f"The first version of workflow [{workflow.id}] must name an owner")
    check_owner(caller, before, after)
    check_strategy(found, None if given is None else given.run_strategy)
    version_id = 1 if row is None else row.latest_version + 1
    snapshot = None if after is before else snapshot_of(after, workflow.id, caller, found.now)
    change = Change(
        answer=version_id,
        version=_version(found, caller, definition, version_id),
        properties=snapshot,
        timeline=(_line(caller, definition, version_id, found.now),),
        events=(_event(found, caller, definition, version_id, snapshot),),
    )
    if not definition.is_active:
        return change
    return msgspec.structs.replace(
        change,
        activation=Activation(version_id=version_id, by=caller.user),
        signal_triggers=signal_trigger_rows(workflow, version_id, after),
        time_triggers=time_trigger_rows(workflow, version_id, after, found.now),
    )


def _line(caller: Caller, definition: Definition, version_id: int, now: int) -> WorkflowChange:
    state = "active" if definition.is_active else "inactive"
    log = f"Created a new {state} workflow version [{version_id}]"
    return WorkflowChange(author=caller.user, log=log, timestamp=now)


def _event(
    found: Found,
    caller: Caller,
    definition: Definition,
    version_id: int,
    snapshot: PropertiesSnapshot | None,
) -> DefinitionChanged | VersionChanged:
    """Who listens is told of the properties, too, if they came with the push."""
    before = 0 if found.row is None else found.row.active_version
    told = VersionChanged(
        workflow_id=definition.workflow.id,
        workflow_name=definition.workflow.name or definition.workflow.id,
        author=caller.user,
        version_id=version_id,
        current_active_version_id=version_id if definition.is_active else before,
        previous_active_version_id=before,
        event_time=found.now,
    )
    if snapshot is None:
        return told
    return DefinitionChanged(snapshot_id=snapshot.create_time, **msgspec.structs.asdict(told))


def _version(found: Found, caller: Caller, definition: Definition, version_id: int) -> WorkflowVersion:
    metadata = Metadata(
        workflow_id=definition.workflow.id,
        workflow_version_id=version_id,
        create_time=found.now,
        version_author=caller.user,
        git_info=definition.git_info,
        extra=definition.extra,
    )
    return WorkflowVersion(
        metadata=metadata, workflow=definition.workflow, internal_id=found.internal_id, modify_time=found.now
    )


def _job_types(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """The job templates that steps name, on all levels."""
    todo: list[AnyStep] = list(workflow.steps)
    while todo:
        step = todo.pop()
        if isinstance(step, ForeachStep | WhileStep):
            todo += step.steps
        elif isinstance(step, TypedStep):
            yield step.sub_type or step.type, step.sub_type_version or DEFAULT_TEMPLATE
