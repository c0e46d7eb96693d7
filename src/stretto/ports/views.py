"""Many runs at once for live views: from columns, never from the documents of runs and attempts."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunGlance, StepState


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

    async def glances(self, runs: Collection[RunKey]) -> dict[RunKey, RunGlance]:
        """These runs, in one statement; those that are not there are missing."""
        ...

    async def step_marks(self, run: RunKey) -> StepMarks:
        """The newest attempt of each step in a run. It may have thousands: no record is made for each."""
        ...

    async def glances_of(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        """The runs of a workflow by (instance id, run id), newest first; of a loop: its iterations."""
        ...

    async def glances_of_instances(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        """The newest run of each instance of a workflow, or of each iteration of a loop, by instance id,
        newest first.
        """
        ...

    async def step_statuses(self, runs: Collection[RunKey]) -> dict[RunKey, dict[str, StepStatus]]:
        """In which status each step of these runs is that was created, in one statement. Runs without
        attempts are missing.
        """
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

    async def ended_since(self, workflow_id: str, since: int, *, most: int) -> list[RunGlance]:
        """The runs of a workflow that ended since a time, the newest end first; not more than so many."""
        ...

    async def step_times(self, runs: Collection[RunKey]) -> list[StepTime]:
        """The steps of all these runs, in one statement and in no order."""
        ...
