"""What follows a commit: its effects, and the looks that nobody else would take."""

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.elsewhere import question_of
from stretto.engine.records import AttemptKey
from stretto.model.errors import Unavailable
from stretto.model.status import StepStatus
from stretto.node.asks import Ask, Carry, Deliver, Evaluate, GrantTags, LookAtQueues, TagWaits, Verb
from stretto.node.book import Book
from stretto.node.desk import Desk
from stretto.node.draft import Draft
from stretto.node.entry import Entry, Item
from stretto.node.group import Group
from stretto.node.jobs import Job, Jobs
from stretto.node.launches import context_of
from stretto.ports.failures import Fenced
from stretto.ports.messages import Result

REMEMBERED: Final = 60_000  # how long the result of work is known that was sent to another node


class Acting:
    """Carries effects out, a bounded number at once and none without trust; their answers are events."""

    def __init__(self, desk: Desk, book: Book, outside: Callable[[Any], bool]) -> None:
        self._desk = desk
        self._book = book
        self._outside = outside
        self.jobs = Jobs(desk, self._deliver)
        self.asked_here: set[int] = set()  # messages to this node, about its work, that are in hand
        self._ready: deque[Callable[[], None]] = deque()
        self._under_way = 0
        self._tags: dict[str, None] = {}  # somebody waits for them, or gave some back
        self._awaited: set[str] = set()  # those of them that attempts of this node may wait for
        self._slots: set[str] = set()  # tags whose rate is waited for, each with a timer
        self._queues: dict[str, None] = {}  # workflows that have a run less
        self._handlers: Mapping[type, Callable[[Group, Entry, Any], None]] = {
            todo.StartWork: self._work,
            todo.LookAtWork: self._work,
            todo.TerminateWork: self._work,
            todo.EvaluateElsewhere: self._evaluate,
            todo.ResumeLoop: self._resume,
            todo.AskPermits: self._ask_permits,
            todo.RunEnded: self._run_ended,
            todo.StartChild: self._child,
            todo.StopChild: self._child,
        }

    def clear(self) -> None:
        """A new life: the work of the old one is ended, and what was to be done is not."""
        self.asked_here.clear()
        self._ready.clear()
        self._under_way = 0
        self._tags = {}
        self._awaited = set()
        self._slots = set()
        self._queues = {}
        self.jobs.abandon_all()

    def pump(self) -> None:
        if self._tags:
            self._grant(GrantTags(tags=tuple(self._tags)))
            self._tags = {}
        if self._queues:
            self.look(LookAtQueues(workflow_ids=tuple(self._queues)))
            self._queues = {}
        while self._ready and self._under_way < self._desk.settings.effects_at_once and self._desk.trusted:
            self._ready.popleft()()
        self.jobs.pump()

    # ------------------------------------------------------------------------------------------ after commits
    def done(self, group: Group, draft: Draft) -> None:
        """What was decided for a run is stored."""
        for attempt, launch in draft.results:
            self._settle_result(attempt, launch)
        entry = draft.entry
        if entry is None:
            return
        entry.launch = False
        self._tags.update(dict.fromkeys(draft.freed))
        for effect in draft.effects:
            self.carry_out(group, entry, effect)
        self._book.touch(entry)

    def _settle_result(self, attempt: AttemptKey, launch: int) -> None:
        """A result is stored, or was not wanted. One that only says that the work goes on settles nothing."""
        job = self.jobs.get(attempt, launch)
        if job is not None and job.result is not None:
            self.jobs.settled(attempt, launch)

    def carry_out(self, group: Group, entry: Entry, effect: todo.Effect) -> None:
        self._handlers.get(type(effect), self._carry)(group, entry, effect)

    # ------------------------------------------------------------------------------------------------ asking
    def _queue(self, group: Group, entry: Entry, ask: Ask, attempt: AttemptKey, tries: int = 0) -> None:
        """An ask whose answer is events for a run. As long as it is under way, the run does not leave."""
        entry.asked += 1

        def finished() -> Entry | None:
            self._under_way -= 1
            return over()

        def over() -> Entry | None:
            entry.asked -= 1
            self._unmark(entry, ask, attempt)
            return self._image(group, entry, ask)

        def then(answer: Any) -> None:
            image = finished()
            if image is not None:
                for event in answer if isinstance(answer, tuple | list) else (answer,):
                    group.put(image, Item(event))
                self._book.touch(image)

        def otherwise(error: Exception) -> None:
            image = finished()
            if image is None or isinstance(error, Fenced):
                return  # whoever looks after the run now asks again
            if isinstance(error, Unavailable):
                self._desk.tell(lambda each: each.store_failed(error, tries + 1))
                self._mark(entry, ask, attempt)
                entry.asked += 1
                self._desk.after(self._desk.back_off(tries), again)
            else:
                self._went_wrong(group, image, ask, attempt, error)

        def again() -> None:
            image = over()
            if image is not None:
                self._queue(group, image, ask, attempt, tries + 1)

        def go() -> None:
            self._under_way += 1
            self._desk.ask(ask, then, otherwise)

        self._mark(entry, ask, attempt)
        self._ready.append(go)

    def _image(self, group: Group, entry: Entry, ask: Ask) -> Entry | None:
        """For whom an answer is. If the run was loaded again meanwhile, what it lacks was asked again. The
        start of a child was not: it can not be taken back, and two at once might refuse each other.
        """
        if self._book.holds(group, entry):
            return entry
        return group.entries.get(entry.key) if _starts_child(ask) and self._book.holds(group) else None

    def _went_wrong(
        self, group: Group, entry: Entry, ask: Ask, attempt: AttemptKey, error: Exception
    ) -> None:
        """The step fails. One that is being ended waits for an answer, and only a look for its child is one.

        If it was the start of a child that went wrong, there may be one: a step that lets its child alone, or
        is being ended, must know that; for others the core asks by itself.
        """
        effect = ask.effect if isinstance(ask, Carry) else None
        record = entry.attempt(attempt)
        # Once it is decided how the step ends, it waits for the value that it lacks for that.
        ending = record is not None and record.ending is not None and record.decided is None
        if not ending or isinstance(effect, todo.StopChild):
            text = f"internal error: {type(error).__name__}: {error}"
            answers = isinstance(effect, todo.StopChild)  # until it is decided, the step may be asked to end
            group.put(entry, Item(happened.Faulted(attempt=attempt, message=text, answers=answers)))
        if isinstance(effect, todo.StartChild) and (ending or not effect.sync):
            self._carry(group, entry, todo.StopChild(attempt=attempt, child=None, user=""))

    def _mark(self, entry: Entry, ask: Ask, attempt: AttemptKey) -> None:
        if _starts_child(ask):
            entry.carrying.add(attempt)

    def _unmark(self, entry: Entry, ask: Ask, attempt: AttemptKey) -> None:
        if _starts_child(ask):
            entry.carrying.discard(attempt)

    def look(self, ask: Ask) -> None:
        """A look that brings no event. If it fails, a sweep repeats it."""
        self._look(ask, self._wait_for_slots)

    def _grant(self, ask: GrantTags) -> None:
        """Let those go who wait for tags, and note for which of them somebody still waits."""
        awaited, self._awaited = self._awaited, set()

        def then(waits: TagWaits) -> None:
            self._book.permits.looked(ask.tags, waits.waited_for)
            self._wait_for_slots(waits)
            # Another node may have let ours go, and can not always tell us: a start under a rate must not
            # be late, or it falls into the window of the next ones.
            if any(tag in waits.slots_in or tag not in waits.waited_for for tag in awaited):
                self._book.hurry = True

        self._look(ask, then)

    def _look(self, ask: Ask, then: Callable[[TagWaits], None]) -> None:
        def over(answer: object) -> None:
            self._under_way -= 1
            if isinstance(answer, TagWaits):
                then(answer)

        def go() -> None:
            self._under_way += 1
            self._desk.ask(ask, over, over)

        self._ready.append(go)

    def _wait_for_slots(self, waits: TagWaits) -> None:
        """Look at tags again when their rate allows the next start; one timer for each tag is enough."""
        for tag, wait in waits.slots_in.items():
            if tag not in self._slots:
                self._slots.add(tag)
                self._desk.after(max(wait, 0) + 1, partial(self._slot_is_free, tag))

    def look_at_rates(self) -> None:
        """Look at the tags whose rate is waited for at once, and not when their timers ring."""
        self._tags.update(dict.fromkeys(self._slots))

    def _slot_is_free(self, tag: str) -> None:
        self._slots.discard(tag)
        self._tags[tag] = None
        self._awaited.add(tag)

    # ----------------------------------------------------------------------------------------------- effects
    def _carry(self, group: Group, entry: Entry, effect: Any) -> None:
        run = entry.run_of(effect.attempt)
        if run is not None:  # else what it was for has ended meanwhile
            ask = Carry(lease=group.lease, root=entry.key, effect=effect, run=run)
            self._queue(group, entry, ask, effect.attempt)

    def _child(self, group: Group, entry: Entry, effect: todo.StartChild | todo.StopChild) -> None:
        """Start a child, or look for it. While it is being started, the answer to that says all."""
        if effect.attempt not in entry.carrying:
            self._carry(group, entry, effect)

    def _evaluate(self, group: Group, entry: Entry, effect: todo.EvaluateElsewhere) -> None:
        flow = None if entry.flow is None else entry.flow.tree.live.get(effect.attempt.run)
        question = None if flow is None else question_of(flow, effect.attempt)
        if question is not None:
            ask = Evaluate(lease=group.lease, root=entry.key, question=question)
            self._queue(group, entry, ask, effect.attempt)

    def _resume(self, group: Group, entry: Entry, effect: todo.ResumeLoop) -> None:
        group.put(entry, Item(happened.Resumed(attempt=effect.attempt)))

    def _ask_permits(self, _group: Group, _entry: Entry, effect: todo.AskPermits) -> None:
        self._tags.update(dict.fromkeys(effect.limits))
        self._awaited.update(effect.limits)

    def _run_ended(self, _group: Group, entry: Entry, _effect: todo.RunEnded) -> None:
        self._queues[entry.key.workflow_id] = None

    def _work(self, group: Group, entry: Entry, effect: Any) -> None:
        """Start, look at or end work, unless the attempt has moved on since."""
        attempt = entry.attempt(effect.attempt)
        context = context_of(entry, effect.attempt, effect.launch)
        if attempt is None or context is None:
            return
        verb = _VERBS[type(effect)]
        if verb is Verb.EXECUTE and attempt.status is StepStatus.STARTING:
            verb = Verb.START  # nobody knows whether it was started: it is, again, under the same launch
        self.jobs.call(context, group.number, verb, outside=self._outside(context.step))

    # ----------------------------------------------------------------------------------------------- results
    def _deliver(self, job: Job, event: happened.Reported) -> None:
        """A runtime has answered: to the run, if it is ours, else to whoever owns it now."""
        group = self._book.groups.get(job.group)
        if group is None or job.answers:
            self._send(job, event)
        if group is None:
            return
        entry = group.entries.get(self._root_of(group, job.attempt))
        if entry is not None:
            group.put(entry, Item(event))
        # Else the group is being loaded: every launch is looked at then, and finds what is in hand.

    def _root_of(self, group: Group, attempt: AttemptKey) -> Any:
        return group.inline.get(attempt.run.workflow_id, attempt.run)

    def _send(self, job: Job, event: happened.Reported, tries: int = 0) -> None:
        """T8. A result is sent until the store has it, or does not want it; it answers all who asked."""
        asked: list[int | None] = [*job.answers] or [None]
        job.answers = []
        for answers in asked:
            self._send_one(job, event, answers, tries)

    def _send_one(self, job: Job, event: happened.Reported, answers: int | None, tries: int) -> None:
        def then(_stored: bool) -> None:
            self.asked_here.discard(answers or 0)
            # Kept for a while: if the group comes back to us before the message, we still know the work.
            if event.state.is_terminal:
                job.delivered = True
                self._desk.after(REMEMBERED, lambda: self.jobs.settled(job.attempt, job.launch))

        def otherwise(_error: Exception) -> None:
            if event.state.is_terminal and self.jobs.get(job.attempt, job.launch) is job:
                job.answers += [] if answers is None else [answers]
                self._desk.after(self._desk.back_off(tries), lambda: self._send_again(job, event, tries))
            else:
                self.asked_here.discard(answers or 0)  # it is found again, and asks again

        ask = Deliver(node=self._desk.node, result=Result(event=event), answers=answers)
        self._desk.ask(ask, then, otherwise)

    def _send_again(self, job: Job, event: happened.Reported, tries: int) -> None:
        """Maybe the group has come back meanwhile."""
        if self._book.groups.get(job.group) is None:
            self._send(job, event, tries + 1)
        else:
            self._deliver(job, event)

    def given_up(self, group: Group) -> None:
        """A group has gone: what is in hand of its work goes to the next owner."""
        for job in self.jobs.of_group(group.number):
            if job.result is not None:
                self._send(job, job.result)
            elif job.outside:  # the next owner asks for it itself
                self.jobs.settled(job.attempt, job.launch)


_VERBS: Final[Mapping[type, Verb]] = {
    todo.StartWork: Verb.START,
    todo.LookAtWork: Verb.EXECUTE,
    todo.TerminateWork: Verb.TERMINATE,
}


def _starts_child(ask: Ask) -> bool:
    return isinstance(ask, Carry) and isinstance(ask.effect, todo.StartChild)
