"""Many runs at once for live views: from columns, never from the documents of runs and attempts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunGlance, StepState
from stretto.ports.run_snapshot import InstancePage, NamedRuns


class RunsByNumber(NamedTuple):
    """The runs of a workflow, or the iterations of a loop, by (instance id, run id), newest first."""

    workflow_id: str
    cut: Cut


class RecentRuns(NamedTuple):
    """Of each of these workflows its newest runs: by workflow, newest first."""

    workflow_ids: Sequence[str]
    most: int = 14


class NewestIn(NamedTuple):
    """The newest runs in a status that were created since a time, newest first; no iterations. Who has no use
    for summaries gets none.
    """

    status: RunStatus
    since: int = 0
    most: int = 1_000
    summaries: bool = True


class EndedSince(NamedTuple):
    """The runs of a workflow that ended since a time, the newest end first; not more than so many."""

    workflow_id: str
    since: int
    most: int


GlanceSelection = NamedRuns | InstancePage | RunsByNumber | RecentRuns | NewestIn | EndedSince


def by_workflow(found: Iterable[RunGlance]) -> dict[str, list[RunGlance]]:
    """Runs by the workflows that they are of."""
    grouped: dict[str, list[RunGlance]] = {}
    for each in found:
        grouped.setdefault(each.key.workflow_id, []).append(each)
    return grouped


class BucketCount(NamedTuple):
    """How many iterations of those with numbers from `first` on are in a status."""

    first: int
    status: RunStatus
    number: int


class StepTime(NamedTuple):
    """How the newest attempt of a step ended, or stands, and how long it took from its start to its end."""

    step_id: str
    status: StepStatus
    took: int | None


StepMark = tuple[str, int, str, int | None, int | None, str | None]
"""The newest attempt of a step, often one of thousands, as it comes from the database: the id of the step,
the number of the attempt, its status, when it began and ended, and the workflow that it runs, if it runs one.
"""


class StepMarks(NamedTuple):
    """The steps of a run by their ids; and more of those that have iterations or runs below them."""

    newest: Mapping[str, StepMark]
    below: Mapping[str, StepState]


class Views(Protocol):
    """Reads that grow with what is seen, not with what is kept."""

    async def glances(self, selection: GlanceSelection) -> Slice[RunGlance]:
        """The selected runs; those that are named come in any order."""
        ...

    async def step_marks(self, run: RunKey) -> StepMarks:
        """The newest attempt of each step in a run. It may have thousands: no record is made for each."""
        ...

    async def status_counts(self, runs: Collection[RunKey]) -> dict[RunKey, dict[StepStatus, int]]:
        """How many steps of these runs are in which status, in one statement that counts where they are."""
        ...

    async def iteration_counts(
        self, workflow_id: str, width: int, *, run_id: int | None = None
    ) -> list[BucketCount]:
        """The iterations of a loop, counted in buckets of so many numbers, by their newest runs; with a run
        id: all have run once, with this one. No more is read than there are buckets and statuses.
        """
        ...

    async def step_times(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepTime]]:
        """The steps of each of these runs that were created, in one statement and in no order. Runs without
        attempts are missing.
        """
        ...
