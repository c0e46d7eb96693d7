"""Asks that follow commits: effects on the database, and looks at queues and permits. A bounded number is
under way at once, and none begins without trust.
"""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from stretto.engine.effects import AskPermits, EvaluateElsewhere, StopChild
from stretto.engine.elsewhere import question_of
from stretto.engine.events import Faulted
from stretto.engine.records import AttemptKey
from stretto.model.errors import Unavailable
from stretto.node.answers import TagWaits
from stretto.node.asks import (
    Ask,
    Carry,
    E,
    Evaluate,
    FindChildRun,
    GrantTags,
    LookAtQueues,
    StartChildRun,
)
from stretto.node.context import NodeContext
from stretto.node.entry import Entry, Item
from stretto.node.group import Group
from stretto.node.owned_groups import OwnedGroups
from stretto.ports.failures import Fenced


class EffectQueue:
    """Asks in line. Effects are carried out once their commit is stored; their answers are events."""

    def __init__(self, node: NodeContext, owned: OwnedGroups) -> None:
        self._node = node
        self._owned = owned
        self._ready: deque[Callable[[], None]] = deque()
        self._under_way = 0
        self._tags: dict[str, None] = {}  # somebody waits for them, or gave some back
        self._awaited: set[str] = set()  # those of them that attempts of this node may wait for
        self._slots: set[str] = set()  # tags whose rate is waited for, each with a timer
        self._queues: dict[str, None] = {}  # workflows that have a run less

    def clear(self) -> None:
        """A new life: what was to be done is not done."""
        self._ready.clear()
        self._under_way = 0
        self._tags = {}
        self._awaited = set()
        self._slots = set()
        self._queues = {}

    def pump(self) -> None:
        if self._tags:
            self._grant(GrantTags(tags=tuple(self._tags)))
            self._tags = {}
        if self._queues:
            self.look(LookAtQueues(workflow_ids=tuple(self._queues)))
            self._queues = {}
        while self._ready and self._under_way < self._node.settings.effects_at_once and self._node.trusted:
            self._ready.popleft()()

    # ----------------------------------------------------------------------------------------------- effects
    def carry(self, group: Group, entry: Entry, make: type[Carry[E]], effect: E) -> None:
        """Carry out an effect, unless what it was for has ended meanwhile."""
        run = entry.run_of(effect.attempt)
        if run is not None:
            ask = make(lease=group.lease, root=entry.key, effect=effect, run=run)
            self._queue(group, entry, ask, effect.attempt)

    def carry_for_child(self, group: Group, entry: Entry, make: type[Carry[E]], effect: E) -> None:
        """Start a child, or look for it. While it is being started, the answer to that says all."""
        if effect.attempt not in entry.carrying:
            self.carry(group, entry, make, effect)

    def evaluate(self, group: Group, entry: Entry, effect: EvaluateElsewhere) -> None:
        flow = None if entry.flow is None else entry.flow.tree.live.get(effect.attempt.run)
        question = None if flow is None else question_of(flow, effect.attempt)
        if question is not None:
            ask = Evaluate(lease=group.lease, root=entry.key, question=question)
            self._queue(group, entry, ask, effect.attempt)

    def look_at_permits(self, effect: AskPermits) -> None:
        """An attempt waits for permits: they may be granted at once."""
        self._tags.update(dict.fromkeys(effect.limits))
        self._awaited.update(effect.limits)

    def grant_later(self, tags: Iterable[str]) -> None:
        """Permits of these tags were returned: others may get them."""
        self._tags.update(dict.fromkeys(tags))

    def admit_next(self, workflow_id: str) -> None:
        """A run of this workflow has ended: a queued one may begin."""
        self._queues[workflow_id] = None

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
                self._owned.touch(image)

        def otherwise(error: Exception) -> None:
            image = finished()
            if image is None or isinstance(error, Fenced):
                return  # whoever looks after the run now asks again
            if isinstance(error, Unavailable):
                self._node.tell(lambda each: each.store_failed(error, tries + 1))
                self._mark(entry, ask, attempt)
                entry.asked += 1
                self._node.after(self._node.back_off(tries), again)
            else:
                self._went_wrong(group, image, ask, attempt, error)

        def again() -> None:
            image = over()
            if image is not None:
                self._queue(group, image, ask, attempt, tries + 1)

        def go() -> None:
            self._under_way += 1
            self._node.ask(ask, then, otherwise)

        self._mark(entry, ask, attempt)
        self._ready.append(go)

    def _image(self, group: Group, entry: Entry, ask: Ask) -> Entry | None:
        """For whom an answer is. If the run was loaded again meanwhile, what it lacks was asked again. The
        start of a child was not: it can not be taken back, and two at once might refuse each other.
        """
        if self._owned.holds(group, entry):
            return entry
        return (
            group.entries.get(entry.key)
            if isinstance(ask, StartChildRun) and self._owned.holds(group)
            else None
        )

    def _went_wrong(
        self, group: Group, entry: Entry, ask: Ask, attempt: AttemptKey, error: Exception
    ) -> None:
        """The step fails. One that is being ended waits for an answer, and only a look for its child is one.

        If it was the start of a child that went wrong, there may be one: a step that lets its child alone, or
        is being ended, must know that; for others the core asks by itself.
        """
        record = entry.attempt(attempt)
        # Once it is decided how the step ends, it waits for the value that it lacks for that.
        ending = record is not None and record.ending is not None and record.decided is None
        if not ending or isinstance(ask, FindChildRun):
            text = f"internal error: {type(error).__name__}: {error}"
            answers = isinstance(ask, FindChildRun)  # until it is decided, the step may be asked to end
            group.put(entry, Item(Faulted(attempt=attempt, message=text, answers=answers)))
        if isinstance(ask, StartChildRun) and (ending or not ask.effect.sync):
            self.carry(group, entry, FindChildRun, StopChild(attempt=attempt, child=None, user=""))

    def _mark(self, entry: Entry, ask: Ask, attempt: AttemptKey) -> None:
        if isinstance(ask, StartChildRun):
            entry.carrying.add(attempt)

    def _unmark(self, entry: Entry, ask: Ask, attempt: AttemptKey) -> None:
        if isinstance(ask, StartChildRun):
            entry.carrying.discard(attempt)

    def look(self, ask: Ask) -> None:
        """A look that brings no event. If it fails, a sweep repeats it."""
        self._look(ask, self._wait_for_slots)

    def _grant(self, ask: GrantTags) -> None:
        """Let those go who wait for tags, and note for which of them somebody still waits."""
        awaited, self._awaited = self._awaited, set()

        def then(waits: TagWaits) -> None:
            self._owned.permits.looked(ask.tags, waits.waited_for)
            self._wait_for_slots(waits)
            # Another node may have let ours go, and can not always tell us: a start under a rate must not
            # be late, or it falls into the window of the next ones.
            if any(tag in waits.slots_in or tag not in waits.waited_for for tag in awaited):
                self._owned.hurry = True

        self._look(ask, then)

    def _look(self, ask: Ask, then: Callable[[TagWaits], None]) -> None:
        def over(answer: object) -> None:
            self._under_way -= 1
            if isinstance(answer, TagWaits):
                then(answer)

        def go() -> None:
            self._under_way += 1
            self._node.ask(ask, over, over)

        self._ready.append(go)

    def _wait_for_slots(self, waits: TagWaits) -> None:
        """Look at tags again when their rate allows the next start; one timer for each tag is enough."""
        for tag, wait in waits.slots_in.items():
            if tag not in self._slots:
                self._slots.add(tag)
                self._node.after(max(wait, 0) + 1, partial(self._slot_is_free, tag))

    def look_at_rates(self) -> None:
        """Look at the tags whose rate is waited for at once, and not when their timers ring."""
        self._tags.update(dict.fromkeys(self._slots))

    def _slot_is_free(self, tag: str) -> None:
        self._slots.discard(tag)
        self._tags[tag] = None
        self._awaited.add(tag)
