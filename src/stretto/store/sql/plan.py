"""The part of a group commit that is known before anything is read: what the decisions ask for, as rows.

A record that several decisions changed is written once, as the last of them left it. What goes is deleted
before anything is put; what was put earlier in the same part is then just not put.
"""

from collections.abc import Iterable
from typing import NamedTuple

from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.model.status import RunStatus
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.rows import NodeId, Phase, RunSummary, ended_of
from stretto.store.sql.approvals import approval_rows
from stretto.store.sql.codec import ATTEMPT, BODIES, COUNTS, EVENTS, LOOP, OUTCOME, RUN, SUMMARY
from stretto.store.sql.large import Large
from stretto.store.sql.params import Base, KnownParams
from stretto.store.sql.rows.attempts import attempt_values
from stretto.store.sql.rows.keys import checked_attempt, flat
from stretto.store.sql.rows.messages import letter_row
from stretto.store.sql.rows.permits import GRANTED, ask_rows
from stretto.store.sql.rows.runs import iteration_row, state_of
from stretto.store.sql.signals import wait_values
from stretto.store.sql.statement import Row
from stretto.store.sql.work import work_values

FlatKey = tuple[str, int, int, str, int]


class Step(NamedTuple):
    """What one decision means for the phases of runs."""

    root: RunKey | None
    launch: bool
    has_records: bool
    due_at: int | None
    keeps_due: bool
    runs: tuple[tuple[RunKey, bool], ...]  # written: the run, and whether it is over


class Plan:
    """The part of one group, on its way into the tables."""

    def __init__(self, part: GroupPart, known: KnownParams, blob_from: int) -> None:
        self.group = part.lease.group
        self.steps: list[Step] = []
        self.needed: list[int] = []  # messages that must be there
        self.consumed: list[int] = []
        self.answers: list[tuple[int, str]] = []
        self.continued: list[Row] = []
        self.letters: list[Row] = []
        self.ended: list[tuple[RunKey, RunStatus]] = []  # runs that are not iterations
        self.updates: dict[RunKey, Row] = {}  # rows of `UPDATE_RUN`, but for `due_at`
        self.iterations: list[Row] = []
        self.attempts: list[Row] = []
        self.attempts_on: list[Row] = []
        self.approvals: list[Row] = []
        self.loops: list[Row] = []
        self.large = Large(blob_from)
        self.records: list[RunRecord] = []  # whose parameters are stored with this commit, if not before
        self.bases: list[tuple[RunKey, Base]] = []
        self.released: list[FlatKey] = []  # whose waits and work go
        self.returned: list[FlatKey] = []  # whose permits go
        self.matched: list[Row] = []
        self.asks: list[Row] = []
        self.takes: list[Row] = []  # permits that are held from this commit on
        self.uses = any(decided.uses for decided in part.decisions)
        self.rates: list[Row] = []
        self.waits: list[Row] = []
        self.work: list[Row] = []
        self.log: Row | None = None
        _Planning(self, known).plan(part)

    @property
    def rows(self) -> int:
        """About how many rows it writes."""
        return len(self.updates) + len(self.iterations) + len(self.attempts) + len(self.attempts_on)


class _Planning:
    """Goes through the decisions in their order."""

    def __init__(self, plan: Plan, known: KnownParams) -> None:
        self._plan = plan
        self._known = known
        self._runs: dict[RunKey, tuple[RunRecord, RunKey]] = {}  # with the run around it
        self._summaries: dict[RunKey, RunSummary] = {}
        self._attempts: dict[AttemptKey, AttemptRecord] = {}
        self._homes: dict[AttemptKey, str] = {}  # the workflows that attempts with a question belong to
        self._runs_on: dict[AttemptKey, NodeId | None] = {}
        self._loops: dict[AttemptKey, LoopRecord] = {}
        self._released: set[AttemptKey] = set()
        self._returned: set[AttemptKey] = set()
        self._matched: set[tuple[AttemptKey, int]] = set()
        self._asks: dict[tuple[AttemptKey, str], Row] = {}
        self._rates: dict[str, str] = {}
        self._waits: dict[tuple[AttemptKey, int, str], Row] = {}
        self._work: dict[AttemptKey, Row] = {}

    def plan(self, part: GroupPart) -> None:
        for decided in part.decisions:
            self._add_messages(decided)
            self._add_records(decided)
            self._add_waits(decided)
        self._encode_runs()
        self._encode_attempts()
        plan = self._plan
        plan.released = sorted(flat(key) for key in self._released)
        plan.returned = sorted(flat(key) for key in self._returned)
        plan.matched = sorted((*flat(key), index) for key, index in self._matched)
        plan.asks = [row for row in self._asks.values() if not row[GRANTED]]
        plan.takes = [row for row in self._asks.values() if row[GRANTED]]
        plan.rates = list(self._rates.items())
        plan.waits = list(self._waits.values())
        plan.work = list(self._work.values())
        events = tuple(event for decided in part.decisions for event in decided.events)
        if events:
            plan.log = (plan.group, part.seq, EVENTS.write(events))

    def _add_messages(self, decided: Decided) -> None:
        plan = self._plan
        plan.needed += (*decided.consumed, *decided.answered, *decided.continued)
        plan.consumed += decided.consumed
        plan.answers += [(number, OUTCOME.write(outcome)) for number, outcome in decided.answered.items()]
        for number, body in decided.continued.items():
            plan.continued.append((number, body.kind, BODIES[body.kind].write(body)))
        plan.letters += [letter_row(letter, 0) for letter in decided.sent]

    def _add_records(self, decided: Decided) -> None:
        written: list[tuple[RunKey, bool]] = []
        root = decided.root
        for record in decided.records:
            if isinstance(record, AttemptRecord):
                self._attempts[record.key] = record
                if record.asks is not None:
                    self._homes[record.key] = (root or record.key.run).workflow_id
            elif isinstance(record, RunRecord):
                self._runs[record.key] = (record, root or record.key)
                written.append((record.key, record.status.is_terminal))
            else:
                self._loops[record.key] = record
        self._summaries.update(decided.summaries)
        self._runs_on.update(decided.runs_on)
        if root is not None or decided.records:
            has_records = bool(decided.records)
            step = Step(root, decided.launch, has_records, decided.due_at, decided.keeps_due, tuple(written))
            self._plan.steps.append(step)

    def _add_waits(self, decided: Decided) -> None:
        group = self._plan.group
        for ask in decided.permits:
            for row in ask_rows(ask, group):
                self._asks.setdefault((ask.attempt, row[5]), row)
            self._rates.update(ask.rates)
        for wait in decided.waits:
            self._waits[wait.attempt, wait.index, wait.name] = wait_values(wait)
        for attempt, index in decided.matched:
            self._matched.add((checked_attempt(attempt), index))
            for at in [each for each in self._waits if each[:2] == (attempt, index)]:
                del self._waits[at]
        for work in decided.work:
            self._work[work.attempt] = work_values(work)
        for attempt in decided.released:
            self._release(checked_attempt(attempt))
        for attempt in decided.returned:
            self._return(checked_attempt(attempt))

    def _release(self, attempt: AttemptKey) -> None:
        self._released.add(attempt)
        self._return(attempt)
        if self._waits:
            self._waits = {at: row for at, row in self._waits.items() if at[0] != attempt}
        self._work.pop(attempt, None)

    def _return(self, attempt: AttemptKey) -> None:
        self._returned.add(attempt)
        if self._asks:
            self._asks = {at: row for at, row in self._asks.items() if at[0] != attempt}

    # ------------------------------------------------------------------------------------------- encoding
    def _encode_runs(self) -> None:
        plan = self._plan
        for key, (record, root) in self._runs.items():
            summary = self._summaries.get(key)
            params = self._known.written(record, iteration=key != root)
            docs = (
                None if summary is None else SUMMARY.write(summary),
                plan.large.kept_params(key, params.own),
                plan.large.kept("run", key, RUN.write(record)),
            )
            plan.records.append(record)
            phase = Phase.ENDED if record.status.is_terminal else Phase.LIVE
            if key != root:
                row = iteration_row(record, phase, plan.group, root, docs)
                plan.iterations.append((*row, self._shared(root, params.base)))
                continue
            plan.updates[key] = (*key, *state_of(record, phase), *docs)
            if phase is Phase.ENDED:
                plan.ended.append((key, record.status))

    def _shared(self, root: RunKey, base: Base | None) -> str | None:
        """The parameters around an iteration, which are written once."""
        if base is None:
            return None
        if not self._known.is_kept(root, base):
            self._plan.large.share(root, base.digest, base.text)
            self._plan.bases.append((root, base))
        return base.digest

    def _encode_attempts(self) -> None:
        plan, runs_on = self._plan, self._runs_on
        for key, record in self._attempts.items():
            doc = ATTEMPT.write(record)
            kept = plan.large.kept("attempt", (*key.run, key.step_id, key.number), doc)
            row = attempt_values(record, kept)
            if key in runs_on:
                plan.attempts_on.append((*row, runs_on[key]))
            else:
                plan.attempts.append(row)
        for key, home in self._homes.items():
            plan.approvals += approval_rows(self._attempts[key], home)
        for key, loop in self._loops.items():
            place = flat(checked_attempt(key))
            doc = plan.large.kept("run_loop", place, LOOP.write(loop))
            plan.loops.append((*place, doc, COUNTS.write(ended_of(loop))))


def rates_of(plans: Iterable[Plan]) -> list[Row]:
    """The rates that attempts bring along, by tag; of two the last counts."""
    return sorted({row[0]: row for plan in plans for row in plan.rates}.values())


def by_key(rows: Iterable[Iterable[Row]], width: int) -> list[Row]:
    """The rows of all groups by key, so that two commits lock them in the same order."""
    found = [row for each in rows for row in each]
    if len(found) > 1:
        found.sort(key=lambda row: row[:width])
    return found
