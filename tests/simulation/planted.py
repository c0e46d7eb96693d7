"""Bugs that are planted into the shipped code while it runs: each must be found within a bound of seeds.

A plant is a context manager. It replaces as little as possible, and puts it back.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import msgspec
from tests.simulation.plant import Plant, replaced
from tests.simulation.planted_permits import (
    granted_after_reload,
    lost_grant,
    room_not_checked,
    starts_forgotten_early,
)

from stretto.engine import decide as deciding_core
from stretto.engine.compensation import undo_ids
from stretto.engine.earlier import UndoPage
from stretto.engine.events import ChildEnded, Reported
from stretto.engine.machine import finish
from stretto.engine.turn import Turn
from stretto.model.status import RunStatus, StepStatus
from stretto.node.decider import Decider
from stretto.node.driver import Driver
from stretto.node.membership import Membership
from stretto.node.perform import earlier, signals
from stretto.node.perform.children import Children
from stretto.node.perform.earlier import Earlier
from stretto.node.perform.runs import GroupLoader
from stretto.node.performer import Performer
from stretto.ports.fence import Fence
from stretto.ports.messages import Kind
from stretto.store.memory import commits, retention
from stretto.store.memory import runs as workflow_transactions
from stretto.store.memory.runs import MemoryRuns
from stretto.store.memory.signals import MemorySignals
from stretto.strategies.rules import Rule


def no_generation_check() -> AbstractContextManager[None]:
    """A group commit is stored whoever owns the group by now."""
    return replaced(commits, "is_current", lambda _before: lambda _db, _lease: True)


def effect_before_commit() -> AbstractContextManager[None]:
    """Effects are carried out as soon as they are decided."""

    def make(settle: Any) -> Any:
        def settled(self: Decider, group: Any, entry: Any, draft: Any) -> None:
            settle(self, group, entry, draft)
            calls, draft.after_commit = draft.after_commit, []
            for call in calls:
                call()

        return settled

    return replaced(Decider, "_settle", make)


def no_count_down() -> AbstractContextManager[None]:
    """A step that is UNSATISFIED does not let its successors go."""

    def make(free: Any) -> Any:
        def freed(turn: Any, flow: Any, plan: Any, attempt: Any) -> None:
            if attempt.status is not StepStatus.UNSATISFIED:
                free(turn, flow, plan, attempt)

        return freed

    return replaced(finish, "free_successors", make)


def any_result_counts() -> AbstractContextManager[None]:
    """A result counts, whichever launch it is of, and a second one counts again."""

    def make(report: Any) -> Any:
        def reported(turn: Any, flow: Any, event: Reported) -> None:
            attempt = flow.attempt(event.attempt)
            if attempt is not None:
                attempt.launch = event.launch
            report(turn, flow, event)

        return reported

    handlers: Any = deciding_core.HANDLERS
    return replaced(handlers, Reported, make)  # type: ignore[arg-type]


def result_applied_twice() -> AbstractContextManager[None]:
    """A result that comes twice counts twice."""

    def make(report: Any) -> Any:
        def reported(turn: Any, flow: Any, event: Reported) -> None:
            attempt = flow.attempt(event.attempt)
            counts = attempt is not None and attempt.launch == event.launch and event.state.is_terminal
            report(turn, flow, event)
            if counts:
                attempt.launch = event.launch
                report(turn, flow, event)

        return reported

    handlers: Any = deciding_core.HANDLERS
    return replaced(handlers, Reported, make)  # type: ignore[arg-type]


def lost_row() -> AbstractContextManager[None]:
    """Some rows of the outbox are gone before anybody has read them."""

    def make(post: Any) -> Any:
        def posted(db: Any, letter: Any, now: int) -> Any:
            message = post(db, letter, now)
            if message.id % 11 == 0 and message.body.kind is not Kind.ACT:
                db.messages.pop(message.id)
            return message

        return posted

    return replaced(commits, "post", make)


def lost_letter() -> AbstractContextManager[None]:
    """The end of a child is not sent with the commit that ends it."""

    def make(post: Any) -> Any:
        def posted(db: Any, letter: Any, now: int) -> Any:
            return None if letter.body.kind is Kind.CHILD_ENDED else post(db, letter, now)

        return posted

    return replaced(commits, "post", make)


@contextmanager
def dequeued_twice() -> Iterator[None]:
    """Who dequeues decides on what stood in the queue before the lock, and admits whoever it names."""
    seen: dict[str, Any] = {}

    def make(transact: Any) -> Any:
        async def transacted(self: Any, workflow_id: str, question: Any, decide: Any) -> Any:
            def stale(standing: Any) -> Any:
                before = seen.get(workflow_id)
                seen[workflow_id] = standing
                if before is None or question.requests or not before.queue:
                    return decide(standing)
                return decide(msgspec.structs.replace(before, known=standing.known, latest=standing.latest))

            return await transact(self, workflow_id, question, stale)

        return transacted

    def lenient(_queued: Any) -> Any:
        return lambda self, key: self._db.runs[key]

    writing = workflow_transactions._Writing
    with replaced(MemoryRuns, "transact", make), replaced(writing, "_queued", lenient):
        yield


def journal_not_undone() -> AbstractContextManager[None]:
    """What a refused decision changed stays in memory."""
    return replaced(Turn, "undo", lambda _before: lambda _self: None)


def early_step() -> AbstractContextManager[None]:
    """A step begins when the first of those in front of it is complete."""

    def make(free: Any) -> Any:
        def freed(turn: Any, flow: Any, plan: Any, attempt: Any) -> None:
            for edge in plan.edges:
                flow.waiting[edge.target] = 1
            free(turn, flow, plan, attempt)

        return freed

    return replaced(finish, "free_successors", make)


def reloaded_without_claim() -> AbstractContextManager[None]:
    """After a commit of unknown outcome its groups are loaded under the generation that they have."""

    def make(_claim_again: Any) -> Any:
        async def pretend(_self: Performer, ask: Any) -> Any:
            return list(ask.leases)

        return pretend

    return replaced(Performer, "claim_again", make)


def relaunched_where_it_is() -> AbstractContextManager[None]:
    """Work on another node is taken for lost, although that node lives."""

    def make(_is_gone: Any) -> Any:
        return lambda self, node, _since: node != self._node.id

    return replaced(Membership, "is_gone", make)


def slots_ignored() -> AbstractContextManager[None]:
    """Whoever is queued may go, however many run."""
    return replaced(Rule, "free", lambda _before: lambda _self, _concurrency, crowd: crowd.queued)


def log_with_a_gap() -> AbstractContextManager[None]:
    """The new owner of a group does not count on from the last row of its change log."""

    def make(load: Any) -> Any:
        async def loaded(self: Any, leases: Any) -> Any:
            found = await load(self, leases)
            return [msgspec.structs.replace(each, seq=each.seq + 1) for each in found]

        return loaded

    return replaced(GroupLoader, "load", make)


def signals_passed_over() -> AbstractContextManager[None]:
    """A trigger that has fired passes over the next signal."""

    def make(match: Any) -> Any:
        def matched(self: Any, trigger: Any, join_key: str, fits: Any, now: int) -> Any:
            fired = match(self, trigger, join_key, fits, now)
            taken = self._db.joins[trigger.trigger_id, join_key]
            if fired:
                self._db.joins.put(
                    (trigger.trigger_id, join_key), {name: seq + 1 for name, seq in taken.items()}
                )
            return fired

        return matched

    return replaced(MemorySignals, "_match", make)


def forgotten_too_soon() -> AbstractContextManager[None]:
    """Instances are forgotten whether they have ended or not."""

    def make(_before: Any) -> Any:
        return lambda _db, _tree, _time, _named: True

    return replaced(retention, "_may_go", make)


def request_kept() -> AbstractContextManager[None]:
    """The request id of a run stays when the run goes."""

    def make(_before: Any) -> Any:
        def deleted(db: Any, row: Any) -> None:
            db.runs.pop(row.key)

        return deleted

    return replaced(retention, "delete_run", make)


def deaf_driver() -> AbstractContextManager[None]:
    """The asyncio loop does not tell the node of errors."""

    def make(_before: Any) -> Any:
        async def answer(self: Any, ask: Any) -> None:
            self.node.answered(ask, await self._performer.answer(ask))
            self._turn.set()

        return answer

    return replaced(Driver, "_answer", make)


def iterations_left_alone() -> AbstractContextManager[None]:
    """Whoever undoes a loop is told that none of its iterations can be undone."""

    def make(_page: Any) -> Any:
        async def nothing(_self: Any, _around: Any, _inline_id: str, _below: int) -> UndoPage:
            return UndoPage()

        return nothing

    return replaced(Earlier, "undo_page", make)


def children_left_alone() -> AbstractContextManager[None]:
    """The step that undoes a child is told that nothing in it can be undone."""

    def make(_before: Any) -> Any:
        async def nothing(_self: Any, effect: Any, child: Any, _sender: Any, _request_id: str) -> Any:
            return (ChildEnded(attempt=effect.attempt, child=child, status=RunStatus.SUCCEEDED),)

        return nothing

    return replaced(Children, "_undo", make)


def undone_twice() -> AbstractContextManager[None]:
    """An iteration that has undone itself is undone once more with the run around it."""

    def make(told: Any) -> Any:
        def forgetful(self: Any) -> Any:
            found = told(self)
            steps = {step.id: step for step in self._workflow.steps}
            newest = {key: record for key, (_, record) in self._newest.items() if key in steps}
            ids = [each for key, record in newest.items() for each in undo_ids(steps[key], record)]
            return msgspec.structs.replace(found, compensation=None, undo=tuple(ids))

        return forgetful

    return replaced(earlier._Told, "sum_up", make)


def begun_without_trust() -> AbstractContextManager[None]:
    """A launch that has waited inside of a runtime begins, also if its node has lost its leases meanwhile."""
    return replaced(Fence, "is_open", lambda _before: property(lambda _self: True))


def signal_of_each_attempt() -> AbstractContextManager[None]:
    """The same signal is stored again whenever somebody announces it."""
    unique = count()
    return replaced(
        signals, "instance_id_of", lambda before: lambda name, _params: before(name, {"n": next(unique)})
    )


PLANTS: Mapping[str, Plant] = {
    plant.__name__: plant
    for plant in (
        no_generation_check,
        effect_before_commit,
        no_count_down,
        granted_after_reload,
        any_result_counts,
        result_applied_twice,
        lost_letter,
        lost_row,
        lost_grant,
        dequeued_twice,
        journal_not_undone,
        early_step,
        reloaded_without_claim,
        relaunched_where_it_is,
        slots_ignored,
        log_with_a_gap,
        signals_passed_over,
        forgotten_too_soon,
        request_kept,
        deaf_driver,
        iterations_left_alone,
        children_left_alone,
        undone_twice,
        begun_without_trust,
        signal_of_each_attempt,
        room_not_checked,
        starts_forgotten_early,
    )
}
