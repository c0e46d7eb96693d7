"""Work that this node does itself, or looks after where it is done: one job per launched attempt.

Calls for one attempt never overlap. A result stays in hand until it is known to be committed, so that it is
not lost if the group is loaded again, or moves to another node.
"""

from collections import deque
from collections.abc import Callable

import msgspec

from stretto.engine.events import Reported
from stretto.engine.records import AttemptKey
from stretto.node.asks import CallRuntime, Untrusted, Verb
from stretto.node.desk import Desk
from stretto.ports.fence import Fence
from stretto.ports.runtime import StepContext


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
    """All jobs of a node. What a runtime says goes to `deliver`."""

    def __init__(self, desk: Desk, deliver: Callable[[Job, Reported], None]) -> None:
        self._desk = desk
        self._deliver = deliver
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
                context, group, Fence(self._desk.trust), outside=outside
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
        while self._ready and self._calls < self._desk.settings.calls_at_once and self._desk.trusted:
            job = self._ready.popleft()
            if job.calling is None and job.queue:
                self._make(job, job.queue.popleft())

    def _make(self, job: Job, verb: Verb) -> None:
        job.calling = verb
        self._calls += 1
        ask = CallRuntime(verb=verb, context=job.context, fence=job.fence)
        self._desk.ask(ask, lambda event: self._answered(job, event), lambda error: self._failed(job, error))

    def _failed(self, job: Job, error: Exception) -> None:
        """Whoever makes calls answers for runtimes that raise; this is a fault of the call itself."""
        verb = job.calling
        self._called(job)
        if job.abandoned or verb is None:
            return
        if isinstance(error, Untrusted):  # the call waits for trust, as those do that were not made
            self._again(job, verb)
            return
        self._desk.tell(lambda each: each.store_failed(error, 1))
        self._desk.after(self._desk.settings.retry_first, lambda: self._again(job, verb))

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
                self._desk.after(event.again_after or 1_000, lambda: self._again(job, Verb.TERMINATE))
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

    def _abandon(self, job: Job) -> None:
        """End work of our own that goes on for nobody. Work outside belongs to whoever owns the run."""
        job.abandoned = True
        job.fence.revoke()
        job.queue.clear()
        if job.result is None and not job.outside:
            ask = CallRuntime(
                verb=Verb.TERMINATE, context=msgspec.structs.replace(job.context), fence=job.fence
            )
            self._desk.ask(ask, _ignore, _ignore)


def _ignore(_answer: object) -> None:
    """Nobody waits for it."""
