"""Workflows: versions, properties, activation, deletion."""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot
from stretto.model.status import RunStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import WorkflowVersion
from stretto.ports.paging import Cut, Slice
from stretto.ports.workflows import Change, Found, Outcomes, Overview, WorkflowFilter, WorkflowRow
from stretto.store.sql.codec import PROPERTIES, VERSION, WORKFLOW_CHANGE
from stretto.store.sql.counting import counts_of
from stretto.store.sql.database import Transaction
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.publishing import change, delete
from stretto.store.sql.rows.runs import prefixed
from stretto.store.sql.rows.workflows import ENDS, ROW, outcomes_from, workflow_row
from stretto.store.sql.statement import TEXT, Statement, texts

A = TypeVar("A")

LAST: Final = "\U0010ffff"  # no text that begins with a prefix comes after the prefix and this

ALIVE: Final = "SELECT 1 FROM workflow WHERE workflow.workflow_id = :workflow_id AND state = 'ALIVE'"
ONE: Final = Statement(f"SELECT {ROW} FROM workflow WHERE workflow_id = :workflow_id AND state = 'ALIVE'")
SEVERAL: Final = Statement(
    lambda d: (
        f"SELECT {ROW} FROM workflow WHERE {d.among('workflow_id', 'workflow_ids', TEXT)} "
        "AND state = 'ALIVE' ORDER BY workflow_id"
    )
)
VERSION_OF: Final = Statement(
    "SELECT doc FROM workflow_version WHERE workflow_id = :workflow_id AND version_id = :version_id "
    f"AND EXISTS ({ALIVE})"
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
    "AND lane IN ('QUEUED', 'ADMITTED', 'LIVE') GROUP BY status"
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


class SqlWorkflows(Part):
    """See `ports.workflows`."""

    async def change_workflow(self, workflow_id: str, decide: Callable[[Found], Change[A]]) -> A:
        async def work(tx: Transaction) -> A:
            return await change(tx, workflow_id, decide)

        return await self._db.write(work)

    async def delete_workflow(
        self, workflow_id: str, event: Callable[[WorkflowRow], ChangeEvent]
    ) -> WorkflowRow:
        async def work(tx: Transaction) -> WorkflowRow:
            return await delete(tx, workflow_id, event)

        return await self._db.write(work)

    async def workflow(self, workflow_id: str) -> WorkflowRow | None:
        async def work(tx: Transaction) -> WorkflowRow | None:
            return await read_workflow(tx, workflow_id)

        return await self._look(work)

    async def workflow_rows(self, workflow_ids: Collection[str]) -> dict[str, WorkflowRow]:
        async def work(tx: Transaction) -> dict[str, WorkflowRow]:
            rows = await tx.all(SEVERAL, workflow_ids=sorted(set(workflow_ids)))
            return {row[0]: workflow_row(row) for row in rows}

        return await self._look(work)

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        async def work(tx: Transaction) -> WorkflowVersion | None:
            row = await tx.one(VERSION_OF, workflow_id=workflow_id, version_id=version_id)
            return None if row is None else VERSION.read(row[0])

        return await self._db.look(work)

    async def versions(self, workflow_id: str, cut: Cut) -> Slice[WorkflowVersion]:
        async def work(tx: Transaction) -> Slice[WorkflowVersion]:
            page = await VERSIONS.page(tx, cut, workflow_id=workflow_id)
            return page.of(lambda row: VERSION.read(row[1]))

        return await self._db.read(work)

    async def properties_history(self, workflow_id: str, cut: Cut) -> Slice[PropertiesSnapshot]:
        async def work(tx: Transaction) -> Slice[PropertiesSnapshot]:
            page = await HISTORY.page(tx, cut, workflow_id=workflow_id)
            return page.of(lambda row: PROPERTIES.read(row[1]))

        return await self._db.read(work)

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
        listing = _listing(
            prefix=bool(wanted.prefix), owner=wanted.owner is not None, tag=wanted.tag is not None
        )
        values = {
            "prefix": wanted.prefix,
            "prefix_end": wanted.prefix + LAST,
            "owner": wanted.owner,
            "tag": wanted.tag,
        }

        async def work(tx: Transaction) -> Slice[WorkflowRow]:
            return (await listing.page(tx, cut, **values)).of(workflow_row)

        return await self._db.read(work)

    async def outcomes(self, workflow_ids: Sequence[str], since: int) -> list[Outcomes]:
        async def work(tx: Transaction) -> list[Outcomes]:
            named = [(each,) for each in sorted(set(workflow_ids))]
            rows = await tx.all(OUTCOMES, named=named, since=since)
            return [outcomes_from(row) for row in rows]

        return await self._db.look(work)


async def read_workflow(tx: Transaction, workflow_id: str) -> WorkflowRow | None:
    """A workflow that is there and not being deleted."""
    row = await tx.one(ONE, workflow_id=workflow_id)
    return None if row is None else workflow_row(row)


@lru_cache
def _listing(*, prefix: bool, owner: bool, tag: bool) -> Listing:
    """Workflows by id; what is not asked for is not looked at."""
    first = source = "workflow"
    state, owner_of = "state", "owner"
    if tag:  # in words that keep a database from beginning with all workflows
        first, state, owner_of = "workflow_tag", "COALESCE(state, '')", "COALESCE(owner, '')"
        source = "workflow_tag LEFT JOIN workflow ON workflow.workflow_id = workflow_tag.workflow_id"
    asked = {
        "workflow_tag.tag = :tag": tag,
        f"{state} = 'ALIVE'": True,
        f"{owner_of} = :owner": owner,
    }
    conditions = " AND ".join(text for text, wanted in asked.items() if wanted)
    bounds = [f"{first}.workflow_id {sign}" for sign in (">= :prefix", "< :prefix_end")] if prefix else []
    columns = prefixed(ROW, "workflow")
    return Listing(columns, f"{source} WHERE {conditions}", [f"{first}.workflow_id"], bounds=bounds)
