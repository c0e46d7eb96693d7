"""The question that a run strategy is asked, and its answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from stretto.model.errors import NotFound
from stretto.model.properties import RunStrategy
from stretto.model.status import RunStatus
from stretto.strategies.answers import Accepted, Answer, Refused
from stretto.strategies.reception import Reception
from stretto.strategies.requests import Batch
from stretto.strategies.rule import Crowd
from stretto.strategies.rules import MOST_ADMITTED, RULES
from stretto.strategies.runs import Mark, Replaced, RunKey


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
    reception = Reception(rule, queue, running, failed, paused)
    if batch is not None:
        reception.take(batch)
    in_turn = rule.in_turn(reception.queue, reception.paused)
    admissible = min(rule.free(strategy.workflow_concurrency, reception.crowd), len(in_turn))
    return Admission(
        answers=tuple(reception.answers),
        spent=reception.spent,
        marks=tuple(reception.marks),
        replaced=tuple(reception.replaced),
        stop_running=reception.stop_running,
        admitted=(*reception.at_once, *in_turn[: min(admissible, MOST_ADMITTED)]),
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
    crowd = Crowd(queued, running, failed, paused)
    return queued > 0 and RULES[strategy.rule].free(strategy.workflow_concurrency, crowd) > 0
