"""The group commit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, cast
from zlib import crc32

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus
from stretto.ports.commit import Committed, GroupPart, taken_tags
from stretto.ports.failures import Stale
from stretto.ports.messages import OUTCOME_KINDS
from stretto.ports.rows import NodeId, Phase
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.approvals import PUT_APPROVAL
from stretto.store.sql.at_once import OneWay, at_once_of
from stretto.store.sql.database import Database, Taken, Transaction
from stretto.store.sql.fence import fenced_now
from stretto.store.sql.large import PUT_LARGE
from stretto.store.sql.part import DEFAULTS, Part
from stretto.store.sql.permit_room import take_permits
from stretto.store.sql.phases import Known, runs_of, settled
from stretto.store.sql.plan import Plan, by_key, rates_of
from stretto.store.sql.rows.attempts import PUT_ATTEMPT, PUT_ATTEMPT_ON, PUT_LOOP
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.messages import sent_at
from stretto.store.sql.rows.permits import ASK, TAKE
from stretto.store.sql.rows.runs import PUT_ITERATION, UPDATE_RUN, WAKE_RUN
from stretto.store.sql.rows.workflows import ADD_OUTCOME, outcome_rows
from stretto.store.sql.signals import PUT_WAIT
from stretto.store.sql.statement import (
    ATTEMPT_KEY,
    INT,
    RUN_KEY,
    Bulk,
    Statement,
    Way,
    ints,
    mapped,
    names_of,
    same,
    texts,
)
from stretto.store.sql.work import PUT_WORK

RENEW_EVERY: Final = 1_000  # milliseconds
MOST_TAGS: Final = 10_000  # that are remembered
SHARDS: Final = 64  # of counters: nodes that share one wait for each other's commits

RENEW: Final = Statement("UPDATE beat SET expires_at = :expires_at WHERE node_id = :node")
PHASES: Final = Statement(
    lambda d: (
        f"SELECT {names_of(RUN_KEY, 'run.')}, run.phase, run.due_at "
        f"FROM {d.listed('runs', RUN_KEY)} named JOIN run ON {same(RUN_KEY, 'run', 'named')}"
    )
)
CONSUME: Final = Statement(lambda d: f"DELETE FROM outbox WHERE {d.among('id', 'ids', INT)}")
THERE: Final = Statement(
    lambda d: f"SELECT id, kind FROM outbox WHERE {d.among('id', 'ids', INT)} ORDER BY id {d.exclusive}"
)
ANSWER: Final = Bulk(
    way=Way.UPDATE, table="outbox", key=1, fields=(*ints("id"), *texts("outcome"), *ints("is_answered"))
)
CONTINUE: Final = Bulk(way=Way.UPDATE, table="outbox", key=1, fields=(*ints("id"), *texts("kind", "doc")))
LOG: Final = Bulk(
    way=Way.INSERT,
    table="change_log",
    key=2,
    fields=(*ints("group_id", "seq"), *texts("doc")),
    common=ints("logged_at"),
)
RETURN: Final = Bulk(way=Way.DELETE, table="permit", key=5, fields=ATTEMPT_KEY)
RELEASES: Final = tuple(
    Bulk(way=Way.DELETE, table=table, key=5, fields=ATTEMPT_KEY) for table in ("signal_wait", "work")
)
MATCHED: Final = Bulk(way=Way.DELETE, table="signal_wait", key=6, fields=(*ATTEMPT_KEY, *ints("dependency")))


class SqlCommits(Part):
    """See `ports.commit`."""

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        super().__init__(database, settings)
        self._renewed: dict[NodeId, int] = {}  # when a commit renewed the beat of a node
        self._newest = 0  # the time of the newest commit
        self._limited: set[str] = set()  # tags of which a commit had to count the permits
        self._one_way = cast("OneWay", database) if hasattr(database, "at_once") else None

    async def commit(self, node: NodeId, parts: Sequence[GroupPart]) -> Committed:
        # Encoded before anybody waits: records go on changing.
        plans = [Plan(part, self._params, self._settings.blob_from) for part in parts]
        shard = crc32(node.encode()) % SHARDS + 1

        async def work(tx: Transaction) -> Committed:
            lost, now = await fenced_now(tx, (part.lease for part in parts))
            kept = [plan for plan in plans if plan.group not in lost]
            left = await take_permits(
                tx, [part for part in parts if part.lease.group not in lost], rates_of(kept)
            )
            await _write(tx, kept, now, shard)
            await self._renew(tx, node, now)
            return Committed(now=now, fenced=lost, left=left)

        done = await self._at_once(node, parts, plans)
        if done is None:
            done = await self._write(work, sum(plan.rows for plan in plans))
        self._newest = done.now
        self._note_tags(done.left)
        for plan in plans:
            if plan.group not in done.fenced:
                self._note(plan)
        return done

    async def _at_once(
        self, node: NodeId, parts: Sequence[GroupPart], plans: Sequence[Plan]
    ) -> Committed | None:
        """In one way to the database and back, if that is possible; it does not renew the beat."""
        if self._one_way is None or abs(self._newest - self._renewed.get(node, 0)) >= RENEW_EVERY:
            return None
        taken = taken_tags(parts)
        if any(tag in self._limited and not use.is_handed_over for tag, use in taken.items()):
            return None
        rows = at_once_of(plans, taken)
        if rows is None:
            return None
        answer = await self._one_way.at_once([part.lease for part in parts], rows)
        if answer is None or (answer.held and not answer.is_written):
            return None
        groups = frozenset(part.lease.group for part in parts)
        rooms = zip(taken.items(), answer.room, strict=True)
        left = {tag: None if room is None else max(room - use.net, 0) for (tag, use), room in rooms}
        return Committed(now=answer.now, fenced=groups - answer.held, left=left)

    def _note_tags(self, left: Mapping[str, int | None]) -> None:
        """Permits of a tag that has a limit are counted, unless they are handed over."""
        if len(self._limited) > MOST_TAGS:
            self._limited.clear()
        for tag, number in left.items():
            (self._limited.discard if number is None else self._limited.add)(tag)

    def _note(self, plan: Plan) -> None:
        """What is stored now need not be written again."""
        self._params.stored(plan.records)
        for root, base in plan.bases:
            self._params.kept(root, base)

    async def _renew(self, tx: Transaction, node: NodeId, now: int) -> None:
        """Who commits is alive; it need not be said more often than once a second."""
        if abs(now - self._renewed.get(node, 0)) >= RENEW_EVERY:
            await tx.run(RENEW, node=node, expires_at=now + self._settings.beat_lasts)
            self._renewed[node] = now


async def _write(tx: Transaction, plans: Sequence[Plan], now: int, shard: int) -> None:
    await _write_messages(tx, plans, now)
    await _write_runs(tx, plans, now, shard)
    await _write_rows(tx, plans, now)
    try:
        await tx.bulk(LOG, sorted(plan.log for plan in plans if plan.log is not None), logged_at=now)
    except Taken as taken:
        groups = [plan.group for plan in plans if plan.log is not None]
        raise Stale("a seq of the change log is taken", groups) from taken


# ------------------------------------------------------------------------------------------------- messages
async def _write_messages(tx: Transaction, plans: Sequence[Plan], now: int) -> None:
    needed = [number for plan in plans for number in plan.needed]
    if needed:
        kinds = await _there(tx, plans, needed)
        consumed = sorted(number for plan in plans for number in plan.consumed)
        if consumed:
            await tx.run(CONSUME, ids=consumed)
        answers = sorted(answer for plan in plans for answer in plan.answers)
        acts = [(number, outcome, int(kinds[number] in OUTCOME_KINDS)) for number, outcome in answers]
        await tx.bulk(ANSWER, acts)
        await tx.bulk(CONTINUE, by_key((plan.continued for plan in plans), 1))
    letters = [row for plan in plans for row in plan.letters]
    if letters:
        await tx.post([sent_at(row, now) for row in letters])


async def _there(tx: Transaction, plans: Sequence[Plan], needed: Sequence[int]) -> dict[int, str]:
    """The kinds of these messages: all of them must be there, and each is dealt with once."""
    kinds = mapped(await tx.all(THERE, ids=sorted(set(needed))))
    uses = Counter(needed)
    bad = {number for number, times in uses.items() if times > 1 or number not in kinds}
    if bad:
        stale = [plan.group for plan in plans if not bad.isdisjoint(plan.needed)]
        raise Stale(f"messages are gone: {', '.join(map(str, sorted(bad)))}", stale)
    return kinds


# ----------------------------------------------------------------------------------------------------- runs
async def _write_runs(tx: Transaction, plans: Sequence[Plan], now: int, shard: int) -> None:
    asked = sorted(set().union(*map(runs_of, plans)))
    known: dict[RunKey, Known] = {}
    if asked:
        known = {run_from(row): Known(Phase(row[3]), row[4]) for row in await tx.all(PHASES, runs=asked)}
    outcomes = [settled(plan, known) for plan in plans]
    await tx.bulk(UPDATE_RUN, by_key((each.updates for each in outcomes), 3), modify_time=now)
    await tx.bulk(WAKE_RUN, by_key((each.wakes for each in outcomes), 3), modify_time=now)
    await tx.bulk(PUT_ITERATION, by_key((plan.iterations for plan in plans), 3), modify_time=now)
    ends: dict[str, dict[RunStatus, int]] = {}
    for run, status in (end for plan in plans for end in plan.ended):
        counts = ends.setdefault(run.workflow_id, {})
        counts[status] = counts.get(status, 0) + 1
    await tx.bulk(ADD_OUTCOME, outcome_rows(ends, now, shard))


async def _write_rows(tx: Transaction, plans: Sequence[Plan], now: int) -> None:
    """Attempts, loops, and what attempts wait for; most commits have little of that."""
    modified = {"modify_time": now}
    released = by_key((plan.released for plan in plans), 5)
    for bulk, rows, common in (
        (PUT_ATTEMPT, by_key((plan.attempts for plan in plans), 5), modified),
        (PUT_APPROVAL, by_key((plan.approvals for plan in plans), 6), {}),
        (PUT_LOOP, by_key((plan.loops for plan in plans), 5), {}),
        (PUT_LARGE, by_key((plan.large.sorted_rows() for plan in plans), 6), {}),
        (RETURN, by_key((plan.returned for plan in plans), 5), {}),
        *((release, released, {}) for release in RELEASES),
        (PUT_ATTEMPT_ON, by_key((plan.attempts_on for plan in plans), 5), modified),
        (MATCHED, by_key((plan.matched for plan in plans), 6), {}),
        (ASK, by_key((plan.asks for plan in plans), 6), {}),
        (TAKE, by_key((plan.takes for plan in plans), 6), {"granted_at": now}),
        (PUT_WAIT, by_key((plan.waits for plan in plans), 7), {}),
        (PUT_WORK, by_key((plan.work for plan in plans), 5), {"since": now}),
    ):
        if rows:
            await tx.bulk(bulk, rows, **common)
