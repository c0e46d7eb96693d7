"""Workflows: versions, properties, activation, deletion."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot, RunStrategy
from stretto.model.status import RunStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.user import User
from stretto.model.workflow import WorkflowVersion
from stretto.ports.admission import Counts
from stretto.ports.paging import Cut, Slice
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class WorkflowRow(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow across its versions. `internal_id` is new when a deleted id is used again."""

    workflow_id: str
    internal_id: int
    latest_version: int
    active_version: int = 0  # 0: none
    activate_time: int | None = None
    activated_by: User | None = None
    properties: PropertiesSnapshot
    strategy: RunStrategy  # that of the properties, or the default
    next_instance_id: int = 1
    modify_time: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a change finds under the workflow's lock; no row: the workflow is new."""

    now: int  # the database's clock, and later than the newest properties
    row: WorkflowRow | None
    internal_id: int  # the one it has, or will have
    counts: Counts


class Activation(msgspec.Struct, frozen=True, kw_only=True):
    """Which version is active from now on, and by whom; 0: none."""

    version_id: int
    by: User | None = None


class Change(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """Everything that a change writes, and the answer for its caller.

    A version gets the number after the latest; the first one needs properties with it. Properties hold from
    their `create_time` on, which is the `now` that was found. Triggers, if given, are all that the workflow
    has from now on: one with a known id stays as it is (what it took, when it is due), others go or are made.
    Events become one `log` to the workflow's home group.
    """

    answer: A_co
    version: WorkflowVersion | None = None
    properties: PropertiesSnapshot | None = None
    activation: Activation | None = None
    signal_triggers: tuple[SignalTriggerRow, ...] | None = None
    time_triggers: tuple[TimeTriggerRow, ...] | None = None
    timeline: tuple[WorkflowChange, ...] = ()
    events: tuple[ChangeEvent, ...] = ()


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow at a glance; `statuses` counts the runs that have not ended."""

    row: WorkflowRow
    statuses: Mapping[RunStatus, int]
    failed: int  # with the mark STANDING
    latest_instance_id: int | None = None


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How the runs of a workflow ended that ended in one hour; `hour` is its first millisecond."""

    workflow_id: str
    hour: int
    statuses: Mapping[RunStatus, int]


class WorkflowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which workflows a list shows; all that is set must hold."""

    prefix: str = ""
    owner: str | None = None
    tag: str | None = None


class Workflows(Protocol):
    """Versions never change once they are there. Deleted workflows are found by nobody."""

    async def change_workflow(self, workflow_id: str, decide: Callable[[Found], Change[A]]) -> A:
        """Publish, change properties, activate or deactivate: under the workflow's lock, whole or not at all.

        `decide` is pure and may be asked again. Conflict: the workflow is being deleted. NotFound: an
        activation of a version that is not there. After a change of the run strategy, the caller dequeues;
        after new signal triggers, it matches each once.
        """
        ...

    async def delete_workflow(
        self, workflow_id: str, event: Callable[[WorkflowRow], ChangeEvent]
    ) -> WorkflowRow:
        """Begin to delete a workflow: from now on nobody finds it, and its triggers are gone.

        NotFound, or WrongState if it has runs that are not ENDED. Its rows go with `Retention.purge`; until
        then the id can not be published again. Instance ids go on where they ended.
        """
        ...

    async def workflow(self, workflow_id: str) -> WorkflowRow | None:
        """One workflow. Only reads, as all that follow."""
        ...

    async def workflow_rows(self, workflow_ids: Collection[str]) -> dict[str, WorkflowRow]:
        """These workflows, as far as they are there, in one statement."""
        ...

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        """A version as it was published; what else a surface shows of it is in the workflow's row."""
        ...

    async def versions(self, workflow_id: str, cut: Cut) -> Slice[WorkflowVersion]:
        """Versions by number, newest first."""
        ...

    async def properties_history(self, workflow_id: str, cut: Cut) -> Slice[PropertiesSnapshot]:
        """Properties by their `create_time`, newest first."""
        ...

    async def workflow_timeline(self, workflow_id: str, *, most: int = 300) -> list[WorkflowChange]:
        """The newest changes, newest first; empty for an unknown workflow."""
        ...

    async def workflow_overview(self, workflow_id: str) -> Overview | None:
        """A workflow at a glance, as of one moment."""
        ...

    async def workflows(self, cut: Cut, wanted: WorkflowFilter) -> Slice[WorkflowRow]:
        """Workflows by id."""
        ...

    async def outcomes(self, workflow_ids: Sequence[str], since: int) -> list[Outcomes]:
        """How runs of these ended since a time, by workflow and hour, from counters: no run is read."""
        ...
