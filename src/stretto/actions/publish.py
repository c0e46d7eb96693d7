"""Publish a version of a workflow."""

from datetime import UTC, datetime
from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, check_may, check_role
from stretto.actions.parts.changed import changed
from stretto.actions.parts.dry_run import dry_run
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.offload import offload, size_of
from stretto.actions.parts.property_rules import check_owner, check_strategy, pushed, snapshot_of
from stretto.actions.parts.templates_in import templates_of
from stretto.actions.parts.trigger_rows import signal_trigger_rows, time_trigger_rows
from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.actions.reading.version_view import version_view
from stretto.definition import Limits, validate
from stretto.definition.doubts.warn import warn
from stretto.model.errors import Conflict, InvalidDefinition, InvalidRequest
from stretto.model.event import DefinitionChanged, VersionChanged
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.response import WorkflowCreateResponse
from stretto.model.timeline import ActionEvent, WorkflowChange
from stretto.model.workflow import Definition, Metadata, WorkflowVersion
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found, read_workflow

DEFAULT_LIMITS: Final = Limits()


async def publish(
    store: Store,
    caller: Caller,
    definition: Definition,
    *,
    limits: Limits = DEFAULT_LIMITS,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
    if_latest: int | None = None,
) -> WorkflowCreateResponse:
    """Store a new version, which becomes the active one unless it says otherwise. The same text again makes
    another version: versions are never compared. With `if_latest` that is the newest one now (0: there is
    none), or nothing is stored, and `Outdated` says who was first.
    """
    workflow_id = definition.workflow.id
    row = await read_workflow(store, workflow_id)
    check_may(caller, Right.CHANGE, workflow_id, None if row is None else row.properties)
    await _check(store, caller, definition, limits, evaluate)

    def decide(found: Found) -> Change[int]:
        if if_latest is not None:
            check_latest(workflow_id, found, if_latest)
        return decide_publish(found, caller, definition)

    try:
        version_id = await changed(
            store, workflow_id, lambda: change_workflow(store, workflow_id, decide), hints
        )
    except Outdated as outdated:
        raise await _with_author(store, workflow_id, outdated) from None
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
    doubts = await warnings_about(store, definition, limits)
    message = "; ".join((f"Workflow [{definition.workflow.id}] is valid", *doubts))
    return ActionEvent(timestamp=now, action="VALIDATE", author=caller.user, message=message)


async def warnings_about(
    store: Store, definition: Definition, limits: Limits = DEFAULT_LIMITS
) -> tuple[str, ...]:
    """What the author of a definition should look at again."""
    templates = await templates_of(store, definition.workflow)
    found = await offload(size_of(definition), warn, definition, limits, (), (), templates)
    return tuple(f"warning: {each}" for each in found)


async def _check(
    store: Store, caller: Caller, definition: Definition, limits: Limits, evaluate: Evaluator
) -> int:
    """Raise what is wrong with a definition; returns the time at which nothing was."""
    workflow = definition.workflow
    first = await read_workflow(store, workflow.id) is None
    templates = await templates_of(store, workflow)
    problems = await offload(
        size_of(definition), validate, definition, limits, versions=templates, first_version=first
    )
    if problems:
        raise InvalidDefinition(problems)
    now = await store.now()
    await dry_run(store, workflow, caller.user, now, evaluate, limits.step_types)
    return now


class Outdated(Conflict):
    """Somebody else has published meanwhile."""

    id = "outdated"


def check_latest(workflow_id: str, found: Found, expected: int) -> None:
    """Refuse to publish on top of a version that the caller has not seen."""
    latest = 0 if found.row is None else found.row.latest_version
    if latest != expected:
        message = f"The newest version of workflow [{workflow_id}] is [{latest}], not [{expected}]"
        raise Outdated(message, hint="look at what has changed, and publish again")


async def _with_author(store: Store, workflow_id: str, outdated: Outdated) -> Outdated:
    """The refusal, with who has published what, and when; nobody, if the workflow is not there."""
    row = await read_workflow(store, workflow_id)
    version = None if row is None else await store.version(workflow_id, row.latest_version)
    told = None if version is None else version.metadata
    if told is None or told.version_author is None or told.create_time is None:
        return outdated
    at = datetime.fromtimestamp(told.create_time / 1_000, UTC).isoformat(timespec="seconds")
    author = f"User [{told.version_author.name}] published version [{told.workflow_version_id}] at {at}"
    return Outdated(f"{outdated.message}: {author}", details=(author,), hint=outdated.hint)


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
