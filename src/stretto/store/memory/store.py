"""All concerns of the memory store, joined."""

from stretto.store.memory.approvals import MemoryApprovals
from stretto.store.memory.breakpoints import MemoryBreakpoints
from stretto.store.memory.bulk import MemoryBulks
from stretto.store.memory.commits import MemoryCommits
from stretto.store.memory.events import MemoryEvents
from stretto.store.memory.functions import MemoryFunctions
from stretto.store.memory.history import MemoryHistory
from stretto.store.memory.leases import MemoryGroups
from stretto.store.memory.loading import MemoryLoading
from stretto.store.memory.outbox import MemoryOutbox
from stretto.store.memory.permits import MemoryPermits
from stretto.store.memory.retention import MemoryRetention
from stretto.store.memory.run_snapshots import MemoryRunSnapshots
from stretto.store.memory.runs import MemoryRuns
from stretto.store.memory.signals import MemorySignals
from stretto.store.memory.templates import MemoryTemplates
from stretto.store.memory.triggers import MemoryTriggers
from stretto.store.memory.views import MemoryViews
from stretto.store.memory.work import MemoryPools
from stretto.store.memory.workflows import MemoryWorkflows


class MemoryStore(
    MemoryApprovals,
    MemoryBreakpoints,
    MemoryBulks,
    MemoryCommits,
    MemoryEvents,
    MemoryFunctions,
    MemoryGroups,
    MemoryHistory,
    MemoryLoading,
    MemoryOutbox,
    MemoryPermits,
    MemoryPools,
    MemoryRetention,
    MemoryRuns,
    MemoryRunSnapshots,
    MemorySignals,
    MemoryTemplates,
    MemoryTriggers,
    MemoryViews,
    MemoryWorkflows,
):
    """A handle to a database. See `ports.store`."""

    async def now(self) -> int:
        with self._db.transaction() as now:
            return now

    async def probe(self) -> None:
        """Memory is always there."""

    async def close(self) -> None:
        """There is nothing to let go of: the database lives as long as somebody holds it."""
