"""Snapshots of runs for views: each turn of the plan is one statement, in one transaction."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from stretto.engine.inline_ids import is_inline
from stretto.model.workflow import WorkflowVersion
from stretto.ports.loading import FlowRows
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import (
    WITH_STEPS,
    FoundSteps,
    Heads,
    InstancePage,
    NamedRuns,
    NewestRun,
    PropertiesTime,
    RunDetail,
    RunPage,
    RunRange,
    RunSelection,
    RunSnapshot,
    VersionNumber,
    WantedSteps,
)
from stretto.store.run_snapshots import take_snapshot
from stretto.store.sql.codec import LOOP, PROPERTIES
from stretto.store.sql.database import Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.history import (
    INSTANCE_SPAN,
    MORE,
    NEWEST,
    NEWEST_OF_EACH,
    OF_INSTANCE,
    RUN_SPAN,
    span_from,
)
from stretto.store.sql.large import filled, filled_runs
from stretto.store.sql.loading import NEWEST_OF_RUNS, RUNS, flows_of
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.rows.attempts import ROW as ATTEMPT_ROW
from stretto.store.sql.rows.attempts import attempt_row
from stretto.store.sql.rows.keys import flat, of_run
from stretto.store.sql.rows.runs import ROW, prefixed, run_row
from stretto.store.sql.statement import ATTEMPT_KEY, RUN_KEY, Row, Statement, ints, names_of, same, texts
from stretto.store.sql.versions import OF_VERSIONS, VERSION_KEY, KnownVersions

INSTANCES: Final = Listing(
    f"{ROW}, (SELECT MIN(other.instance_id) FROM run other WHERE other.workflow_id = :workflow_id), "
    "(SELECT MAX(other.instance_id) FROM run other WHERE other.workflow_id = :workflow_id)",
    f"run WHERE workflow_id = :workflow_id AND {NEWEST_OF_EACH}",
    ["instance_id"],
    newest_first=True,
)
_SAME_INSTANCE: Final = "other.workflow_id = :workflow_id AND other.instance_id = :instance_id"
RUNS_OF: Final = Listing(
    f"{ROW}, (SELECT MIN(other.run_id) FROM run other WHERE {_SAME_INSTANCE}), "
    f"(SELECT MAX(other.run_id) FROM run other WHERE {_SAME_INSTANCE})",
    f"run WHERE {OF_INSTANCE}",
    ["run_id"],
    newest_first=True,
)
RANGE: Final = (*texts("workflow_id"), *ints("instance_id", "lowest", "highest"))
RANGES: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ROW, 'run')} FROM {d.listed('ranges', RANGE)} named "
        "JOIN run ON run.workflow_id = named.workflow_id AND run.instance_id = named.instance_id "
        "AND run.run_id BETWEEN named.lowest AND named.highest"
    )
)
NEWEST_ATTEMPT, NAMED_ATTEMPT, LOOP_ROW = range(3)  # kinds of rows, in their last column
STEPS: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ATTEMPT_ROW, 'attempt')}, {NEWEST_ATTEMPT} AS kind "
        f"FROM {d.listed('runs', RUN_KEY)} named JOIN {NEWEST_OF_RUNS} "
        f"UNION ALL SELECT {prefixed(ATTEMPT_ROW, 'attempt')}, {NAMED_ATTEMPT} "
        f"FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN attempt ON {same(ATTEMPT_KEY, 'attempt', 'named')} "
        f"UNION ALL SELECT {names_of(ATTEMPT_KEY, 'run_loop.')}, run_loop.doc, NULL, NULL, {LOOP_ROW} "
        f"FROM {d.listed('loops', RUN_KEY)} named JOIN run_loop ON {same(RUN_KEY, 'run_loop', 'named')}"
    )
)
PROPERTIES_KEY: Final = (*texts("workflow_id"), *ints("create_time"))
HEADS: Final = Statement(
    lambda d: (
        "SELECT named.workflow_id, named.version_id, workflow_version.doc, workflow.internal_id, "
        f"1 AS is_version FROM {d.listed('versions', VERSION_KEY)} named {OF_VERSIONS} "
        "UNION ALL SELECT named.workflow_id, named.create_time, properties.doc, workflow.internal_id, 0 "
        f"FROM {d.listed('properties', PROPERTIES_KEY)} named "
        "JOIN workflow ON workflow.workflow_id = named.workflow_id AND workflow.state = 'ALIVE' "
        f"JOIN properties ON {same(PROPERTIES_KEY, 'properties', 'named')}"
    )
)


class SqlRunSnapshots(Part):
    """See `ports.run_snapshot`."""

    async def read_runs(self, selection: RunSelection, detail: RunDetail = WITH_STEPS) -> RunSnapshot:
        async def work(tx: Transaction) -> tuple[RunSnapshot, _Rows]:
            rows = _Rows(tx, self._versions)
            return await take_snapshot(rows, selection, detail), rows

        small = await self._is_brief(selection, detail)
        snapshot, rows = await (self._read(work) if small else self._db.read(work))
        rows.remember()
        return snapshot

    async def _is_brief(self, selection: RunSelection, detail: RunDetail) -> bool:
        """Whether so little is read that it is done in the event loop, where that can be: a first run that no
        step started, with few attempts.
        """
        if self._quick is None or detail.below != () or not isinstance(selection, NamedRuns):
            return False
        if len(selection.keys) != 1:
            return False
        (key,) = selection.keys
        if key.run_id != 1 or is_inline(key.workflow_id):
            return False

        async def work(tx: Transaction) -> bool:
            return await tx.one(MORE, **of_run(key)) is None

        return await self._look(work)


class _Rows:
    """See `SnapshotSource`."""

    def __init__(self, tx: Transaction, versions: KnownVersions) -> None:
        self._tx = tx
        self._known = versions
        self._read: tuple[Sequence[Row], Sequence[WorkflowVersion]] = ((), ())

    async def page(self, selection: RunSelection) -> tuple[Slice[RunRow], Span | None]:
        match selection:
            case NamedRuns(keys):
                rows = await self._tx.all(RUNS, runs=sorted(set(keys)))
                return Slice(elements=tuple(await self._decoded(rows))), None
            case NewestRun():
                rows = await self._tx.all(NEWEST, **selection._asdict())
                return Slice(elements=tuple(await self._decoded(rows))), None
            case InstancePage(workflow_id, cut):
                number = itemgetter(1)
                return await self._page(INSTANCES, INSTANCE_SPAN, cut, number, workflow_id=workflow_id)
            case RunPage(workflow_id, instance_id, cut):
                instance = {"workflow_id": workflow_id, "instance_id": instance_id}
                return await self._page(RUNS_OF, RUN_SPAN, cut, itemgetter(2), **instance)

    async def _page(
        self, listing: Listing, spanned: Statement, cut: Cut, number: Callable[[Row], int], **values: Any
    ) -> tuple[Slice[RunRow], Span | None]:
        """The rows of a list come with its span, but for an empty page."""
        page = await listing.one_sided_page(self._tx, cut, **values)
        if not page.rows:
            return Slice(), span_from(await self._tx.one(spanned, **values))
        first, last = page.rows[0], page.rows[-1]
        span = Span(*first[-2:])
        rows = await self._decoded([row[:-2] for row in page.rows])
        before, after = number(first) < span.highest, number(last) > span.lowest
        return Slice(elements=tuple(rows), before=before, after=after), span

    async def runs(self, ranges: Sequence[RunRange]) -> list[RunRow]:
        return await self._decoded(await self._tx.all(RANGES, ranges=list(ranges)))

    async def steps(self, wanted: WantedSteps) -> FoundSteps:
        rows = await self._tx.all(
            STEPS, runs=wanted.runs, attempts=[flat(key) for key in wanted.attempts], loops=wanted.loops
        )
        kinds: dict[int, list[Row]] = {NEWEST_ATTEMPT: [], NAMED_ATTEMPT: [], LOOP_ROW: []}
        for kind, some in groupby(rows, key=itemgetter(-1)):
            kinds[kind] += some
        attempts = await filled(self._tx, "attempt", [*kinds[NEWEST_ATTEMPT], *kinds[NAMED_ATTEMPT]])
        loops = await filled(self._tx, "run_loop", kinds[LOOP_ROW])
        found = await decoded(self._tx, attempts, attempt_row)
        newest = len(kinds[NEWEST_ATTEMPT])
        return FoundSteps(
            found[:newest],
            found[newest:],
            await decoded(self._tx, loops, lambda row: LOOP.read(row[5])),
        )

    async def flows(self, roots: Sequence[RunRow]) -> list[FlowRows]:
        return await flows_of(self._tx, roots)

    async def heads(self, versions: Sequence[VersionNumber], properties: Sequence[PropertiesTime]) -> Heads:
        rows = await self._tx.all(HEADS, versions=list(versions), properties=list(properties))
        published = [row for row in rows if row[4]]
        made = await self._known.of(self._tx, published)
        self._read = (published, made)
        return Heads(
            versions={(row[0], row[1]): each for row, each in zip(published, made, strict=True)},
            properties={(row[0], row[1]): PROPERTIES.read(row[2]) for row in rows if not row[4]},
            internal_ids={row[0]: row[3] for row in rows},
        )

    def remember(self) -> None:
        """Once the transaction is over, in the thread of those who asked."""
        self._known.note(*self._read)

    async def _decoded(self, rows: Sequence[Row]) -> list[RunRow]:
        return await decoded(self._tx, await filled_runs(self._tx, rows), run_row)
