"""Many runs at once for live views."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, Final

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.paging import Slice
from stretto.ports.rows import RunGlance
from stretto.ports.run_snapshot import InstancePage, NamedRuns
from stretto.ports.views import (
    BucketCount,
    EndedSince,
    GlanceSelection,
    NewestIn,
    RecentRuns,
    RunsByNumber,
    StepMarks,
    StepTime,
)
from stretto.store.sql.database import Transaction
from stretto.store.sql.history import NEWEST_OF_EACH
from stretto.store.sql.paging import Listing, Page
from stretto.store.sql.part import Part
from stretto.store.sql.rows.attempts import STATE, STATUSES, step_state
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.runs import GLANCE, prefixed, run_glance
from stretto.store.sql.statement import ATTEMPT_KEY, RUN_KEY, Dialect, Row, Statement, given, same

GLANCES: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(GLANCE, 'run')} FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN run ON {same(RUN_KEY, 'run', 'named')}"
    )
)
GLANCES_OF: Final = Listing(
    GLANCE, "run WHERE workflow_id = :workflow_id", ["instance_id", "run_id"], newest_first=True
)
INSTANCES: Final = Listing(
    f"instance_id AS place, {GLANCE}",
    f"run WHERE workflow_id = :workflow_id AND {NEWEST_OF_EACH}",
    ["instance_id"],
    newest_first=True,
)
RECENT: Final = (
    f"SELECT {GLANCE} FROM run WHERE workflow_id = :workflow_{{0}} "
    "ORDER BY instance_id DESC, run_id DESC LIMIT :most"
)
AT_ONCE: Final = 16  # workflows whose runs one statement reads
RECENT_OF_MANY: Final = Statement(
    " UNION ALL ".join(f"SELECT * FROM ({RECENT.format(place)}) recent_{place}" for place in range(AT_ONCE))
)
_NEWEST_IN: Final = (
    f"SELECT {prefixed(GLANCE, 'run')} FROM run WHERE run.listed_at IS NOT NULL AND run.status = :status "
    "AND run.listed_at >= :since ORDER BY run.listed_at DESC LIMIT :most"
)
NEWEST_IN: Final = Statement(_NEWEST_IN)
BARE_NEWEST_IN: Final = Statement(_NEWEST_IN.replace("run.summary", "NULL"))
BY_STATUS: Final = prefixed("workflow_id, instance_id, run_id, status", "attempt")


def _newest_attempts(d: Dialect) -> str:
    """The newest attempt of each step in the runs that are bound to the name `runs`."""
    return (
        f"{d.listed('runs', RUN_KEY)} named JOIN attempt ON {same(RUN_KEY, 'attempt', 'named')} "
        "AND attempt.attempt_no = (SELECT MAX(other.attempt_no) FROM attempt other "
        f"WHERE {same(ATTEMPT_KEY[:4], 'other', 'attempt')})"
    )


STEP_TIMES: Final = Statement(
    lambda d: (
        "SELECT attempt.workflow_id, attempt.instance_id, attempt.run_id, attempt.step_id, attempt.status, "
        f"attempt.end_time - attempt.start_time FROM {_newest_attempts(d)}"
    )
)
COUNTED: Final = Statement(
    lambda d: f"SELECT {BY_STATUS}, COUNT(*) FROM {_newest_attempts(d)} GROUP BY {BY_STATUS}"
)
MARKS: Final = Statement(
    "SELECT step_id, attempt_no, status, start_time, end_time, child_workflow_id FROM attempt "
    f"WHERE {given(RUN_KEY)} ORDER BY step_id, attempt_no"
)
LOOPING: Final = Statement(f"SELECT step_id, attempt_no FROM run_loop WHERE {given(RUN_KEY)}")
STATES_NAMED: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(STATE, 'attempt')}, run_loop.counts "
        f"FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN attempt ON {same(ATTEMPT_KEY, 'attempt', 'named')} "
        f"LEFT JOIN run_loop ON {same(ATTEMPT_KEY, 'run_loop', 'attempt')}"
    )
)
# What is left over is taken away: not all databases divide whole numbers into whole numbers.
BUCKET: Final = "instance_id - (instance_id - 1) % :width"
IN_BUCKETS: Final = (
    f"SELECT {BUCKET} AS bucket, status, COUNT(*) FROM run WHERE workflow_id = :workflow_id AND {{}} "
    "GROUP BY bucket, status ORDER BY bucket, status"
)
ALL_IN_BUCKETS: Final = Statement(IN_BUCKETS.format(NEWEST_OF_EACH))
RUN_IN_BUCKETS: Final = Statement(IN_BUCKETS.format("run_id = :run_id"))
ENDED: Final = Statement(
    f"SELECT {GLANCE} FROM run WHERE workflow_id = :workflow_id AND ended_at >= :since "
    "ORDER BY ended_at DESC LIMIT :most"
)


class SqlViews(Part):
    """See `ports.views`."""

    async def glances(self, selection: GlanceSelection) -> Slice[RunGlance]:
        async def work(tx: Transaction) -> Slice[RunGlance]:
            return (await _page(tx, selection)).of(run_glance)

        is_cut = isinstance(selection, InstancePage | RunsByNumber | RecentRuns)
        return await (self._db.read(work) if is_cut else self._db.look(work))

    async def step_marks(self, run: RunKey) -> StepMarks:
        """All attempts are read: to ask for each whether it is the newest takes longer than to pass over."""
        known = {"workflow_id": run.workflow_id, "instance_id": run.instance_id, "run_id": run.run_id}

        async def work(tx: Transaction) -> StepMarks:
            newest: dict[str, Any] = {row[0]: row for row in await tx.all(MARKS, **known)}
            looping = {(step_id, number) for step_id, number in await tx.all(LOOPING, **known)}
            below = sorted(
                row[:2] for row in newest.values() if row[5] is not None or (looping and row[:2] in looping)
            )
            if not below:
                return StepMarks(newest, {})
            rows = await tx.all(STATES_NAMED, attempts=[(*run, *key) for key in below])
            states = [step_state(row, run) for row in rows]
            return StepMarks(newest, {each.key.step_id: each for each in states})

        return await self._db.look(work)

    async def status_counts(self, runs: Collection[RunKey]) -> dict[RunKey, dict[StepStatus, int]]:
        async def work(tx: Transaction) -> dict[RunKey, dict[StepStatus, int]]:
            found: dict[RunKey, dict[StepStatus, int]] = {}
            for *key, status, count in await tx.all(COUNTED, runs=sorted(set(runs))):
                found.setdefault(run_from(key), {})[STATUSES[status]] = count
            return found

        return await self._db.look(work)

    async def iteration_counts(
        self, workflow_id: str, width: int, *, run_id: int | None = None
    ) -> list[BucketCount]:
        async def work(tx: Transaction) -> list[BucketCount]:
            known = {"workflow_id": workflow_id, "width": width}
            if run_id is None:
                rows = await tx.all(ALL_IN_BUCKETS, **known)
            else:
                rows = await tx.all(RUN_IN_BUCKETS, **known, run_id=run_id)
            return [BucketCount(first, RunStatus(status), count) for first, status, count in rows]

        return await self._db.look(work)

    async def step_times(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepTime]]:
        async def work(tx: Transaction) -> dict[RunKey, list[StepTime]]:
            found: defaultdict[tuple[str, int, int], list[StepTime]] = defaultdict(list)
            for workflow_id, instance_id, run_id, step_id, status, took in await tx.all(
                STEP_TIMES, runs=sorted(set(runs))
            ):
                found[workflow_id, instance_id, run_id].append(StepTime(step_id, STATUSES[status], took))
            return {RunKey(*key): times for key, times in found.items()}

        return await self._db.look(work)


async def _page(tx: Transaction, selection: GlanceSelection) -> Page:
    """The rows of runs that are selected, with the columns of `GLANCE`."""
    match selection:
        case NamedRuns(keys):
            return _all(await tx.all(GLANCES, runs=sorted(set(keys))))
        case InstancePage(workflow_id, cut):
            page = await INSTANCES.page(tx, cut, workflow_id=workflow_id)
            return page._replace(rows=[row[1:] for row in page.rows])
        case RunsByNumber(workflow_id, cut):
            return await GLANCES_OF.page(tx, cut, workflow_id=workflow_id)
        case RecentRuns(workflow_ids, most):
            return _all(await _recent(tx, list(dict.fromkeys(workflow_ids)), most))
        case NewestIn(status, since, most, summaries):
            statement = NEWEST_IN if summaries else BARE_NEWEST_IN
            return _all(await tx.all(statement, status=status, since=since, most=most))
        case EndedSince():
            return _all(await tx.all(ENDED, **selection._asdict()))


def _all(rows: Sequence[Row]) -> Page:
    """A list that is not cut."""
    return Page(list(rows), before=False, after=False)


async def _recent(tx: Transaction, workflow_ids: Sequence[str], most: int) -> list[Row]:
    found: list[Row] = []
    for first in range(0, len(workflow_ids), AT_ONCE):
        some = dict.fromkeys(f"workflow_{place}" for place in range(AT_ONCE))
        some |= {f"workflow_{place}": each for place, each in enumerate(workflow_ids[first:][:AT_ONCE])}
        rows = await tx.all(RECENT_OF_MANY, most=most, **some)
        found += sorted(rows, key=run_from, reverse=True)
    return found
