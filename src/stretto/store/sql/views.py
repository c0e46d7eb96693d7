"""Many runs at once for live views."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunGlance
from stretto.ports.views import BucketCount, StepMarks, StepTime
from stretto.store.sql.database import Transaction
from stretto.store.sql.history import NEWEST_OF_EACH
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.rows.attempts import STATE, STATUSES, step_state
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.runs import GLANCE, prefixed, run_glance
from stretto.store.sql.statement import ATTEMPT_KEY, RUN_KEY, Dialect, Statement, given, same

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
BY_STATUS: Final = prefixed("workflow_id, instance_id, run_id, status", "attempt")


def _newest_attempts(d: Dialect) -> str:
    """The newest attempt of each step in the runs that are bound to the name `runs`."""
    return (
        f"{d.listed('runs', RUN_KEY)} named JOIN attempt ON {same(RUN_KEY, 'attempt', 'named')} "
        "AND attempt.attempt_no = (SELECT MAX(other.attempt_no) FROM attempt other "
        f"WHERE {same(ATTEMPT_KEY[:4], 'other', 'attempt')})"
    )


STEP_STATUSES: Final = Statement(
    lambda d: (
        f"SELECT {prefixed('workflow_id, instance_id, run_id, step_id, status', 'attempt')} "
        f"FROM {_newest_attempts(d)}"
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
TIMES: Final = Statement(
    lambda d: (
        "SELECT attempt.step_id, attempt.status, attempt.end_time - attempt.start_time "
        f"FROM {_newest_attempts(d)}"
    )
)


class SqlViews(Part):
    """See `ports.views`."""

    async def glances(self, runs: Collection[RunKey]) -> dict[RunKey, RunGlance]:
        async def work(tx: Transaction) -> dict[RunKey, RunGlance]:
            rows = await tx.all(GLANCES, runs=sorted(set(runs)))
            return {glance.key: glance for glance in map(run_glance, rows)}

        return await self._db.look(work)

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

    async def glances_of(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        async def work(tx: Transaction) -> Slice[RunGlance]:
            return (await GLANCES_OF.page(tx, cut, workflow_id=workflow_id)).of(run_glance)

        return await self._db.read(work)

    async def glances_of_instances(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        async def work(tx: Transaction) -> Slice[RunGlance]:
            page = await INSTANCES.page(tx, cut, workflow_id=workflow_id)
            return page.of(lambda row: run_glance(row[1:]))

        return await self._db.read(work)

    async def step_statuses(self, runs: Collection[RunKey]) -> dict[RunKey, dict[str, StepStatus]]:
        async def work(tx: Transaction) -> dict[RunKey, dict[str, StepStatus]]:
            found: defaultdict[tuple[str, int, int], dict[str, StepStatus]] = defaultdict(dict)
            for workflow_id, instance_id, run_id, step_id, status in await tx.all(
                STEP_STATUSES, runs=sorted(set(runs))
            ):
                found[workflow_id, instance_id, run_id][step_id] = STATUSES[status]
            return {RunKey(*key): statuses for key, statuses in found.items()}

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

    async def ended_since(self, workflow_id: str, since: int, *, most: int) -> list[RunGlance]:
        async def work(tx: Transaction) -> list[RunGlance]:
            rows = await tx.all(ENDED, workflow_id=workflow_id, since=since, most=most)
            return [run_glance(row) for row in rows]

        return await self._db.look(work)

    async def step_times(self, runs: Collection[RunKey]) -> list[StepTime]:
        async def work(tx: Transaction) -> list[StepTime]:
            rows = await tx.all(TIMES, runs=sorted(set(runs)))
            return [StepTime(step_id, STATUSES[status], took) for step_id, status, took in rows]

        return await self._db.look(work)
