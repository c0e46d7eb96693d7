"""Runs, attempts and loops for readers."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from stretto.engine.records import LoopRecord, RunKey
from stretto.ports.history import (
    AttemptList,
    AttemptsOfStep,
    ChildPage,
    Counted,
    FilteredRuns,
    InstancesIn,
    LongestRuns,
    NewestInInstance,
    QuarantinedRuns,
    RunFilter,
    RunList,
    RunTimes,
)
from stretto.ports.paging import Slice, Span
from stretto.ports.rows import AttemptRow, RunRow, StepState
from stretto.ports.run_snapshot import (
    InstancePage,
    NamedAttempts,
    NamedRuns,
    NewestAttempts,
    NewestRun,
    RunPage,
)
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.codec import LOOP
from stretto.store.sql.database import Database, Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.large import filled, filled_runs
from stretto.store.sql.loading import RUNS, newest_attempts
from stretto.store.sql.paging import Listing, Page
from stretto.store.sql.part import DEFAULTS, Part
from stretto.store.sql.read_batcher import ReadBatcher
from stretto.store.sql.rows.attempts import ROW as ATTEMPT_ROW
from stretto.store.sql.rows.attempts import STATE, attempt_row, step_state
from stretto.store.sql.rows.keys import flat, of_attempt, of_run, run_from
from stretto.store.sql.rows.runs import ROW, prefixed, run_row
from stretto.store.sql.run_lists import count_of_runs, page_of_runs, times_of_runs
from stretto.store.sql.statement import ATTEMPT_KEY, RUN_KEY, Row, Statement, given, names_of, same

FEW: Final = 4  # runs that are read in the event loop
SMALL: Final = 32  # attempts of a run that are
OF_INSTANCE: Final = "workflow_id = :workflow_id AND instance_id = :instance_id"
NEWEST: Final = Statement(
    f"SELECT {ROW} FROM run WHERE {OF_INSTANCE} AND (listed_at IS NOT NULL OR root_workflow_id IS NOT NULL) "
    "ORDER BY run_id DESC LIMIT 1"
)
NEWEST_OF_EACH: Final = (
    "run_id = (SELECT MAX(other.run_id) FROM run other "
    "WHERE other.workflow_id = run.workflow_id AND other.instance_id = run.instance_id)"
)
INSTANCES: Final = Listing(
    ROW, f"run WHERE workflow_id = :workflow_id AND {NEWEST_OF_EACH}", ["instance_id"], newest_first=True
)
INSTANCES_IN: Final = Listing(
    f"instance_id AS place, {ROW}",
    f"run WHERE workflow_id = :workflow_id AND status = :status AND {NEWEST_OF_EACH}",
    ["instance_id"],
    newest_first=True,
)
INSTANCE_SPAN: Final = Statement(
    "SELECT MIN(instance_id), MAX(instance_id) FROM run WHERE workflow_id = :workflow_id"
)
RUNS_OF: Final = Listing(ROW, f"run WHERE {OF_INSTANCE}", ["run_id"], newest_first=True)
RUN_SPAN: Final = Statement(f"SELECT MIN(run_id), MAX(run_id) FROM run WHERE {OF_INSTANCE}")
CHILDREN: Final = Listing(
    ROW,
    f"run WHERE {given(ATTEMPT_KEY, column_prefix='parent_')}",
    [field.name for field in RUN_KEY],
)
ATTEMPT: Final = Statement(f"SELECT {ATTEMPT_ROW} FROM attempt WHERE {given(ATTEMPT_KEY)}")
NAMED_ATTEMPTS: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ATTEMPT_ROW, 'attempt')} FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN attempt ON {same(ATTEMPT_KEY, 'attempt', 'named')}"
    )
)
ATTEMPTS: Final = Statement(
    f"SELECT {ATTEMPT_ROW} FROM attempt WHERE {given(ATTEMPT_KEY[:4])} ORDER BY attempt_no"
)
RUN_IDS: Final = Statement(f"SELECT run_id FROM run WHERE {OF_INSTANCE} ORDER BY run_id DESC")
TOOK: Final = "(COALESCE(end_time, :now) - start_time)"
LONGEST: Final = Listing(
    f"{TOOK} AS took, instance_id AS place, {ROW}",
    f"run WHERE workflow_id = :workflow_id AND start_time IS NOT NULL AND {NEWEST_OF_EACH}",
    [TOOK, "instance_id"],
    newest_first=True,
)
ASIDE: Final = Listing(ROW, "run WHERE aside = 1", [field.name for field in RUN_KEY])
OF_STEP: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ATTEMPT_ROW, 'attempt')} FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN attempt ON {same(RUN_KEY, 'attempt', 'named')} AND attempt.step_id = :step_id "
        "AND attempt.attempt_no = (SELECT MAX(other.attempt_no) FROM attempt other "
        f"WHERE {same(ATTEMPT_KEY[:4], 'other', 'attempt')})"
    )
)
STATES: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(STATE, 'attempt')}, run_loop.counts FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN attempt ON {same(RUN_KEY, 'attempt', 'named')} "
        "AND attempt.attempt_no = (SELECT MAX(other.attempt_no) FROM attempt other "
        f"WHERE {same(ATTEMPT_KEY[:4], 'other', 'attempt')}) "
        f"LEFT JOIN run_loop ON {same(ATTEMPT_KEY, 'run_loop', 'attempt')}"
    )
)
MORE: Final = Statement(f"SELECT 1 FROM attempt WHERE {given(RUN_KEY)} LIMIT 1 OFFSET {SMALL}")
OF_RUN: Final = itemgetter(0, 1, 2)
IN_ORDER: Final = itemgetter(0, 1, 2, 5, 3)  # of `STATES`: run, sequence, step
LOOPS: Final = Statement(
    f"SELECT {names_of(ATTEMPT_KEY)}, doc FROM run_loop WHERE {given(RUN_KEY)} ORDER BY step_id, attempt_no"
)


class SqlHistory(Part):
    """See `ports.history`."""

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        super().__init__(database, settings)
        self._runs_wanted = ReadBatcher(self._runs_named)

    async def runs(self, selection: RunList) -> Slice[RunRow]:
        if isinstance(selection, NamedRuns):
            return Slice(elements=await self._runs_wanted.ask(selection.keys))

        async def work(tx: Transaction) -> Slice[RunRow]:
            page = await _page(tx, selection)
            rows = await filled_runs(tx, page.rows)
            return await page._replace(rows=rows).decoded(tx, run_row)

        return await self._db.read(work)

    async def _runs_named(self, asked: Sequence[tuple[RunKey, ...]]) -> list[tuple[RunRow, ...]]:
        """Whoever asks gets records of its own, which it may change."""
        wanted = [key for keys in asked for key in keys]

        async def work(tx: Transaction) -> list[tuple[RunRow, ...]]:
            rows = await filled_runs(tx, await tx.all(RUNS, runs=sorted(set(wanted))))
            found = {run_from(row): row for row in rows}
            made = iter(await decoded(tx, [found[key] for key in wanted if key in found], run_row))
            return [tuple([next(made) for key in keys if key in found]) for keys in asked]

        return await (self._read(work) if len(wanted) <= FEW else self._db.read(work))

    async def instance_ids(self, workflow_id: str) -> Span | None:
        return await self._span(INSTANCE_SPAN, workflow_id=workflow_id)

    async def count_runs(self, wanted: RunFilter, *, most: int = 10_000) -> Counted:
        async def work(tx: Transaction) -> Counted:
            return await count_of_runs(tx, wanted, most)

        return await self._db.read(work)

    async def run_times(self, wanted: RunFilter, width: int, *, most: int = 10_000) -> RunTimes:
        async def work(tx: Transaction) -> RunTimes:
            return await times_of_runs(tx, wanted, width, most)

        return await self._db.read(work)

    async def attempts(self, selection: AttemptList) -> list[AttemptRow]:
        async def work(tx: Transaction) -> list[AttemptRow]:
            match selection:
                case NewestAttempts(runs, None):
                    return sorted(await newest_attempts(tx, runs), key=_by_run_and_sequence)
                case NewestInInstance(workflow_id, instance_id, None):
                    return await _newest_in(tx, workflow_id, instance_id)
                case _:
                    rows = await filled(tx, "attempt", await _rows(tx, selection))
                    return await decoded(tx, rows, attempt_row)

        return await (self._read(work) if await self._is_few(selection) else self._db.read(work))

    async def _is_few(self, selection: AttemptList) -> bool:
        """Whether so few attempts are read that it is done in the event loop, where that can be."""
        match selection:
            case NewestAttempts((run,), None):
                return await self._is_small(run)
            case NewestAttempts(runs, str()):
                return len(runs) <= FEW
            case _:
                return False

    async def _is_small(self, run: RunKey) -> bool:
        """Whether a run has so few attempts that they are read in the event loop, where that can be."""
        if self._quick is None:
            return False

        async def work(tx: Transaction) -> bool:
            return await tx.one(MORE, **of_run(run)) is None

        return await self._look(work)

    async def step_states(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepState]]:
        async def work(tx: Transaction) -> dict[RunKey, list[StepState]]:
            found: dict[RunKey, list[StepState]] = {}
            rows = sorted(await tx.all(STATES, runs=sorted(set(runs))), key=IN_ORDER)
            for key, states in groupby(rows, key=OF_RUN):
                run = RunKey(*key)
                found[run] = await decoded(tx, states, partial(step_state, run=run))
            return found

        return await self._db.look(work)

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        async def work(tx: Transaction) -> list[LoopRecord]:
            rows = await filled(tx, "run_loop", await tx.all(LOOPS, **of_run(run)))
            return await decoded(tx, rows, lambda row: LOOP.read(row[5]))

        return await self._db.read(work)

    async def _span(self, statement: Statement, **values: Any) -> Span | None:
        async def work(tx: Transaction) -> Span | None:
            return span_from(await tx.one(statement, **values))

        return await self._db.look(work)


def span_from(row: Row | None) -> Span | None:
    """The lowest and the highest number; null: there is none."""
    return None if row is None or row[0] is None else Span(row[0], row[1])


async def _runs_of(tx: Transaction, workflow_id: str, instance_id: int) -> list[RunKey]:
    """The runs of an instance, newest first."""
    rows = await tx.all(RUN_IDS, workflow_id=workflow_id, instance_id=instance_id)
    return [RunKey(workflow_id, instance_id, run_id) for (run_id,) in rows]


async def _page(tx: Transaction, selection: RunList) -> Page:
    """The rows of runs that are selected, with the columns of `ROW`."""
    match selection:
        case NamedRuns(keys):
            return _all(await tx.all(RUNS, runs=sorted(set(keys))))
        case NewestRun():
            return _all(await tx.all(NEWEST, **selection._asdict()))
        case InstancePage(workflow_id, cut):
            return await INSTANCES.page(tx, cut, workflow_id=workflow_id)
        case InstancesIn(workflow_id, statuses, cut):
            if not statuses:
                return await INSTANCES.page(tx, cut, workflow_id=workflow_id)
            lists = [{"workflow_id": workflow_id, "status": status} for status in sorted(set(statuses))]
            return _without(1, await INSTANCES_IN.merged(tx, cut, lists))
        case RunPage(workflow_id, instance_id, cut):
            return await RUNS_OF.page(tx, cut, workflow_id=workflow_id, instance_id=instance_id)
        case FilteredRuns(wanted, cut):
            return await page_of_runs(tx, cut, wanted)
        case ChildPage(parent, cut):
            return await CHILDREN.page(tx, cut, **of_attempt(parent))
        case QuarantinedRuns(cut):
            return await ASIDE.page(tx, cut)
        case LongestRuns(workflow_id, now, cut):
            return _without(2, await LONGEST.page(tx, cut, workflow_id=workflow_id, now=now))


def _all(rows: Sequence[Row]) -> Page:
    """A list that is not cut."""
    return Page(list(rows), before=False, after=False)


def _without(count: int, page: Page) -> Page:
    """A page without the columns that it is sorted by."""
    return page._replace(rows=[row[count:] for row in page.rows])


async def _rows(tx: Transaction, selection: AttemptList) -> Sequence[Row]:
    """The rows of attempts that are selected."""
    match selection:
        case NamedAttempts((key,)):
            return await tx.all(ATTEMPT, **of_attempt(key))
        case NamedAttempts(keys):
            return await tx.all(NAMED_ATTEMPTS, attempts=sorted({flat(key) for key in keys}))
        case AttemptsOfStep(run, step_id):
            return await tx.all(ATTEMPTS, **of_run(run), step_id=step_id)
        case NewestAttempts(runs, step_id):
            return await tx.all(OF_STEP, runs=sorted(set(runs)), step_id=step_id)
        case NewestInInstance(workflow_id, instance_id, step_id):
            for run in await _runs_of(tx, workflow_id, instance_id):
                rows = await tx.all(OF_STEP, runs=[run], step_id=step_id)
                if rows:
                    return rows
            return ()


async def _newest_in(tx: Transaction, workflow_id: str, instance_id: int) -> list[AttemptRow]:
    """The newest attempt of each step in the newest run that has it, by sequence."""
    found: dict[str, AttemptRow] = {}
    for run in await _runs_of(tx, workflow_id, instance_id):
        for row in await newest_attempts(tx, [run]):
            found.setdefault(row.key.step_id, row)
    return sorted(found.values(), key=_by_sequence)


def _by_run_and_sequence(row: AttemptRow) -> tuple[RunKey, int, str]:
    return row.key.run, *_by_sequence(row)


def _by_sequence(row: AttemptRow) -> tuple[int, str]:
    return row.record.sequence, row.key.step_id
