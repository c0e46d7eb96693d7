"""What an owner reads after a claim."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.status import RUN_ENDS, RunStatus
from stretto.ports.loading import FlowRows, GroupRows, RunDue
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.ports.work import Work
from stretto.store.sql.codec import LOOP
from stretto.store.sql.database import Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.large import filled, filled_runs
from stretto.store.sql.part import FEW, Part
from stretto.store.sql.posting import look_letter, post
from stretto.store.sql.rows.attempts import ROW as ATTEMPT_ROW
from stretto.store.sql.rows.attempts import attempt_row
from stretto.store.sql.rows.keys import flat, of_run, run_from
from stretto.store.sql.rows.runs import ROW, prefixed, run_row
from stretto.store.sql.statement import (
    ATTEMPT_KEY,
    INT,
    RUN_KEY,
    Row,
    Statement,
    given,
    ints,
    mapped,
    names_of,
    same,
    texts,
)
from stretto.store.sql.work import ROW as WORK_ROW
from stretto.store.sql.work import work_from

OF_GROUPS: Final = Statement(
    lambda d: (
        "SELECT workflow_id, instance_id, run_id, phase, due_at, group_id FROM run "
        f"WHERE {d.among('group_id', 'groups', INT)} AND lane IN ('ADMITTED', 'LIVE') AND aside = 0 "
        "ORDER BY workflow_id, instance_id, run_id"
    )
)
LAST_SEQS: Final = Statement(  # the end of an index for each: a log may be long
    lambda d: (
        "SELECT named.group_id, (SELECT seq FROM change_log WHERE group_id = named.group_id "
        "ORDER BY seq DESC LIMIT 1) "
        f"FROM {d.listed('logs', ints('group_id'))} named"
    )
)
WORK_OF_GROUPS: Final = Statement(
    lambda d: (
        f"SELECT {WORK_ROW} FROM work WHERE {d.among('group_id', 'groups', INT)} "
        f"ORDER BY {names_of(ATTEMPT_KEY)}"
    )
)
RUNS: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ROW, 'run')} FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN run ON {same(RUN_KEY, 'run', 'named')}"
    )
)
ITERATIONS: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ROW, 'run')} FROM {d.listed('runs', RUN_KEY)} named JOIN run "
        "ON run.root_workflow_id = named.workflow_id AND run.root_instance_id = named.instance_id "
        "AND run.root_run_id = named.run_id AND run.phase = 'LIVE' "
        "ORDER BY run.workflow_id, run.instance_id, run.run_id"
    )
)
NEWEST_OF_RUNS: Final = (
    f"attempt ON {same(RUN_KEY, 'attempt', 'named')} "
    "AND attempt.attempt_no = (SELECT MAX(other.attempt_no) FROM attempt other "
    f"WHERE {same(ATTEMPT_KEY[:4], 'other', 'attempt')})"
)
"""Joins the newest attempt of each step to `named` runs."""
NEWEST_ATTEMPTS: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(ATTEMPT_ROW, 'attempt')} FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN {NEWEST_OF_RUNS} "
        "ORDER BY attempt.workflow_id, attempt.instance_id, attempt.run_id, attempt.step_id"
    )
)
LOOPS: Final = Statement(
    lambda d: (
        f"SELECT {names_of(ATTEMPT_KEY, 'run_loop.')}, doc FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN run_loop ON {same(ATTEMPT_KEY, 'run_loop', 'named')}"
    )
)
_ENDS: Final = ", ".join(f"'{status}'" for status in sorted(RUN_ENDS))
ENDED: Final = Statement(
    lambda d: (
        "SELECT named.workflow_id, named.run_id, run.status, COUNT(*) "
        f"FROM {d.listed('loops', (*texts('workflow_id'), *ints('run_id')))} named "
        f"JOIN run ON run.workflow_id = named.workflow_id AND run.status IN ({_ENDS}) "
        "AND run.run_id = named.run_id GROUP BY named.workflow_id, named.run_id, run.status"
    )
)
GRANTED: Final = Statement(
    lambda d: (
        f"SELECT {names_of(ATTEMPT_KEY, 'permit.')} FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN permit ON {same(ATTEMPT_KEY, 'permit', 'named')} "
        f"GROUP BY {names_of(ATTEMPT_KEY, 'permit.')} HAVING MIN(granted) = 1"
    )
)
LOCK: Final = Statement(
    lambda d: f"SELECT group_id FROM run WHERE {given(RUN_KEY)} AND aside = 1 {d.exclusive}"
)
RELEASE: Final = Statement(f"UPDATE run SET aside = 0, quarantined = NULL WHERE {given(RUN_KEY)}")


class SqlLoading(Part):
    """See `ports.loading`."""

    async def load_groups(self, groups: Sequence[int]) -> list[GroupRows]:
        async def work(tx: Transaction) -> list[GroupRows]:
            runs: defaultdict[int, list[RunDue]] = defaultdict(list)
            for row in await tx.all(OF_GROUPS, groups=list(groups)):
                runs[row[5]].append(RunDue(key=run_from(row), phase=Phase(row[3]), due_at=row[4]))
            last = mapped(await tx.all(LAST_SEQS, logs=[(group,) for group in groups]))
            given_out: defaultdict[int, list[Work]] = defaultdict(list)
            for each in map(work_from, await tx.all(WORK_OF_GROUPS, groups=list(groups))):
                given_out[each.group].append(each)
            return [
                GroupRows(runs=tuple(runs[group]), seq=last[group] or 0, work=tuple(given_out[group]))
                for group in groups
            ]

        return await self._db.read(work)

    async def load_flows(self, runs: Sequence[RunKey]) -> list[FlowRows]:
        async def work(tx: Transaction) -> list[FlowRows]:
            return await flows_of(tx, await _named(tx, runs))

        flows = await self._new(runs) or await self._db.read(work) if runs else []
        for flow in flows:
            self._params.stored(row.record for row in (flow.run, *flow.iterations))
        return flows

    async def _new(self, runs: Sequence[RunKey]) -> list[FlowRows]:
        """A few runs, if none of them has begun: then they are all there is to be read, and nobody but their
        owner, who asks, changes them. That takes no transaction, each end of which is a way to the server.
        """

        async def work(tx: Transaction) -> list[FlowRows]:
            rows = await _named(tx, runs)
            return [_bare(row) for row in rows] if all(map(_has_not_begun, rows)) else []

        return [] if len(runs) > FEW else await self._look(work)

    async def release_run(self, run: RunKey) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.one(LOCK, **of_run(run))
            if row is None:
                return False
            await tx.run(RELEASE, **of_run(run))
            now = await tx.now()
            await post(tx, [look_letter(run, row[0], now)], now)
            return True

        return await self._db.write(work)


async def _named(tx: Transaction, runs: Sequence[RunKey]) -> list[RunRow]:
    """Those of them that are there, in their order."""
    found = {row.key: row for row in await _runs(tx, RUNS, sorted(set(runs)))}
    return [found[key] for key in runs if key in found]


def _has_not_begun(row: RunRow) -> bool:
    """What it is launched with is its own row: the first commit of its owner makes it LIVE."""
    return row.phase is Phase.ADMITTED


def _bare(row: RunRow) -> FlowRows:
    return FlowRows(run=row)


async def _runs(tx: Transaction, statement: Statement, runs: Sequence[RunKey]) -> list[RunRow]:
    rows = await filled_runs(tx, await tx.all(statement, runs=list(runs)))
    return await decoded(tx, rows, run_row)


async def flows_of(tx: Transaction, rows: Sequence[RunRow]) -> list[FlowRows]:
    """Everything that is alive in some runs, with one statement for each kind of row."""
    if all(map(_has_not_begun, rows)):
        return [_bare(row) for row in rows]
    iterations: defaultdict[RunKey, list[RunRow]] = defaultdict(list)
    for row in await _runs(tx, ITERATIONS, sorted(row.key for row in rows)):
        iterations[row.root].append(row)
    live = sorted({row.key for row in rows} | {each.key for below in iterations.values() for each in below})
    attempts: defaultdict[RunKey, list[AttemptRow]] = defaultdict(list)
    for attempt in await newest_attempts(tx, live):
        attempts[attempt.key.run].append(attempt)
    keys = sorted(each.key for found in attempts.values() for each in found)
    moving = sorted(
        each.key for found in attempts.values() for each in found if not each.record.status.is_terminal
    )
    loops = await _loops(tx, moving)
    ended = await _ended(tx, list(loops.values()))
    granted = {AttemptKey(run_from(row), row[3], row[4]) for row in await _granted(tx, keys)}
    flows: list[FlowRows] = []
    for row in rows:
        below = iterations[row.key]
        own = [each for key in (row.key, *(each.key for each in below)) for each in attempts[key]]
        mine = [loops[each.key] for each in own if each.key in loops]
        flows.append(
            FlowRows(
                run=row,
                iterations=tuple(below),
                attempts=tuple(own),
                loops=tuple(mine),
                ended={loop.key: ended[loop.inline_id, loop.run_id] for loop in mine},
                granted=frozenset(each.key for each in own if each.key in granted),
            )
        )
    return flows


async def newest_attempts(tx: Transaction, runs: Sequence[RunKey]) -> list[AttemptRow]:
    """The newest attempt of each step in some runs, by run and step."""
    rows = await filled(tx, "attempt", await tx.all(NEWEST_ATTEMPTS, runs=list(runs)))
    return await decoded(tx, rows, attempt_row)


async def _loops(tx: Transaction, attempts: Sequence[AttemptKey]) -> dict[AttemptKey, LoopRecord]:
    if not attempts:
        return {}
    rows = await filled(tx, "run_loop", await tx.all(LOOPS, attempts=[flat(key) for key in attempts]))
    return {loop.key: loop for loop in await decoded(tx, rows, lambda row: LOOP.read(row[5]))}


async def _ended(
    tx: Transaction, loops: Sequence[LoopRecord]
) -> defaultdict[tuple[str, int], dict[RunStatus, int]]:
    """How many iterations of each loop ended in which status."""
    found: defaultdict[tuple[str, int], dict[RunStatus, int]] = defaultdict(dict)
    named = sorted({(loop.inline_id, loop.run_id) for loop in loops})
    for inline_id, run_id, status, count in await tx.all(ENDED, loops=named) if named else ():
        found[inline_id, run_id][RunStatus(status)] = count
    return found


async def _granted(tx: Transaction, attempts: Sequence[AttemptKey]) -> Sequence[Row]:
    """Attempts that have permits, all of which were granted."""
    return await tx.all(GRANTED, attempts=[flat(key) for key in attempts]) if attempts else ()
