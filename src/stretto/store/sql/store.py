"""All concerns of a store on a database, joined."""

from stretto.store.sql.breakpoints import SqlBreakpoints
from stretto.store.sql.commits import SqlCommits
from stretto.store.sql.database import Transaction
from stretto.store.sql.events import SqlEvents
from stretto.store.sql.functions import SqlFunctions
from stretto.store.sql.groups import SqlGroups
from stretto.store.sql.history import SqlHistory
from stretto.store.sql.loading import SqlLoading
from stretto.store.sql.outbox import SqlOutbox
from stretto.store.sql.permits import SqlPermits
from stretto.store.sql.retention import SqlRetention
from stretto.store.sql.runs import SqlRuns
from stretto.store.sql.signals import SqlSignals
from stretto.store.sql.templates import SqlTemplates
from stretto.store.sql.triggers import SqlTriggers
from stretto.store.sql.work import SqlPools
from stretto.store.sql.workflows import SqlWorkflows


class SqlStore(
    SqlBreakpoints,
    SqlCommits,
    SqlEvents,
    SqlFunctions,
    SqlGroups,
    SqlHistory,
    SqlLoading,
    SqlOutbox,
    SqlPermits,
    SqlPools,
    SqlRetention,
    SqlRuns,
    SqlSignals,
    SqlTemplates,
    SqlTriggers,
    SqlWorkflows,
):
    """A handle to a database. See `ports.store`."""

    async def now(self) -> int:
        async def work(tx: Transaction) -> int:
            return await tx.now()

        return await self._look(work)

    async def close(self) -> None:
        await self._db.close()
