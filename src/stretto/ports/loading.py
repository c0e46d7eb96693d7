"""What an owner reads after it has claimed a group."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.status import RunStatus
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.ports.work import Work


class RunDue(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a group, as little of it as an owner needs to decide whether to load it."""

    key: RunKey
    phase: Phase
    due_at: int | None = None


class GroupRows(msgspec.Struct, frozen=True, kw_only=True):
    """A group at a glance. Messages are fetched afterwards, so that none is older than what was read here."""

    runs: tuple[RunDue, ...]  # ADMITTED and LIVE, no iterations, none in quarantine; by key
    seq: int  # of the newest row of its change log; 0: none
    work: tuple[Work, ...]  # of attempts of these runs, taken or not


class FlowRows(msgspec.Struct, frozen=True, kw_only=True):
    """A run with everything that is alive in it: `Flow.load` makes the flow of it that was committed.

    `attempts` are the newest of each step, of the run and of its live iterations. `loops` belong to attempts
    among them that have not ended. How many iterations of each loop have ended is counted from their rows:
    what the loop's row says of it is a cache.
    """

    run: RunRow
    iterations: tuple[RunRow, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    loops: tuple[LoopRecord, ...] = ()
    ended: Mapping[AttemptKey, Mapping[RunStatus, int]] = {}
    granted: frozenset[AttemptKey] = frozenset()  # those whose permits were all granted


class Loading(Protocol):
    """Reads of owners. The entry of a run is made before its read is sent, so that messages wait in it."""

    async def load_groups(self, groups: Sequence[int]) -> list[GroupRows]:
        """Groups, in this order. Call it after their claims have returned: the last commits of the owners
        before are in it.
        """
        ...

    async def load_flows(self, runs: Sequence[RunKey]) -> list[FlowRows]:
        """Runs with their live iterations, each as of one moment; unknown ones are left out."""
        ...

    async def release_run(self, run: RunKey) -> bool:
        """Let a quarantined run be loaded again, and send its owner a `log` that makes it look.

        False: it is not there, or not in quarantine.
        """
        ...
