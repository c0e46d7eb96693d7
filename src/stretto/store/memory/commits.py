"""The group commit."""

from collections.abc import Sequence
from copy import copy

import msgspec

from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.ports.commit import Committed, Decided, GroupPart, PermitAsk
from stretto.ports.events import LogRow
from stretto.ports.failures import Stale
from stretto.ports.permits import PermitRow
from stretto.ports.rows import AttemptRow, NodeId, Phase, RunRow, mark_of
from stretto.store.memory.approvals import put_questions
from stretto.store.memory.database import Database, Part
from stretto.store.memory.leases import is_current
from stretto.store.memory.permits import set_rate, take_permits
from stretto.store.memory.post import consume, post, waiting
from stretto.store.memory.run_rows import count_outcome, insert_run


class MemoryCommits(Part):
    """See `ports.commit`. There is no beat to renew here: beats never wait for a commit of this store."""

    async def commit(self, node: NodeId, parts: Sequence[GroupPart]) -> Committed:  # noqa: ARG002 - no beat
        with self._db.transaction() as now:
            fenced = frozenset(part.lease.group for part in parts if not is_current(self._db, part.lease))
            kept = [part for part in parts if part.lease.group not in fenced]
            left = take_permits(self._db, kept, now)
            for part in kept:
                _Writing(self._db, part, now).write()
            return Committed(now=now, fenced=fenced, left=left)


class _Writing:
    """One part on its way into the tables."""

    def __init__(self, db: Database, part: GroupPart, now: int) -> None:
        self._db = db
        self._part = part
        self._group = part.lease.group
        self._now = now

    def write(self) -> None:
        for decided in self._part.decisions:
            self._write_messages(decided)
            if decided.root is not None:
                self._write_records(decided, decided.root)
            elif decided.records:
                raise self._stale("there are records, and no run that they belong to")
            self._write_waits(decided)
        self._write_log()

    def _stale(self, message: str) -> Stale:
        return Stale(message, (self._group,))

    # --------------------------------------------------------------------------------------------- messages
    def _write_messages(self, decided: Decided) -> None:
        consume(self._db, decided.consumed, self._group)
        for number, outcome in decided.answered.items():
            message = waiting(self._db, number, self._group)
            self._db.messages.put(number, msgspec.structs.replace(message, outcome=outcome))
        for number, body in decided.continued.items():
            message = waiting(self._db, number, self._group)
            self._db.messages.put(number, msgspec.structs.replace(message, body=body))
        for letter in decided.sent:
            post(self._db, letter, self._now)

    def _write_log(self) -> None:
        events = tuple(event for decided in self._part.decisions for event in decided.events)
        if events:
            at = self._group, self._part.seq
            if at in self._db.log:
                raise self._stale(f"seq {self._part.seq} of group {self._group} is taken")
            self._db.log.put(at, LogRow(group=at[0], seq=at[1], at=self._now, events=events))

    # ---------------------------------------------------------------------------------------------- records
    def _write_records(self, decided: Decided, root: RunKey) -> None:
        self._write_root(decided, root)
        for record in decided.records:
            if isinstance(record, RunRecord):
                self._write_run(decided, root, record)
            elif isinstance(record, AttemptRecord):
                self._write_attempt(decided, record)
                put_questions(self._db, record, root.workflow_id)
            else:
                self._db.loops.put(record.key, copy(record))

    def _write_root(self, decided: Decided, root: RunKey) -> None:
        """The row must be in the phase that the decision needs. Without records, only a time is noted."""
        row = self._db.runs.get(root)
        needed = Phase.ADMITTED if decided.launch else Phase.LIVE
        if row is None or row.phase is not needed:
            if decided.launch or decided.records:
                raise self._stale(f"{root} is not {needed}")
            return
        if not decided.keeps_due:
            awake = msgspec.structs.replace(
                row, phase=Phase.LIVE, due_at=decided.due_at, modify_time=self._now
            )
            self._db.runs.put(root, awake)

    def _write_run(self, decided: Decided, root: RunKey, record: RunRecord) -> None:
        before = self._db.runs.get(record.key)
        if before is not None and before.phase is Phase.ENDED:
            raise self._stale(f"{record.key} has ended")
        over = record.status.is_terminal
        known = before or RunRow(record=record, group=self._group, phase=Phase.LIVE, root=root)
        row = msgspec.structs.replace(
            known,
            record=copy(record),
            phase=Phase.ENDED if over else Phase.LIVE,
            failure=mark_of(record.status),
            summary=decided.summaries.get(record.key, known.summary),
            modify_time=self._now,
        )
        if before is None:
            insert_run(self._db, row)
        else:
            self._db.runs.put(record.key, row)
        if over:
            count_outcome(self._db, row, self._now)

    def _write_attempt(self, decided: Decided, record: AttemptRecord) -> None:
        before = self._db.attempts.get(record.key)
        node = decided.runs_on.get(record.key, None if before is None else before.runs_on)
        row = AttemptRow(record=copy(record), runs_on=node, modify_time=self._now)
        self._db.attempts.put(record.key, row)

    # ------------------------------------------------------------------------------------------------ waits
    def _write_waits(self, decided: Decided) -> None:
        db = self._db
        for ask in decided.permits:
            self._ask(ask)
        for wait in decided.waits:
            db.waits.put((wait.name, wait.attempt, wait.index), wait)
        for attempt, index in decided.matched:
            for at in [each for each in db.waits_of[attempt] if each[2] == index]:
                db.waits.pop(at)
        for work in decided.work:
            db.work.put(work.attempt, msgspec.structs.replace(work, since=self._now, take=0, taken_by=None))
        for attempt in decided.released:
            self._release(attempt)
        for attempt in decided.returned:
            self._return(attempt)

    def _ask(self, ask: PermitAsk) -> None:
        for tag, rate in ask.rates.items():
            set_rate(self._db, tag, rate)
        for tag, limit in ask.limits.items():
            row = PermitRow(
                attempt=ask.attempt,
                tag=tag,
                group=self._group,
                granted=ask.taken,
                since=ask.since,
                criticality=ask.criticality,
                limit=limit,
                granted_at=self._now if ask.taken else None,
            )
            if (ask.attempt, tag) not in self._db.permits:
                self._db.permits.put((ask.attempt, tag), row)

    def _return(self, attempt: AttemptKey) -> None:
        for permit in list(self._db.permits_of[attempt]):
            self._db.permits.pop(permit)

    def _release(self, attempt: AttemptKey) -> None:
        self._return(attempt)
        for wait in list(self._db.waits_of[attempt]):
            self._db.waits.pop(wait)
        self._db.work.pop(attempt)
