"""Workflows: versions, properties, activation, deletion."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot, RunStrategy
from stretto.model.runs import RunCounts
from stretto.model.status import RunStatus
from stretto.model.tag import Tag
from stretto.model.timeline import WorkflowChange
from stretto.model.user import User
from stretto.model.workflow import Criticality, WorkflowVersion
from stretto.ports.paging import Cut, Slice
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow

TOTALS_EVERY: Final = 300_000  # milliseconds in which ends over all workflows are counted together

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class WorkflowRow(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow across its versions. `internal_id` is new when a deleted id is used again.

    activate_time, activated_by   When the active version was chosen, and by whom; or that there is none.
    """

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

    @property
    def default_version(self) -> int:
        """The active version, else the latest."""
        return self.active_version or self.latest_version

    def is_chosen(self, newest: WorkflowVersion) -> bool:
        """Whether somebody has chosen the active version, or none, since the newest one was published."""
        published = None if newest.metadata is None else newest.metadata.create_time
        return was_chosen(self.activate_time, published)


def was_chosen(chosen: int | None, published: int | None) -> bool:
    """Whether the active version was chosen when the newest one was there: whoever publishes that again does
    not undo it.
    """
    return chosen is not None and (published is None or chosen >= published)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a change finds under the workflow's lock; no row: the workflow is new."""

    now: int  # the database's clock, and later than the newest properties
    row: WorkflowRow | None
    internal_id: int  # the one it has, or will have
    counts: RunCounts
    next_instance_id: int = 1  # ids of a workflow that was deleted are not used again


class WorkflowWrites(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """Everything that a change of a workflow writes, and the answer for its caller: decided above the store.

    row                 The workflow from now on.
    version             A new one, if there is one; its number is the row's `latest_version`.
    properties          Those of the row, if they are new. They hold from the `now` that was found.
    ..._triggers        If given, all that the workflow has from now on: one with a known id stays as it is
                        (what it took, when it is due), others go or are made.
    events              They become one `log` to the workflow's home group.
    """

    answer: A_co
    row: WorkflowRow
    version: WorkflowVersion | None = None
    properties: PropertiesSnapshot | None = None
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


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """How runs of all workflows ended from a time on."""

    begin: int
    statuses: Mapping[RunStatus, int]


class VersionHead(msgspec.Struct, frozen=True, kw_only=True):
    """What lists show of a version, without its steps."""

    name: str | None = None
    criticality: Criticality | None = None
    tags: tuple[Tag, ...] = ()
    time_triggers: int = 0
    signal_triggers: int = 0


class VersionKey(NamedTuple):
    """A version; with the internal id of its workflow it is never another one."""

    workflow_id: str
    internal_id: int
    version_id: int


class WorkflowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which workflows a list shows; all that is set must hold."""

    prefix: str = ""
    words: tuple[str, ...] = ()  # parts of the id, in any case
    owner: str | None = None
    tag: str | None = None  # of the properties, or of the definition of the default version
    active: bool | None = None  # whether a version is
    has: RunStatus | None = None  # some run is in this status; of those that ended, one since then
    since: int = 0


class Workflows(Protocol):
    """Versions never change once they are there. Deleted workflows are found by nobody."""

    async def change_workflow(self, workflow_id: str, decide: Callable[[Found], WorkflowWrites[A]]) -> A:
        """Lock a workflow, or the place of a new one, decide, and write: whole or not at all.

        `decide` is pure and may be asked again; what it raises is raised, and nothing is written then.
        Conflict: the workflow is being deleted.
        """
        ...

    async def delete_workflow(self, workflow_id: str, decide: Callable[[Found], ChangeEvent]) -> WorkflowRow:
        """Begin to delete a workflow: from now on nobody finds it, and its triggers are gone. `decide`
        refuses it, under the workflow's lock, or says which event tells of it.

        NotFound: there is none. Its rows go with `Retention.purge`; until then the id can not be published
        again. Instance ids go on where they ended.
        """
        ...

    async def workflow_rows(self, workflow_ids: Collection[str]) -> dict[str, WorkflowRow]:
        """These workflows, as far as they are there, in one statement. Only reads, as all that follow."""
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

    async def version_heads(self, versions: Collection[VersionKey]) -> dict[VersionKey, VersionHead]:
        """These versions, as far as they are there, in one statement and without their steps. They may be
        remembered: versions do not change.
        """
        ...

    async def unended(self, workflow_ids: Collection[str]) -> dict[str, dict[RunStatus, int]]:
        """How many runs of these workflows have not ended, by status; those without any are missing."""
        ...

    async def outcomes(self, workflow_ids: Sequence[str], since: int) -> list[Outcomes]:
        """How runs of these ended since a time, by workflow and hour, from counters: no run is read."""
        ...

    async def workflow_tags(self, prefix: str, *, most: int = 10) -> list[str]:
        """Tags of workflows that begin so, in their order: those that `WorkflowFilter.tag` finds."""
        ...

    async def totals(self, since: int, until: int, width: int = TOTALS_EVERY) -> list[Total]:
        """How runs of all workflows ended in this time, oldest first, from counters: no run is read. What was
        deleted since then counts, too. `since` and `width` are multiples of `TOTALS_EVERY`.
        """
        ...


async def read_workflow(workflows: Workflows, workflow_id: str) -> WorkflowRow | None:
    """One workflow."""
    return (await workflows.workflow_rows((workflow_id,))).get(workflow_id)
