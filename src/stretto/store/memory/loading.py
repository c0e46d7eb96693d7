"""What an owner reads after a claim."""

from collections.abc import Iterator, Sequence
from copy import copy

import msgspec

from stretto.engine.records import AttemptRecord, LoopRecord, RunKey
from stretto.model.status import RUN_ENDS, RunStatus
from stretto.ports.loading import FlowRows, GroupRows, RunDue
from stretto.ports.rows import AttemptRow, Phase, RunRow, StepState, ended_of
from stretto.store.memory.database import Database, Part, own
from stretto.store.memory.post import post_look


def newest_of_each_step(db: Database, run: RunKey) -> Iterator[AttemptRow]:
    """The newest attempt of each step in a run, by step; keys are sorted, so it is the last of its step."""
    keys = db.attempts_of[run]
    for place, key in enumerate(keys):
        if place + 1 == len(keys) or keys[place + 1].step_id != key.step_id:
            yield own(db.attempts[key])


def state_of(db: Database, record: AttemptRecord) -> StepState:
    """An attempt as live views show it."""
    loop = db.loops.get(record.key)
    return StepState(
        key=record.key,
        sequence=record.sequence,
        status=record.status,
        create_time=record.create_time,
        start_time=record.start_time,
        end_time=record.end_time,
        child=record.child,
        is_loop=loop is not None,
        total=record.loop_total,
        ended={} if loop is None else ended_of(loop),
    )


class MemoryLoading(Part):
    """See `ports.loading`."""

    async def load_groups(self, groups: Sequence[int]) -> list[GroupRows]:
        with self._db.transaction():
            return [self._group(group) for group in groups]

    async def load_flows(self, runs: Sequence[RunKey]) -> list[FlowRows]:
        with self._db.transaction():
            rows = [self._db.runs.get(key) for key in runs]
            return [flow_rows(self._db, row) for row in rows if row is not None]

    async def release_run(self, run: RunKey) -> bool:
        with self._db.transaction() as now:
            row = self._db.runs.get(run)
            if row is None or row.quarantined is None:
                return False
            self._db.runs.put(run, msgspec.structs.replace(row, quarantined=None))
            post_look(self._db, row, now)
            return True

    def _group(self, group: int) -> GroupRows:
        db = self._db
        keys = sorted([*db.runs_of_group[group, Phase.ADMITTED], *db.runs_of_group[group, Phase.LIVE]])
        rows = [db.runs[key] for key in keys]
        log = db.log_by_group[group]
        return GroupRows(
            runs=tuple(RunDue(key=row.key, phase=row.phase, due_at=row.due_at) for row in rows),
            seq=log[-1][1] if log else 0,
            work=tuple(db.work[key] for key in db.work_of_group[group]),
        )


def flow_rows(db: Database, row: RunRow) -> FlowRows:
    """Everything that is alive in a run."""
    iterations = db.iterations[row.key, Phase.LIVE]
    live = [row.key, *iterations]
    attempts = [each for key in live for each in newest_of_each_step(db, key)]
    moving = [each.key for each in attempts if not each.record.status.is_terminal]
    loops = [copy(loop) for key in moving if (loop := db.loops.get(key)) is not None]
    return FlowRows(
        run=own(row),
        iterations=tuple(own(db.runs[key]) for key in iterations),
        attempts=tuple(attempts),
        loops=tuple(loops),
        ended={loop.key: _ended(db, loop) for loop in loops},
        granted=frozenset(
            each.key
            for each in attempts
            if (permits := db.permits_of[each.key]) and all(db.permits[at].granted for at in permits)
        ),
    )


def _ended(db: Database, loop: LoopRecord) -> dict[RunStatus, int]:
    """How many iterations ended in which status."""
    counts = {status: len(db.ended_iterations[loop.inline_id, loop.run_id, status]) for status in RUN_ENDS}
    return {status: count for status, count in counts.items() if count}
