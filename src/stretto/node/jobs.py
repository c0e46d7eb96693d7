"""Work that this node does itself, or looks after where it is done: one job per launched attempt.

Calls for one attempt never overlap. A result stays in hand until it is known to be committed, so that it is
not lost if the group is loaded again, or moves to another node.
"""

from collections import deque
from typing import Final

import msgspec

from stretto.engine.events import Reported
from stretto.engine.records import AttemptKey, RunKey
from stretto.node.answers import Untrusted
from stretto.node.asks import CallRuntime, Deliver, Verb
from stretto.node.context import NodeContext
from stretto.node.entry import Item
from stretto.node.group import Group
from stretto.node.owned_groups import OwnedGroups
from stretto.ports.fence import Fence
from stretto.ports.messages import Result
from stretto.ports.runtime import StepContext

REMEMBERED: Final = 60_000  # milliseconds that the result of work is known after it was sent to another node


class Job:
    """The work of one launch."""

    __slots__ = (
        "abandoned",
        "answers",
        "calling",
        "context",
        "delivered",
        "fence",
        "group",
        "outside",
        "queue",
        "said",
    )

    def __init__(self, context: StepContext, group: int, fence: Fence, *, outside: bool) -> None:
        self.context = context
        self.fence = fence
        self.group = group
        self.outside = outside
        self.calling: Verb | None = None
        self.queue: deque[Verb] = deque()
        self.said: Reported | None = None  # what the runtime said last
        self.answers: list[int] = []  # messages that ask for its end, or how it goes
        self.delivered = False  # the owner of its run was sent the result
        self.abandoned = False  # nobody wants to know how it ends

    @property
    def attempt(self) -> AttemptKey:
        return self.context.launch.attempt

    @property
    def launch(self) -> int:
        return self.context.launch.generation

    @property
    def result(self) -> Reported | None:
        """How the work ended, if it has."""
        return self.said if self.said is not None and self.said.state.is_terminal else None

    @property
    def is_polled(self) -> bool:
        """Whether the runtime must be asked how it goes, because it does not report by itself."""
        return self.said is not None and self.said.again_after is not None

    @property
    def is_ending(self) -> bool:
        return self.calling is Verb.TERMINATE or Verb.TERMINATE in self.queue


class Jobs:
    """All jobs of a node. What a runtime says goes to the run, or to whoever owns it now."""

    def __init__(self, node: NodeContext, owned: OwnedGroups) -> None:
        self._node = node
        self._owned = owned
        self.asked_here: set[int] = set()  # messages to this node, about its work, that are in hand
        self._jobs: dict[AttemptKey, Job] = {}
        self._ready: deque[Job] = deque()
        self._calls = 0

    @property
    def unfinished(self) -> bool:
        """Whether there is work under way, or a result that nobody has stored."""
        return any(not job.delivered for job in self._jobs.values())

    def get(self, attempt: AttemptKey, launch: int) -> Job | None:
        job = self._jobs.get(attempt)
        return job if job is not None and job.launch == launch else None

    def of_group(self, group: int) -> list[Job]:
        return [job for job in self._jobs.values() if job.group == group]

    # ---------------------------------------------------------------------------------------------- calling
    def call(self, context: StepContext, group: int, verb: Verb, *, outside: bool) -> Job:
        """Ask the runtime something about a launch; an older launch of the same attempt is forgotten."""
        job = self.get(context.launch.attempt, context.launch.generation)
        if job is None:
            self._drop(context.launch.attempt)
            job = self._jobs[context.launch.attempt] = Job(
                context, group, Fence(self._node.trust), outside=outside
            )
        job.context = context
        if job.result is not None:
            self._deliver(job, job.result)
        elif verb not in job.queue and not (verb is Verb.TERMINATE and job.calling is Verb.TERMINATE):
            job.queue.append(verb)
            self._line_up(job)
        return job

    def _drop(self, attempt: AttemptKey) -> None:
        """The work of an older launch must not go on beside that of a newer one."""
        job = self._jobs.pop(attempt, None)
        if job is not None:
            self._abandon(job)

    def _line_up(self, job: Job) -> None:
        if job.calling is None:
            self._ready.append(job)

    def pump(self) -> None:
        """Make the calls that may be made: not too many at once, and none without trust."""
        while self._ready and self._calls < self._node.settings.calls_at_once and self._node.trusted:
            job = self._ready.popleft()
            if job.calling is None and job.queue:
                self._make(job, job.queue.popleft())

    def _make(self, job: Job, verb: Verb) -> None:
        job.calling = verb
        self._calls += 1
        ask = CallRuntime(verb=verb, context=job.context, fence=job.fence)
        self._node.ask(ask, lambda event: self._answered(job, event), lambda error: self._failed(job, error))

    def _failed(self, job: Job, error: Exception) -> None:
        """Whoever makes calls answers for runtimes that raise; this is a fault of the call itself."""
        verb = job.calling
        self._called(job)
        if job.abandoned or verb is None:
            return
        if isinstance(error, Untrusted):  # the call waits for trust, as those do that were not made
            self._again(job, verb)
            return
        self._node.tell(lambda each: each.store_failed(error, 1))
        self._node.after(self._node.settings.retry_first, lambda: self._again(job, verb))

    def _again(self, job: Job, verb: Verb) -> None:
        if self._jobs.get(job.attempt) is job and job.result is None:
            job.queue.appendleft(verb)
            self._line_up(job)

    def _called(self, job: Job) -> None:
        self._calls -= 1
        job.calling = None
        if job.queue:
            self._line_up(job)

    # --------------------------------------------------------------------------------------------- answers
    def _answered(self, job: Job, event: Reported) -> None:
        verb = job.calling
        self._called(job)
        if verb is Verb.TERMINATE and not event.state.is_terminal:
            if not job.abandoned:  # it takes its time to end
                self._node.after(event.again_after or 1_000, lambda: self._again(job, Verb.TERMINATE))
            return
        self._take(job, event)

    def reported(self, event: Reported) -> None:
        """A runtime says something by itself."""
        job = self.get(event.attempt, event.launch)
        if job is not None:
            self._take(job, event)

    def _take(self, job: Job, event: Reported) -> None:
        if job.abandoned or job.result is not None:
            return
        job.said = event
        if event.state.is_terminal:
            job.queue.clear()
        self._deliver(job, event)

    # ------------------------------------------------------------------------------------------------- ends
    def stored(self, attempt: AttemptKey, launch: int) -> None:
        """What a launch has said is stored, or not wanted. That its work goes on settles nothing."""
        job = self.get(attempt, launch)
        if job is not None and job.result is not None:
            self.settled(attempt, launch)

    def settled(self, attempt: AttemptKey, launch: int) -> None:
        """What came of a launch is committed, or is not wanted any more."""
        if self.get(attempt, launch) is not None:
            self._drop(attempt)

    def abandon_all(self) -> None:
        """Nothing that this node does counts any more: end what can be ended, and forget it."""
        for attempt in list(self._jobs):
            self._drop(attempt)
        self._ready.clear()
        self._calls = 0

    def clear(self) -> None:
        """A new life: the work of the old one is ended."""
        self.asked_here.clear()
        self.abandon_all()

    def _abandon(self, job: Job) -> None:
        """End work of our own that goes on for nobody. Work outside belongs to whoever owns the run."""
        job.abandoned = True
        job.fence.revoke()
        job.queue.clear()
        if job.result is None and not job.outside:
            ask = CallRuntime(
                verb=Verb.TERMINATE, context=msgspec.structs.replace(job.context), fence=job.fence
            )
            self._node.ask(ask, _ignore, _ignore)

    # ----------------------------------------------------------------------------------------------- results
    def _deliver(self, job: Job, event: Reported) -> None:
        """A runtime has answered: to the run, if it is ours, else to whoever owns it now."""
        group = self._owned.groups.get(job.group)
        if group is None or job.answers:
            self._send(job, event)
        if group is None:
            return
        entry = group.entries.get(self._root_of(group, job.attempt))
        if entry is not None:
            group.put(entry, Item(event))
        # Else the group is being loaded: every launch is looked at then, and finds what is in hand.

    def _root_of(self, group: Group, attempt: AttemptKey) -> RunKey:
        return group.inline.get(attempt.run.workflow_id, attempt.run)

    def _send(self, job: Job, event: Reported, tries: int = 0) -> None:
        """A result is sent until the store has it, or does not want it; it answers all who asked."""
        asked: list[int | None] = [*job.answers] or [None]
        job.answers = []
        for answers in asked:
            self._send_one(job, event, answers, tries)

    def _send_one(self, job: Job, event: Reported, answers: int | None, tries: int) -> None:
        def then(_stored: bool) -> None:
            self.asked_here.discard(answers or 0)
            # Kept for a while: if the group comes back to us before the message, we still know the work.
            if event.state.is_terminal:
                job.delivered = True
                self._node.after(REMEMBERED, lambda: self.settled(job.attempt, job.launch))

        def otherwise(_error: Exception) -> None:
            if event.state.is_terminal and self.get(job.attempt, job.launch) is job:
                job.answers += [] if answers is None else [answers]
                self._node.after(self._node.back_off(tries), lambda: self._send_again(job, event, tries))
            else:
                self.asked_here.discard(answers or 0)  # it is found again, and asks again

        ask = Deliver(node=self._node.id, result=Result(event=event), answers=answers)
        self._node.ask(ask, then, otherwise)

    def _send_again(self, job: Job, event: Reported, tries: int) -> None:
        """Maybe the group has come back meanwhile."""
        if self._owned.groups.get(job.group) is None:
            self._send(job, event, tries + 1)
        else:
            self._deliver(job, event)

    def given_up(self, group: Group) -> None:
        """A group has gone: what is in hand of its work goes to the next owner."""
        for job in self.of_group(group.number):
            if job.result is not None:
                self._send(job, job.result)
            elif job.outside:  # the next owner asks for it itself
                self.settled(job.attempt, job.launch)


def _ignore(_answer: object) -> None:
    """Nobody waits for it."""
