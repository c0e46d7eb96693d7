"""All concerns of a store on a database, joined."""

from collections.abc import Sequence
from typing import Final

from stretto.store.settings import DatabaseSettings
from stretto.store.sql.approvals import SqlApprovals
from stretto.store.sql.breakpoints import SqlBreakpoints
from stretto.store.sql.bulk import SqlBulks
from stretto.store.sql.commits import SqlCommits
from stretto.store.sql.database import Database, Transaction
from stretto.store.sql.events import SqlEvents
from stretto.store.sql.functions import SqlFunctions
from stretto.store.sql.groups import SqlGroups
from stretto.store.sql.history import SqlHistory
from stretto.store.sql.loading import SqlLoading
from stretto.store.sql.outbox import SqlOutbox
from stretto.store.sql.part import DEFAULTS
from stretto.store.sql.permits import SqlPermits
from stretto.store.sql.publishing import COUNT_UP, MAKE_COUNTER
from stretto.store.sql.read_batcher import ReadBatcher
from stretto.store.sql.retention import SqlRetention
from stretto.store.sql.run_snapshots import SqlRunSnapshots
from stretto.store.sql.runs import SqlRuns
from stretto.store.sql.signals import SqlSignals
from stretto.store.sql.templates import SqlTemplates
from stretto.store.sql.triggers import SqlTriggers
from stretto.store.sql.views import SqlViews
from stretto.store.sql.work import SqlPools
from stretto.store.sql.workflows import SqlWorkflows

PROBE: Final = "probe"  # the counter that probes write to


class SqlStore(
    SqlApprovals,
    SqlBreakpoints,
    SqlBulks,
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
    SqlRunSnapshots,
    SqlSignals,
    SqlTemplates,
    SqlTriggers,
    SqlViews,
    SqlWorkflows,
):
    """A handle to a database. See `ports.store`."""

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        super().__init__(database, settings)
        self._times_wanted = ReadBatcher(self._times)

    async def now(self) -> int:
        return await self._times_wanted.ask(None)

    async def _times(self, asked: Sequence[None]) -> list[int]:
        async def work(tx: Transaction) -> int:
            return await tx.now()

        return [await self._look(work)] * len(asked)

    async def probe(self) -> None:
        async def work(tx: Transaction) -> None:
            await tx.run(MAKE_COUNTER, name=PROBE, next_value=0)
            await tx.run(COUNT_UP, name=PROBE, next_value=await tx.now())

        await self._db.examine()
        await self._db.write(work)

    async def close(self) -> None:
        await self._db.close()
