"""Events become drafts: the core decides, and what it says is turned into rows, messages and effects."""

from typing import Any, Final

from stretto.engine import events as happened
from stretto.engine.decide import COMMANDS, Decision, decide
from stretto.engine.live_rollup import instance_rollup
from stretto.engine.records import AttemptKey, AttemptRecord, RunRecord
from stretto.model.errors import StrettoError
from stretto.node.context import NodeContext
from stretto.node.crash_guard import CrashGuard
from stretto.node.draft import Draft
from stretto.node.effects import Effects
from stretto.node.entry import AskAround, Entry, Item, Recover, SumUp
from stretto.node.group import Group, GroupState
from stretto.node.launches import Launches
from stretto.node.owned_groups import OwnedGroups
from stretto.node.summary import summary_of
from stretto.ports import messages as post

_OF_CHILD: Final = (happened.ChildStarted, happened.ChildRefused, happened.ChildEnded)
_ONCE: Final = (happened.Resumed, happened.ChildStarted)
_ANSWERS: Final = (happened.WorkLost, happened.ChildRefused, happened.ChildEnded, happened.Faulted)


class Decider:
    """One event at a time, for runs that are in memory and of which nothing is being committed."""

    def __init__(
        self,
        node: NodeContext,
        owned: OwnedGroups,
        launches: Launches,
        guard: CrashGuard,
        effects: Effects,
    ) -> None:
        self._node = node
        self._owned = owned
        self._launches = launches
        self._guard = guard
        self._effects = effects
        self._owing: list[tuple[Group, Entry]] = []  # runs whose summary is owed

    def clear(self) -> None:
        self._owing = []

    def drain(self, group: Group) -> None:
        """Decide what waits, until there is enough for a commit, or others should have their turn."""
        settings = self._node.settings
        left = settings.events_per_turn
        rows = group.rows
        waiting = [entry for key in group.ready if group.is_announced(entry := group.entries[key])]
        for entry in waiting:
            if not left or rows >= settings.rows_per_commit:
                return
            if (entry.careful or group.careful) and group.drafts:
                return  # alone, or not at all
            free = self._guard.is_free(group)
            allowed = len(entry.inbox) if free else self._guard.may_decide(group, entry)
            if not allowed:
                continue
            draft = group.draft_of(entry)
            rows -= draft.rows
            most = self._owned.note_turn(entry)
            while entry.inbox and allowed and left and draft.rows < most:
                left -= 1
                allowed -= 1
                self._decide(group, entry, draft, entry.inbox.popleft())
                if entry.careful:
                    break
            if not entry.inbox:
                del group.ready[entry.key]
            self._settle(group, entry, draft)
            rows += draft.rows
            self._guard.returned(group, entry.key)
            if entry.careful or group.careful:
                return

    def _settle(self, group: Group, entry: Entry, draft: Draft) -> None:
        if draft.is_empty:  # nothing to store, so nothing to wait for
            del group.drafts[entry.key]
            self._effects.committed(draft)
            return
        steady = self._node.steady()
        flow = entry.flow
        assert flow is not None  # noqa: S101 - it was just decided about
        draft.launch = entry.launch
        if not draft.records:
            return
        if (
            id(flow.run) in draft.records
            or steady - entry.summed_at >= self._node.settings.rollup_every / 1_000
        ):
            entry.summed_at = steady
            entry.owes_summary = False
            draft.note((flow.run,), (flow.run.status,))
            draft.summary = summary_of(entry)
            self._tell_parent(entry, draft, flow.tree.stamp(self._node.time.now()))
        else:
            self.owe_summary(group, entry)

    # -------------------------------------------------------------------------------------------- summaries
    def owe_summary(self, group: Group, entry: Entry) -> None:
        """What lists show of a run is stored a little later, once for all that happens meanwhile."""
        if entry.owes_summary:
            return
        entry.owes_summary = True
        if not self._owing:
            self._node.after(self._node.settings.rollup_every, self.pay_summaries)
        self._owing.append((group, entry))

    def pay_summaries(self, only: Group | None = None) -> None:
        """Store what is owed: to all, or in one group, because it is about to be given up."""
        owing, self._owing = self._owing, []
        for group, entry in owing:
            if not entry.owes_summary or not self._owned.holds(group, entry):
                continue
            if only is not None and group is not only:
                self._owing.append((group, entry))
                continue
            group.put(entry, Item(SumUp()))
        if only is not None and only.state is GroupState.READY and not only.committing:
            self.drain(only)

    def _tell_parent(self, entry: Entry, draft: Draft, now: int) -> None:
        """The totals of a child, while it goes on; with its end they travel together."""
        parent = None if entry.row is None else entry.row.parent
        if parent is None or draft.summary is None or entry.flow is None or entry.flow.is_over:
            return
        rollup = instance_rollup(entry.flow)
        body = post.Rollup(attempt=parent.attempt, child=entry.key, version=now, rollup=rollup)
        draft.letters.append(post.Letter(ref=f"{entry.key}:{now}", to_group=parent.group, body=body))

    # -------------------------------------------------------------------------------------------- one event
    def _decide(self, group: Group, entry: Entry, draft: Draft, item: Item) -> None:
        draft.items.append(item)
        if item.message is not None:
            draft.messages.append(item.message)
        event = item.event
        if isinstance(event, Recover):
            self._launches.recover(group, entry, draft)
        elif isinstance(event, AskAround):
            self._launches.ask_around(group, entry, draft)
        elif isinstance(event, SumUp):
            if entry.owes_summary and entry.flow is not None:
                draft.note((entry.flow.run,), (entry.flow.run.status,))
        else:
            self._apply(group, entry, draft, item, event)

    def _apply(self, group: Group, entry: Entry, draft: Draft, item: Item, event: happened.Event) -> None:
        flow = entry.flow
        assert flow is not None  # noqa: S101 - only runs in memory are ready
        command = isinstance(event, COMMANDS)
        try:
            decision = decide(flow, event, self._node.time.now())
        except StrettoError as refusal:
            if not command:
                self._fault(group, entry, draft, item, refusal)
            elif item.message is not None:
                self._answer(draft, item.message, post.Outcome(applied=False, message=refusal.message))
            return
        except Exception as fault:  # noqa: BLE001 - whatever it is, it harms this run only
            self._fault(group, entry, draft, item, fault)
            return
        self._take(group, entry, draft, decision)
        if item.message is not None:
            acted = self._acted(entry, event) if command else None
            self._answer(draft, item.message, post.Outcome(applied=True, attempt=acted))
        if isinstance(event, happened.Reported) and event.state.is_terminal:
            # One that only says that the work goes on settles nothing: its end may be in hand already.
            draft.results.append((event.attempt, event.launch))

    def _acted(self, entry: Entry, event: happened.Event) -> AttemptKey | None:
        """The attempt that a user's action made, or acted on."""
        if not isinstance(event, happened.StepActed) or entry.flow is None:
            return None
        flow = entry.flow.tree.live.get(event.attempt.run)
        index = None if flow is None else flow.plan.numbers.get(event.attempt.step_id)
        record = None if flow is None or index is None else flow.attempts[index]
        return None if record is None else record.key

    def _answer(self, draft: Draft, message: post.Message, outcome: post.Outcome) -> None:
        """Only actions and answers have somebody who waits for what becomes of them."""
        if isinstance(message.body, post.HAVE_OUTCOMES):
            draft.answered[message.id] = outcome

    def _fault(self, group: Group, entry: Entry, draft: Draft, item: Item, fault: Exception) -> None:
        """A fault of ours: the step that the event is about fails, or the run, if it is about none.

        What a fault leaves is as it was before; so the message that brought it can be dealt with.
        """
        self._node.tell(lambda each: each.decision_failed(entry.key, fault))
        text = f"internal error: {type(fault).__name__}: {fault}"
        if item.message is not None:
            self._answer(draft, item.message, post.Outcome(applied=False, message=text))
        attempt = getattr(item.event, "attempt", None)
        if attempt is not None and _is_to_come(entry, item.event):
            if isinstance(item.event, _ONCE):
                self._put_off(group, entry, item.event)
            return
        if isinstance(item.event, happened.Faulted) or attempt is None:
            event: happened.Event = happened.RunFaulted(run=entry.key, message=text)
        else:
            event = happened.Faulted(attempt=attempt, message=text)
        if not isinstance(item.event, happened.RunFaulted):  # with the message that goes, or not at all
            self._apply(group, entry, draft, Item(event), event)
        record = None if attempt is None else entry.attempt(attempt)
        if isinstance(item.event, _OF_CHILD) and record is not None and record.ending is not None:
            self._apply(group, entry, draft, Item(item.event), item.event)  # it is what the end waits for

    def _put_off(self, group: Group, entry: Entry, event: happened.Resumed | happened.ChildStarted) -> None:
        """What carries an end on: nobody else does, nor says it again. So it comes again a little later."""
        entry.put_off.add(event.attempt)

        def again() -> None:
            entry.put_off.discard(event.attempt)
            if self._owned.holds(group, entry):
                group.put(entry, Item(event))

        self._node.after(self._node.settings.retry_most, again)

    # -------------------------------------------------------------------------------------------- decisions
    def _take(self, group: Group, entry: Entry, draft: Draft, decision: Decision) -> None:
        draft.note(decision.changes, decision.before)
        draft.weight += decision.weight
        self._owned.note_waiting(group, entry)
        for record in decision.changes:
            if isinstance(record, AttemptRecord):
                entry.note_attempt(record)
                if record.signals is not None:
                    _end_waits(entry, draft, record)
            elif isinstance(record, RunRecord) and record.key.workflow_id not in entry.inline:
                self._note_inner(group, entry, record.key.workflow_id)
        for effect in decision.effects:
            self._effects.record(group, entry, draft, effect)

    def _note_inner(self, group: Group, entry: Entry, workflow_id: str) -> None:
        """Where to find the runs inside a run."""
        if workflow_id != entry.key.workflow_id:
            entry.inline.add(workflow_id)
            group.inline[workflow_id] = entry.key


def _is_to_come(entry: Entry, event: Any) -> bool:
    """Whether the end of an attempt is still to come: its work was asked to end, and this is no answer."""
    record = entry.attempt(event.attempt)
    if record is None or record.ending is None or record.decided is not None or entry.flow is None:
        return False
    if isinstance(event, happened.ChildStarted):  # who waits for its child waits for the end of it
        step = entry.flow.tree.live[event.attempt.run].step(event.attempt.step_id)
        return step is not None and getattr(step.step, "sync", False)
    says_so = isinstance(event, happened.Reported) and event.state.is_terminal
    return not (says_so or isinstance(event, _ANSWERS))


def _end_waits(entry: Entry, draft: Draft, record: AttemptRecord) -> None:
    """Signals that an attempt waits for no longer."""
    pending = entry.watching.get(record.key)
    if pending is None or record.signals is None:
        return
    if record.status.is_terminal:
        del entry.watching[record.key]
        draft.released[record.key] = None
        return
    for index, each in enumerate(record.signals.dependencies):
        if each.status.is_done and index in pending:
            pending.discard(index)
            draft.matched.append((record.key, index))
