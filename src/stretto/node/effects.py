"""What becomes of the effects of decisions: rows and messages of the commit, and what is done after it.

`Effects.record` is the one place that tells effects apart. It puts into the draft of a decision what the
commit must store, and what follows once that is stored: a runtime is called (`launches`), or an ask goes out
whose answer is events for the run (`EffectQueue`), which names the method of the performer (`asks`).
"""

from typing import assert_never

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.live_rollup import instance_rollup
from stretto.engine.machine.undo import is_undoable
from stretto.engine.records import RunKey
from stretto.engine.recovery import Repeated
from stretto.model.workflow import Criticality
from stretto.node.asks import (
    CheckBreakpoint,
    FetchValues,
    FindChildRun,
    FindSignals,
    StartChildRun,
    StoreSignals,
)
from stretto.node.context import NodeContext
from stretto.node.draft import Draft
from stretto.node.effect_queue import EffectQueue
from stretto.node.entry import Entry, Item, timer_event
from stretto.node.group import Group
from stretto.node.jobs import Jobs
from stretto.node.launches import Launches
from stretto.node.owned_groups import OwnedGroups
from stretto.ports import messages as post
from stretto.ports.commit import PermitAsk
from stretto.ports.places import group_of_run
from stretto.ports.signals import SignalWait


class Effects:
    """Those of all runs of a node."""

    def __init__(
        self, node: NodeContext, owned: OwnedGroups, launches: Launches, jobs: Jobs, queue: EffectQueue
    ) -> None:
        self._node = node
        self._owned = owned
        self._launches = launches
        self.jobs = jobs
        self.queue = queue

    def record(  # noqa: C901, PLR0912 - one case for each effect
        self, group: Group, entry: Entry, draft: Draft, effect: todo.AnyEffect
    ) -> None:
        """Add an effect to a decision: what the commit stores, and what is done after it."""
        queue = self.queue
        match effect:
            case todo.StartWork():
                self._launches.start(group, entry, draft, effect)
            case todo.LookAtWork() | todo.TerminateWork():
                self._launches.ask_worker(group, entry, draft, effect)
            case todo.RunEnded():
                _tell_parent(entry, draft, effect)
                draft.then(queue.admit_next, entry.key.workflow_id)
            case todo.ReleasePermits():
                self._owned.permits.changed(effect.tags, -1)
                draft.release(effect.attempt, effect.tags)
            case todo.UsePermits():
                draft.use_permits(effect.limits, effect.attempts)
            case todo.AskPermits():
                self._ask_permits(draft, effect)
            case todo.SetTimer():
                self._set_timer(entry, effect)
            case todo.ResumeLoop():
                draft.then(group.put, entry, Item(happened.Resumed(attempt=effect.attempt)))
            case todo.Fetch():
                draft.then(queue.carry, group, entry, FetchValues, effect)
            case todo.EvaluateElsewhere():
                draft.then(queue.evaluate, group, entry, effect)
            case todo.WatchSignals():
                _watch(entry, draft, effect)
                draft.then(queue.carry, group, entry, FindSignals, effect)
            case todo.AnnounceSignals():
                draft.then(queue.carry, group, entry, StoreSignals, effect)
            case todo.LookForBreakpoint():
                draft.then(queue.carry, group, entry, CheckBreakpoint, effect)
            case todo.StartChild():
                draft.then(queue.carry_for_child, group, entry, StartChildRun, effect)
            case todo.StopChild(child=RunKey() as child):
                _stop(draft, effect, child)
            case todo.StopChild():
                draft.then(queue.carry_for_child, group, entry, FindChildRun, effect)
            case todo.HoldChild():
                _hold(entry, draft, effect)
            case _:
                assert_never(effect)

    def repeat(self, group: Group, entry: Entry, effect: Repeated) -> None:
        """A run was loaded: what its owner before has recorded, and may not have done, is done now."""
        queue = self.queue
        match effect:
            case todo.SetTimer():
                entry.set_timer(self._node.time.steady_at(effect.due), timer_event(effect))
            case todo.AskPermits():
                queue.look_at_permits(effect)
            case todo.WatchSignals():
                queue.carry(group, entry, FindSignals, effect)
            case todo.LookForBreakpoint():
                queue.carry(group, entry, CheckBreakpoint, effect)
            case todo.StartChild():
                queue.carry_for_child(group, entry, StartChildRun, effect)
            case todo.StopChild():
                queue.carry_for_child(group, entry, FindChildRun, effect)
            case todo.RunEnded():
                queue.admit_next(entry.key.workflow_id)
            case todo.StartWork() | todo.LookAtWork() | todo.TerminateWork():
                pass  # launches are looked at after the next fetch, which may bring their results
            case _:
                assert_never(effect)

    def committed(self, draft: Draft) -> None:
        """What was decided for a run is stored: do what follows."""
        for attempt, launch in draft.results:
            self.jobs.stored(attempt, launch)
        entry = draft.entry
        if entry is None:
            return
        entry.launch = False
        self.queue.grant_later(draft.freed)
        for call in draft.after_commit:
            call()
        self._owned.touch(entry)

    # -------------------------------------------------------------------------------------- one kind of them
    def _set_timer(self, entry: Entry, effect: todo.SetTimer) -> None:
        at = entry.set_timer(self._node.time.steady_at(effect.due), timer_event(effect))
        if at is not None:
            self._owned.arm(entry.group, entry.key, at)

    def _ask_permits(self, draft: Draft, effect: todo.AskPermits) -> None:
        ask = PermitAsk(
            attempt=effect.attempt,
            limits=effect.limits,
            criticality=Criticality(effect.criticality) if effect.criticality else None,
            since=effect.since,
            rates=effect.rates,
            taken=effect.taken,
        )
        draft.ask_permits(ask)
        self._owned.permits.changed(effect.limits, 1)
        if not effect.taken:
            self._owned.permits.waits(effect.limits)
            draft.then(self.queue.look_at_permits, effect)


def _watch(entry: Entry, draft: Draft, effect: todo.WatchSignals) -> None:
    """The commit stores what the attempt waits for, so that announcements find it."""
    for index in sorted(entry.watching.get(effect.attempt, ())):
        wanted = effect.dependencies.dependencies[index]
        wait = SignalWait(
            name=wanted.name,
            attempt=effect.attempt,
            index=index,
            group=entry.group,
            match_params=wanted.match_params or {},
        )
        draft.waits.append(wait)


def _stop(draft: Draft, effect: todo.StopChild, child: RunKey) -> None:
    stop = happened.RunActed(run=child, action=happened.RunAction.STOP, user=effect.user or "the parent step")
    letter = post.Letter(
        ref=f"{child}:{effect.attempt}", to_group=group_of_run(child), body=post.Stop(event=stop)
    )
    draft.letters.append(letter)


def _hold(entry: Entry, draft: Draft, effect: todo.HoldChild) -> None:
    event = happened.RunHeld(run=effect.child, held=effect.held, parent=entry.key)
    letter = post.Letter(
        ref=f"{effect.child}:{effect.attempt}:{'held' if effect.held else 'let go'}",
        to_group=group_of_run(effect.child),
        body=post.Hold(event=event),
    )
    draft.letters.append(letter)


def _tell_parent(entry: Entry, draft: Draft, effect: todo.RunEnded) -> None:
    """The end of a child, and its totals, for the run whose step waits for it."""
    parent = None if entry.row is None else entry.row.parent
    if parent is None or entry.flow is None:
        return
    event = happened.ChildEnded(
        attempt=parent.attempt, child=entry.key, status=effect.status, undoable=is_undoable(entry.flow)
    )
    body = post.ChildEnd(event=event, rollup=instance_rollup(entry.flow))
    draft.letters.append(post.Letter(ref=str(entry.key), to_group=parent.group, body=body))
