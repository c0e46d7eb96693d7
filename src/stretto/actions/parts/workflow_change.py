"""Changes of workflows: what a caller decides, and what follows from it for the workflow's row.

Under the workflow's lock a store hands over what it finds, and writes what it is given: which number a
version gets, which properties hold and which version is active is decided here.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot, RunStrategy, RunStrategyRule
from stretto.model.timeline import WorkflowChange
from stretto.model.user import User
from stretto.model.workflow import WorkflowVersion
from stretto.ports.store import Store
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow
from stretto.ports.workflows import Found, WorkflowRow, WorkflowWrites

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)

DEFAULT_STRATEGY: Final = RunStrategy(rule=RunStrategyRule.SEQUENTIAL)


class Activation(msgspec.Struct, frozen=True, kw_only=True):
    """Which version is active from now on, and by whom; 0: none."""

    version_id: int
    by: User | None = None


class Change(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """Everything that a caller wants changed, and the answer that it gets.

    A version gets the number after the latest; the first one needs properties with it. Properties hold from
    the `now` that was found. Triggers, if given, are all that the workflow has from now on. Events become one
    `log` to the workflow's home group.
    """

    answer: A_co
    version: WorkflowVersion | None = None
    properties: PropertiesSnapshot | None = None
    activation: Activation | None = None
    signal_triggers: tuple[SignalTriggerRow, ...] | None = None
    time_triggers: tuple[TimeTriggerRow, ...] | None = None
    timeline: tuple[WorkflowChange, ...] = ()
    events: tuple[ChangeEvent, ...] = ()


async def change_workflow(store: Store, workflow_id: str, decide: Callable[[Found], Change[A]]) -> A:
    """Publish, change properties, activate or deactivate: under the workflow's lock, whole or not at all.

    `decide` is pure and may be asked again. Conflict: the workflow is being deleted. NotFound: an activation
    of a version that is not there. After a change of the run strategy, the caller dequeues; after new signal
    triggers, it matches each once.
    """
    return await store.change_workflow(
        workflow_id, lambda found: writes_of(workflow_id, found, decide(found))
    )


def writes_of(workflow_id: str, found: Found, change: Change[A]) -> WorkflowWrites[A]:
    """What a store writes for a change."""
    row = _row_after(workflow_id, found, change)
    return WorkflowWrites(
        answer=change.answer,
        row=row,
        version=change.version,
        properties=None if change.properties is None else row.properties,
        signal_triggers=change.signal_triggers,
        time_triggers=change.time_triggers,
        timeline=change.timeline,
        events=change.events,
    )


def check_deletable(workflow_id: str, found: Found) -> None:
    """Refuse to delete a workflow while it has runs that have not ended."""
    left = found.counts.unfinished
    if left:
        raise WrongState(f"Cannot delete workflow [{workflow_id}]: {left} of its runs have not ended")


def _row_after(workflow_id: str, found: Found, change: Change[Any]) -> WorkflowRow:
    row = found.row
    if row is None:
        if change.version is None or change.properties is None:
            raise InvalidRequest(f"the workflow [{workflow_id}] is new: it needs a version and properties")
        row = WorkflowRow(
            workflow_id=workflow_id,
            internal_id=found.internal_id,
            latest_version=0,
            properties=change.properties,
            strategy=DEFAULT_STRATEGY,
            next_instance_id=found.next_instance_id,
        )
    fields: dict[str, Any] = {"modify_time": found.now}
    if change.version is not None:
        fields["latest_version"] = row.latest_version + 1
    if change.properties is not None:
        properties = msgspec.structs.replace(
            change.properties, workflow_id=workflow_id, create_time=found.now
        )
        fields["properties"] = properties
        fields["strategy"] = properties.run_strategy or DEFAULT_STRATEGY
    if change.activation is not None:
        number = change.activation.version_id
        if not 0 <= number <= fields.get("latest_version", row.latest_version):
            raise NotFound(f"Cannot find version [{number}] of workflow [{workflow_id}]")
        fields |= {
            "active_version": number,
            "activate_time": found.now,
            "activated_by": change.activation.by,
        }
    return msgspec.structs.replace(row, **fields)
