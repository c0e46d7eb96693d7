"""The question that a run strategy is asked, and its answer."""

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from stretto.model.errors import NotFound, WrongState
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts, RunKey
from stretto.model.status import FailureMark, RunStatus
from stretto.strategies.requests import (
    Accepted,
    Answer,
    Batch,
    Duplicate,
    Refused,
    Request,
    Restart,
    Start,
    Undo,
)
from stretto.strategies.rules import MOST_ADMITTED, RULES, Drops, Joins, Refuses, Replaces, Rule
from stretto.strategies.runs import LatestRun, Mark, Replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Everything that the transaction has to write. Runs that neither end nor are admitted stay queued."""

    answers: tuple[Answer, ...] = ()  # one for each request, in their order
    spent: int = 0  # instance ids, from `Batch.next_instance_id` on
    marks: tuple[Mark, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    stop_running: str | None = None  # every running run gets `stop`, with this note on its timeline
    admitted: tuple[RunKey, ...] = ()  # in the order in which they are launched
    more: bool = False  # another pass would admit more

    @property
    def queue_change(self) -> int:
        """By how much the number of queued runs grows."""
        joined = sum(
            isinstance(answer, Accepted) and answer.status is RunStatus.CREATED for answer in self.answers
        )
        return joined - len(self.replaced) - len(self.admitted)


def admit(
    strategy: RunStrategy,
    queue: Sequence[RunKey],
    running: int,
    failed: int,
    batch: Batch | None = None,
    paused: Sequence[RunKey] = (),
) -> Admission:
    """What becomes of these requests, and which queued runs start now. Without requests: a dequeue.

    queue:    the queued runs, sorted; `queue_needed` says how many of them suffice.
    paused:   those that are paused, which are not in `queue`; `paused_needed` says how many suffice.
    running:  how many are admitted or live.
    failed:   how many have the raw status FAILED; those that the batch restarts are still among them.
    """
    rule = RULES[strategy.rule]
    batch_admission = BatchAdmission(rule, queue, running, failed, paused)
    if batch is not None:
        batch_admission.take(batch)
    in_turn = rule.in_turn(batch_admission.queue, batch_admission.paused)
    admissible = min(rule.free(strategy.workflow_concurrency, batch_admission.counts), len(in_turn))
    return Admission(
        answers=tuple(batch_admission.answers),
        spent=batch_admission.spent,
        marks=tuple(batch_admission.marks),
        replaced=tuple(batch_admission.replaced),
        stop_running=batch_admission.stop_running,
        admitted=(*batch_admission.at_once, *in_turn[: min(admissible, MOST_ADMITTED)]),
        more=admissible > MOST_ADMITTED,
    )


def refuse_all(batch: Batch) -> Admission:
    """The answers when the workflow is missing or deleted: there is no strategy to ask."""
    message = f"Cannot find workflow [{batch.workflow_id}]"
    return Admission(answers=tuple(Refused(each.request_id, NotFound, message) for each in batch.requests))


def would_admit(strategy: RunStrategy, queued: int, running: int, failed: int, paused: int = 0) -> bool:
    """The look without a lock, after a run has ended or stayed queued: is a dequeue worth a transaction?
    Where a paused run holds up others, it may be in vain.
    """
    counts = RunCounts(queued, running, failed, paused)
    return queued > 0 and RULES[strategy.rule].free(strategy.workflow_concurrency, counts) > 0


class BatchAdmission:
    """The requests of one batch, taken one after another, each in the state that those before it left. Lives
    for one call of `admit`, which reads its results from the attributes.
    """

    def __init__(
        self, rule: Rule, queue: Sequence[RunKey], running: int, failed: int, paused: Sequence[RunKey]
    ) -> None:
        self._rule = rule
        self._running = running
        self._failed = failed
        self._first: dict[str, int] = {}  # request id -> place of its first answer
        self._made: dict[RunKey, int] = {}  # new run -> place of its answer
        self._latest: dict[int, LatestRun] = {}
        self.queue = list(queue)
        self.paused = list(paused)  # queued, too, but passed over
        self.answers: list[Answer] = []
        self.replaced: list[Replaced] = []
        self.marks: list[Mark] = []
        self.stop_running: str | None = None
        self.spent = 0
        self.at_once: list[RunKey] = []  # admitted whatever the rule says

    @property
    def counts(self) -> RunCounts:
        return RunCounts(len(self.queue), self._running, self._failed, len(self.paused))

    def take(self, batch: Batch) -> None:
        self._latest.update(batch.latest)
        for request in batch.requests:
            self.answers.append(self._repeated(batch, request.request_id) or self._new(batch, request))

    def _repeated(self, batch: Batch, request_id: str) -> Answer | None:
        """The answer to a request id that was seen before; the first of a batch is noted here."""
        if request_id in batch.known:
            return Duplicate(request_id, batch.known[request_id])
        place = self._first.setdefault(request_id, len(self.answers))
        if place == len(self.answers):
            return None
        first = self.answers[place]
        return first if isinstance(first, Refused) else Duplicate(request_id, first.run)

    def _new(self, batch: Batch, request: Request) -> Answer:
        match request:
            case Start(request_id, failure):
                run = RunKey(batch.workflow_id, batch.next_instance_id + self.spent, 1)
                if failure:
                    return self._keep_failed(request_id, run, failure)
                return self._ask(request_id, run, self._line_of(request))
            case Restart(request_id, instance_id):
                ask = partial(self._ask, line=self._line_of(request))
                return self._again(batch.workflow_id, request_id, instance_id, ask)
            case Undo(request_id, instance_id):
                return self._again(batch.workflow_id, request_id, instance_id, self._admit)
        assert_never(request)

    def _again(
        self, workflow_id: str, request_id: str, instance_id: int, ask: Callable[[str, RunKey], Answer]
    ) -> Answer:
        """The next run of an instance, if its newest one has ended."""
        latest = self._latest.get(instance_id)
        if latest is None:
            message = f"Cannot find workflow instance [{workflow_id}][{instance_id}]"
            return Refused(request_id, NotFound, message)
        if not latest.ended:
            run = f"[{workflow_id}][{instance_id}][{latest.run_id}]"
            message = f"There is already a workflow instance run {run} and cannot restart another run"
            return Refused(request_id, WrongState, message)
        return ask(request_id, RunKey(workflow_id, instance_id, latest.run_id + 1))

    def _admit(self, request_id: str, run: RunKey) -> Answer:
        self._register(run, LatestRun(run.run_id, ended=False))
        self._running += 1
        self.at_once.append(run)
        return Accepted(request_id, run)

    def _keep_failed(self, request_id: str, run: RunKey, failure: str) -> Answer:
        """It touches no other run, but its failure stands like any other."""
        self._register(run, LatestRun(run.run_id, ended=True, failed=True))
        self._failed += 1
        return Accepted(request_id, run, RunStatus.FAILED, failure)

    def _line_of(self, request: Start | Restart) -> list[RunKey]:
        """Where a new run waits."""
        return self.paused if request.held else self.queue

    def _ask(self, request_id: str, run: RunKey, line: list[RunKey]) -> Answer:
        placement = self._rule.receive(run, self.counts)
        match placement:
            case Refuses(message):
                return Refused(request_id, WrongState, message)
            case Drops(note):
                self._register(run, LatestRun(run.run_id, ended=True))
                return Accepted(request_id, run, RunStatus.STOPPED, note)
            case Replaces(note, stops_running):
                self._end_queued(note)
                self.stop_running = note if stops_running else None
            case Joins():
                pass
            case _:
                assert_never(placement)
        self._register(run, LatestRun(run.run_id, ended=False))
        self._made[run] = len(self.answers)
        insort(line, run)  # a restart takes the place of its instance, not the end
        return Accepted(request_id, run)

    def _end_queued(self, note: str) -> None:
        for run in sorted((*self.queue, *self.paused)):
            place = self._made.get(run)
            if place is None:
                self.replaced.append(Replaced(run, note))
            else:
                request_id = self.answers[place].request_id
                self.answers[place] = Accepted(request_id, run, RunStatus.STOPPED, note)
            self._latest[run.instance_id] = LatestRun(run.run_id, ended=True)
        self.queue.clear()
        self.paused.clear()

    def _register(self, run: RunKey, latest: LatestRun) -> None:
        """Spend the ids, and take the standing failure of the run before off the count."""
        before = self._latest.get(run.instance_id)
        if before is not None and before.failed:
            self.marks.append(Mark(run._replace(run_id=before.run_id), FailureMark.SUPERSEDED))
            self._failed -= 1
        self._latest[run.instance_id] = latest
        self.spent += run.run_id == 1
