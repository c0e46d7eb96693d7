"""Runs, attempts and loops for readers. Everything here only reads, and sees what is committed."""

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.status import RunStatus
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import AttemptRow, RunRow, StepState


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs a list shows; all that is set must hold. Times are of creation."""

    statuses: Collection[RunStatus] = ()
    since: int | None = None
    until: int | None = None  # not included
    workflow_id: str | None = None
    owner: str | None = None
    tag: str | None = None
    correlation_id: str | None = None
    roots: bool = False  # only runs that no step has started


class History(Protocol):
    """What happened. Iterations are runs of their loop's inline workflow, and found under its id."""

    async def run(self, key: RunKey) -> RunRow | None:
        """One run."""
        ...

    async def newest_run(self, workflow_id: str, instance_id: int) -> RunRow | None:
        """The run of an instance with the highest id."""
        ...

    async def instances(
        self, workflow_id: str, cut: Cut, statuses: Collection[RunStatus] = ()
    ) -> Slice[RunRow]:
        """The newest run of each instance, by instance id, newest first; of these, those in some status."""
        ...

    async def instance_ids(self, workflow_id: str) -> Span | None:
        """The lowest and the highest instance id that has a run."""
        ...

    async def runs_of(self, workflow_id: str, instance_id: int, cut: Cut) -> Slice[RunRow]:
        """The runs of an instance, by run id, newest first."""
        ...

    async def run_ids(self, workflow_id: str, instance_id: int) -> Span | None:
        """The lowest and the highest run id of an instance."""
        ...

    async def all_runs(self, cut: Cut, wanted: RunFilter) -> Slice[RunRow]:
        """Runs of all workflows but iterations, by (create time, run key), newest first."""
        ...

    async def recent(self, workflow_ids: Sequence[str], *, most: int = 14) -> dict[str, list[RunRow]]:
        """For each workflow its newest runs, newest first: by instance id and run id."""
        ...

    async def children(self, parent: AttemptKey, cut: Cut) -> Slice[RunRow]:
        """Runs that an attempt waits for, or waited for, by key; iterations are not among them."""
        ...

    async def attempt(self, key: AttemptKey) -> AttemptRow | None:
        """One attempt."""
        ...

    async def attempts(self, run: RunKey, step_id: str) -> list[AttemptRow]:
        """All attempts of a step in a run, by number."""
        ...

    async def newest_attempts(self, run: RunKey) -> list[AttemptRow]:
        """The newest attempt of each step in a run, by sequence."""
        ...

    async def step_states(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepState]]:
        """The newest attempt of each step in each of these runs, by sequence: from columns alone, and in one
        statement. Runs without attempts are missing.
        """
        ...

    async def newest_of_step(self, runs: Collection[RunKey], step_id: str) -> dict[RunKey, AttemptRow]:
        """The newest attempt of a step in each of these runs, in one statement; others are missing."""
        ...

    async def newest_in_instance(
        self, workflow_id: str, instance_id: int, step_id: str | None = None
    ) -> list[AttemptRow]:
        """The newest attempt of each step, or of one, in the newest run that has it, by sequence."""
        ...

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        """The loops of a run, of all attempts, by attempt."""
        ...
