"""Workflows: versions, properties, activation, deletion."""

from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeVar

from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot
from stretto.model.status import RunStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import WorkflowVersion
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Phase
from stretto.ports.run_snapshot import VersionNumber
from stretto.ports.workflows import (
    TOTALS_EVERY,
    Found,
    Outcomes,
    Overview,
    Total,
    VersionHead,
    VersionKey,
    WorkflowFilter,
    WorkflowRow,
    WorkflowWrites,
)
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.codec import PROPERTIES, VERSION, WORKFLOW_CHANGE
from stretto.store.sql.counting import counts_of
from stretto.store.sql.database import Database, Transaction
from stretto.store.sql.paging import Listing
from stretto.store.sql.params import Recent
from stretto.store.sql.part import DEFAULTS, FEW, Part
from stretto.store.sql.publishing import change, delete
from stretto.store.sql.read_batcher import ReadBatcher
from stretto.store.sql.rows.runs import PAUSED_LANE
from stretto.store.sql.rows.workflows import (
    ALL_WORKFLOWS,
    ENDS,
    ROW,
    outcomes_from,
    total_from,
    version_head,
    workflow_row,
)
from stretto.store.sql.statement import TEXT, Row, Statement, texts
from stretto.store.sql.versions import VERSIONS_NAMED
from stretto.store.sql.workflow_lists import LAST, asked_of, listing, values_of

A = TypeVar("A")

MOST_HEADS: Final = 4_096  # versions whose heads are remembered: their documents may be large

ALIVE: Final = "SELECT 1 FROM workflow WHERE workflow.workflow_id = :workflow_id AND state = 'ALIVE'"
ONE: Final = Statement(f"SELECT {ROW} FROM workflow WHERE workflow_id = :workflow_id AND state = 'ALIVE'")
SEVERAL: Final = Statement(
    lambda d: (
        f"SELECT {ROW} FROM workflow WHERE {d.among('workflow_id', 'workflow_ids', TEXT)} "
        "AND state = 'ALIVE' ORDER BY workflow_id"
    )
)
VERSIONS: Final = Listing(
    "version_id, doc",
    f"workflow_version WHERE workflow_id = :workflow_id AND EXISTS ({ALIVE})",
    ["version_id"],
    newest_first=True,
)
HISTORY: Final = Listing(
    "create_time, doc",
    f"properties WHERE workflow_id = :workflow_id AND EXISTS ({ALIVE})",
    ["create_time"],
    newest_first=True,
)
TIMELINE: Final = Statement(
    f"SELECT doc FROM workflow_change WHERE workflow_id = :workflow_id AND EXISTS ({ALIVE}) "
    "ORDER BY place DESC LIMIT :most"
)
STATUSES: Final = Statement(
    "SELECT status, COUNT(*) FROM run WHERE workflow_id = :workflow_id "
    "AND lane IN ('QUEUED', 'PAUSED', 'ADMITTED', 'LIVE') GROUP BY status"
)
NEWEST_INSTANCE: Final = Statement("SELECT MAX(instance_id) FROM run WHERE workflow_id = :workflow_id")
_NAMED: Final = texts("workflow_id")
OUTCOMES: Final = Statement(
    lambda d: (
        f"SELECT outcome.workflow_id, hour, {', '.join(f'SUM({column})' for column in ENDS.values())} "
        f"FROM {d.listed('named', _NAMED)} named "  # PostgreSQL would begin with all hours, if it could
        "JOIN outcome ON outcome.workflow_id = named.workflow_id AND hour >= :since "
        "GROUP BY outcome.workflow_id, hour ORDER BY outcome.workflow_id, hour"
    )
)
TOTALS: Final = Statement(
    f"SELECT begin_at, {', '.join(f'SUM({column})' for column in ENDS.values())} FROM ("
    f"SELECT hour - ((hour - :since) % :width) AS begin_at, {', '.join(ENDS.values())} FROM outcome "
    f"WHERE workflow_id = '{ALL_WORKFLOWS}' AND hour >= :since AND hour < :until) found "
    "GROUP BY begin_at ORDER BY begin_at"
)
# From one tag to the next: each may be that of many workflows.
FIRST_TAG: Final = Statement("SELECT MIN(tag) FROM workflow_tag WHERE tag >= :prefix AND tag < :prefix_end")
NEXT_TAG: Final = Statement("SELECT MIN(tag) FROM workflow_tag WHERE tag > :after AND tag < :prefix_end")
# Each lane is named: to find several, MariaDB looks at every run of a workflow.
_LANES: Final = (*(phase for phase in Phase if phase is not Phase.ENDED), PAUSED_LANE)
_LANE: Final = texts("workflow_id", "lane")
UNENDED: Final = Statement(
    lambda d: (
        f"SELECT run.workflow_id, run.status, COUNT(*) FROM {d.listed('lanes', _LANE)} named "
        "JOIN run ON run.workflow_id = named.workflow_id AND run.lane = named.lane "
        "GROUP BY run.workflow_id, run.status"
    )
)


class SqlWorkflows(Part):
    """See `ports.workflows`."""

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        super().__init__(database, settings)
        self._rows_wanted = ReadBatcher(self._rows_of)
        self._versions_wanted = ReadBatcher(self._versions_of)
        self._heads: Recent[VersionKey, VersionHead] = Recent(MOST_HEADS)

    async def change_workflow(self, workflow_id: str, decide: Callable[[Found], WorkflowWrites[A]]) -> A:
        async def work(tx: Transaction) -> A:
            return await change(tx, workflow_id, decide)

        return await self._db.write(work)

    async def delete_workflow(self, workflow_id: str, decide: Callable[[Found], ChangeEvent]) -> WorkflowRow:
        async def work(tx: Transaction) -> WorkflowRow:
            return await delete(tx, workflow_id, decide)

        return await self._db.write(work)

    async def workflow_rows(self, workflow_ids: Collection[str]) -> dict[str, WorkflowRow]:
        return await self._rows_wanted.ask(frozenset(workflow_ids))

    async def _rows_of(self, asked: Sequence[frozenset[str]]) -> list[dict[str, WorkflowRow]]:
        async def work(tx: Transaction) -> list[dict[str, WorkflowRow]]:
            rows = {
                row[0]: row for row in await tx.all(SEVERAL, workflow_ids=sorted(frozenset().union(*asked)))
            }
            return [{each: workflow_row(rows[each]) for each in ids if each in rows} for ids in asked]

        return await self._look(work)

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        return await self._versions_wanted.ask((workflow_id, version_id))

    async def _versions_of(self, keys: Sequence[VersionNumber]) -> list[WorkflowVersion | None]:
        async def work(tx: Transaction) -> tuple[Sequence[Row], list[WorkflowVersion]]:
            rows = await tx.all(VERSIONS_NAMED, versions=sorted(set(keys)))
            return rows, await self._versions.of(tx, rows)

        rows, versions = await self._look(work)
        self._versions.note(rows, versions)
        found = {(row[0], row[1]): version for row, version in zip(rows, versions, strict=True)}
        return [found.get(key) for key in keys]

    async def versions(self, workflow_id: str, cut: Cut) -> Slice[WorkflowVersion]:
        async def work(tx: Transaction) -> Slice[WorkflowVersion]:
            page = await VERSIONS.page(tx, cut, workflow_id=workflow_id)
            return await page.decoded(tx, lambda row: VERSION.read(row[1]))

        return await self._db.read(work)

    async def properties_history(self, workflow_id: str, cut: Cut) -> Slice[PropertiesSnapshot]:
        async def work(tx: Transaction) -> Slice[PropertiesSnapshot]:
            page = await HISTORY.page(tx, cut, workflow_id=workflow_id)
            return page.of(lambda row: PROPERTIES.read(row[1]))

        return await (self._read(work) if cut.most <= FEW else self._db.read(work))

    async def workflow_timeline(self, workflow_id: str, *, most: int = 300) -> list[WorkflowChange]:
        async def work(tx: Transaction) -> list[WorkflowChange]:
            rows = await tx.all(TIMELINE, workflow_id=workflow_id, most=most)
            return [WORKFLOW_CHANGE.read(row[0]) for row in rows]

        return await self._db.look(work)

    async def workflow_overview(self, workflow_id: str) -> Overview | None:
        async def work(tx: Transaction) -> Overview | None:
            row = await read_workflow(tx, workflow_id)
            if row is None:
                return None
            found = await tx.all(STATUSES, workflow_id=workflow_id)
            newest = await tx.one(NEWEST_INSTANCE, workflow_id=workflow_id)
            return Overview(
                row=row,
                statuses={RunStatus(status): count for status, count in found},
                failed=(await counts_of(tx, workflow_id)).failed,
                latest_instance_id=newest[0] if newest else None,
            )

        return await self._db.read(work)

    async def workflows(self, cut: Cut, wanted: WorkflowFilter) -> Slice[WorkflowRow]:
        chosen, values = listing(*asked_of(wanted)), values_of(wanted)

        async def work(tx: Transaction) -> Slice[WorkflowRow]:
            return (await chosen.page(tx, cut, **values)).of(workflow_row)

        return await self._db.read(work)

    async def version_heads(self, versions: Collection[VersionKey]) -> dict[VersionKey, VersionHead]:
        async def work(tx: Transaction) -> Sequence[Row]:
            return await tx.all(VERSIONS_NAMED, versions=sorted(asked))

        asked = {(key.workflow_id, key.version_id): key for key in versions if key not in self._heads}
        for workflow_id, version_id, doc in await self._db.look(work) if asked else ():
            self._heads.note(asked[workflow_id, version_id], version_head(doc))
        return {key: self._heads[key] for key in versions if key in self._heads}

    async def unended(self, workflow_ids: Collection[str]) -> dict[str, dict[RunStatus, int]]:
        async def work(tx: Transaction) -> dict[str, dict[RunStatus, int]]:
            found: dict[str, dict[RunStatus, int]] = {}
            lanes = [(each, lane) for each in sorted(set(workflow_ids)) for lane in _LANES]
            for workflow_id, status, count in await tx.all(UNENDED, lanes=lanes):
                found.setdefault(workflow_id, {})[RunStatus(status)] = count
            return found

        return await self._db.look(work)

    async def outcomes(self, workflow_ids: Sequence[str], since: int) -> list[Outcomes]:
        async def work(tx: Transaction) -> list[Outcomes]:
            named = [(each,) for each in sorted(set(workflow_ids))]
            rows = await tx.all(OUTCOMES, named=named, since=since)
            return [outcomes_from(row) for row in rows]

        return await self._db.look(work)

    async def workflow_tags(self, prefix: str, *, most: int = 10) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            found: list[str] = []
            row = await tx.one(FIRST_TAG, prefix=prefix, prefix_end=prefix + LAST)
            while row is not None and row[0] is not None and len(found) < most:
                found.append(row[0])
                row = await tx.one(NEXT_TAG, after=row[0], prefix_end=prefix + LAST)
            return found

        return await self._db.read(work)

    async def totals(self, since: int, until: int, width: int = TOTALS_EVERY) -> list[Total]:
        async def work(tx: Transaction) -> list[Total]:
            rows = await tx.all(TOTALS, since=since, until=until, width=width)
            return [total_from(row) for row in rows]

        return await self._db.look(work)


async def read_workflow(tx: Transaction, workflow_id: str) -> WorkflowRow | None:
    """A workflow that is there and not being deleted."""
    row = await tx.one(ONE, workflow_id=workflow_id)
    return None if row is None else workflow_row(row)
