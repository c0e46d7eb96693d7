"""Outbox messages that a fetch brings: each becomes something to decide for a run, work to look at, or
something that no run in memory can take.

Lines of the change log come by message. Those about one run are written in their order: a line that can not
be written is tried again, and those behind it wait. Only one that was put off in the store, because all tries
failed, lets them pass.
"""

from collections.abc import Collection
from typing import Any

from stretto.engine import events as happened
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.node.asks import Deal, Deliver, FindRoot, Postpone, Verb, Withdraw
from stretto.node.context import NodeContext
from stretto.node.crash_guard import CrashGuard
from stretto.node.draft import Draft
from stretto.node.entry import Item
from stretto.node.group import Group, GroupState, PendingLines
from stretto.node.jobs import Jobs
from stretto.node.launches import Launches, sent_context
from stretto.node.loader import Loader
from stretto.node.owned_groups import OwnedGroups
from stretto.ports import messages as post
from stretto.ports.commit import Decided
from stretto.ports.failures import Stale
from stretto.ports.outbox import MOST_TRIES, Mail
from stretto.ports.places import group_of_run


def logged_run(message: post.Message) -> RunKey | None:
    """The run that a line of the change log is about."""
    return message.body.run if isinstance(message.body, post.Log) else None


class UnroutedMessages:
    """Messages about no run in hand: when they are dealt with, and when they are put off."""

    def __init__(self, node: NodeContext, owned: OwnedGroups) -> None:
        self._node = node
        self._owned = owned

    def hear(self, group: Group, message: post.Message) -> None:
        """A message has come that no run in memory can take."""
        run = logged_run(message)
        if run is None:
            self._owned.handle(group, message)
            return
        lines = group.lines.setdefault(run, PendingLines())
        lines.messages.append(message)
        if len(lines.messages) == 1:
            self._owned.handle(group, message)

    def drafted(self, group: Group, message: post.Message) -> None:
        """It goes into the next commit, and so may what follows from it."""
        lines = self._lines(group, message)
        if lines is not None:
            lines.drafted = True

    def told(self, group: Group, message: post.Message) -> None:
        """It is stored, or need not be: the next one about that run has its turn."""
        run, lines = logged_run(message), self._lines(group, message)
        if run is None or lines is None:
            return
        lines.messages.popleft()
        lines.drafted, lines.tries = False, 0
        if lines.messages:
            self._owned.handle(group, lines.messages[0])
        else:
            del group.lines[run]

    def forget(self, group: Group, message: post.Message) -> None:
        """It is fetched again, if it is still there, and so are those behind it."""
        group.known.discard(message.id)
        run, lines = logged_run(message), self._lines(group, message)
        if run is not None and lines is not None:
            del group.lines[run]
            group.known.difference_update(each.id for each in lines.messages)

    # ------------------------------------------------------------------------------------------------ failed
    def failed(self, group: Group, message: post.Message, error: Exception) -> None:
        """It could not be dealt with."""
        group.known.add(message.id)
        lines = self._lines(group, message)
        if lines is None:
            self._put_off(group, message, error)
            return
        lines.drafted = False
        lines.tries += 1
        if lines.tries < MOST_TRIES and not message.tries:
            self._node.after(self._node.back_off(lines.tries), lambda: self._try_again(group, message))
        else:
            self._put_off(group, message, error)

    def _try_again(self, group: Group, message: post.Message) -> None:
        if self._owned.holds(group) and self._lines(group, message) is not None:
            self._owned.handle(group, message)

    def _put_off(self, group: Group, message: post.Message, error: Exception) -> None:
        def then(after: post.Message) -> None:
            group.known.discard(message.id)
            if after.parked is not None:
                self._node.tell(lambda each: each.message_parked(after, after.parked or ""))
            if self._owned.holds(group):
                self.told(group, message)

        ask = Postpone(lease=group.lease, message=message.id, reason=str(error))
        self._node.insist(ask, then, lambda _error: self.forget(group, message))

    def _lines(self, group: Group, message: post.Message) -> PendingLines | None:
        """The lines of which a message is the first."""
        run = logged_run(message)
        lines = None if run is None else group.lines.get(run)
        return lines if lines is not None and lines.messages[0].id == message.id else None


class MessageRouter:
    """Everything that a fetch brings."""

    def __init__(
        self,
        node: NodeContext,
        owned: OwnedGroups,
        jobs: Jobs,
        loader: Loader,
        unrouted: UnroutedMessages,
        launches: Launches,
        guard: CrashGuard,
    ) -> None:
        self._node = node
        self._owned = owned
        self._jobs = jobs
        self._loader = loader
        self._unrouted = unrouted
        self._launches = launches
        self._guard = guard

    def take(self, mail: Mail, groups: dict[int, Group]) -> None:
        """What a fetch for these groups brought; those that have changed hands since are left alone."""
        for message in mail.messages:
            number = message.to_group
            if number is None and isinstance(message.body, post.Act):
                number = self._bound(message)
            elif number is None:
                self._asked(message)
            if number is None:
                continue
            group = self._open(groups.get(number))
            if group is not None and message.id not in group.known:
                group.known.add(message.id)
                self._receive(group, message)
        for key in mail.admitted:
            self._launch(self._open(groups.get(group_of_run(key))), key)

    def launch(self, admitted: Collection[RunKey]) -> set[int]:
        """Runs that need not be fetched, because who admitted them told of them. Says for which groups there
        is nothing else to look for.
        """
        told = set()
        for key in admitted:
            group = self._owned.groups.get(group_of_run(key))
            if group is not None and group.state is GroupState.READY and self._launch(group, key):
                told.add(group.number)
        return told

    def _launch(self, group: Group | None, key: RunKey) -> bool:
        if group is None or key in group.aside:
            return False
        self._loader.want(group, key)
        return True

    def _open(self, group: Group | None) -> Group | None:
        """A group that is still ours, and takes something new."""
        ours = group is not None and self._owned.holds(group) and not group.is_leaving
        return group if ours else None

    # ----------------------------------------------------------------------------------------------- to runs
    def _receive(self, group: Group, message: post.Message) -> None:
        body = message.body
        if isinstance(body, post.FanOut | post.Fire | post.Log):
            self._unrouted.hear(group, message)
            return
        event = _event_of(body)
        run = _run_of(event)
        item = Item(event, message)
        root = group.inline.get(run.workflow_id)
        if root is None and is_inline(run.workflow_id):
            self._node.insist(
                FindRoot(run=run),
                lambda found: self._route(group, found or run, item),
                lambda _error: group.known.discard(message.id),
            )
        else:
            self._route(group, root or run, item)

    def _route(self, group: Group, root: RunKey, item: Item) -> None:
        if not self._owned.holds(group):
            return
        if root not in group.aside:
            group.put(self._loader.want(group, root), item)
        elif item.message is not None:
            group.aside[root].append(item.message.id)

    # -------------------------------------------------------------------------------------- to no run here
    def pump(self) -> None:
        """Deal with messages that are about no run here: those of a group one after the other, by id."""
        for number, group in list(self._owned.to_handle.items()):
            if not self._owned.holds(group) or not group.to_handle or group.state is GroupState.GOING:
                del self._owned.to_handle[number]
            elif not group.handling and self._node.trusted:
                message = group.to_handle[0]
                if self._guard.is_free(group) or self._guard.may_handle(group, message.id):
                    self._handle(group, message)

    def _handle(self, group: Group, message: post.Message) -> None:
        group.handling = True

        def then(decided: Decided | None) -> None:
            self._end_of(group)
            if self._owned.holds(group):
                self._handled(group, message, decided)

        def otherwise(error: Exception) -> None:
            self._end_of(group)
            if not self._owned.holds(group):
                return
            if isinstance(error, Stale):  # somebody else has dealt with it
                self._unrouted.forget(group, message)
            else:
                self._unrouted.failed(group, message, error)

        self._node.insist(Deal(lease=group.lease, message=message), then, otherwise)

    def _end_of(self, group: Group) -> None:
        group.handling = False
        self._guard.returned(group, group.to_handle.popleft().id)

    def _handled(self, group: Group, message: post.Message, decided: Decided | None) -> None:
        if decided is None:
            group.known.discard(message.id)
        else:
            self._unrouted.drafted(group, message)
            draft = Draft()
            draft.messages.append(message)
            draft.continued.update(decided.continued)
            draft.letters.extend(decided.sent)
            draft.events.extend(decided.events)
            group.add(message.id, draft)
        body = message.body
        if isinstance(body, post.Log) and body.run is not None:
            self._look_at(group, body.run, has_status=body.has_status)
        if isinstance(body, post.Log) and body.events:
            self._owned.timers_changed = True

    def _look_at(self, group: Group, run: RunKey, *, has_status: bool) -> None:
        """A run that was let out of quarantine goes on. One that only waits in its queue is left alone."""
        if run in group.aside or not has_status:
            self._loader.let_out(group, run)

    # ------------------------------------------------------------------------------------------- to the node
    def _bound(self, message: post.Message) -> int | None:
        """The group of a run of which something is asked only as long as this node looks after it; None: it
        does so no longer, and the request goes.
        """
        number = group_of_run(_run_of(_event_of(message.body)))
        if number in self._owned.groups:
            return number
        asked = self._jobs.asked_here
        if message.id not in asked:
            asked.add(message.id)
            self._withdraw(message.id)
        return None

    def _asked(self, message: post.Message) -> None:
        """Another node asks us to do work for it, asks about such work, or ends it."""
        body = message.body
        asked = self._jobs.asked_here
        if message.id in asked or not isinstance(body, post.Start | post.Cancel | post.Ask):
            return
        asked.add(message.id)
        if isinstance(body, post.Start) and self._launches.can_take(body):
            self._start(message.id, body)
            return
        job = self._jobs.get(body.attempt, body.launch)
        if job is None:
            event = happened.Reported(
                attempt=body.attempt, launch=body.launch, state=happened.ResultState.STOPPED
            )
            self._answer(message, post.Result(event=event, here=False))
        elif job.result is not None:
            self._answer(message, post.Result(event=job.result))
        elif isinstance(body, post.Cancel) or job.is_polled:
            job.answers.append(message.id)
            verb = Verb.TERMINATE if isinstance(body, post.Cancel) else Verb.EXECUTE
            self._jobs.call(job.context, job.group, verb, outside=job.outside)
        else:
            said = job.said or happened.Reported(
                attempt=body.attempt, launch=body.launch, state=happened.ResultState.CONTINUE
            )
            self._answer(message, post.Result(event=said))

    def _start(self, message_id: int, body: post.Start) -> None:
        """Begin the work. The message has told all that it had to: if this node dies, the owner of the run
        finds it gone, and launches the work anew.
        """
        jobs = self._jobs
        if jobs.get(body.attempt, body.launch) is None:
            jobs.call(sent_context(body), body.group, Verb.START, outside=False)
        self._withdraw(message_id)

    def _withdraw(self, message_id: int) -> None:
        def over(_answer: object) -> None:
            self._jobs.asked_here.discard(message_id)

        self._node.insist(Withdraw(message=message_id), over, over)

    def _answer(self, message: post.Message, result: post.Result) -> None:
        def over(_answer: object) -> None:
            self._jobs.asked_here.discard(message.id)

        ask = Deliver(node=self._node.id, result=result, answers=message.id)
        self._node.insist(ask, over, over)


def _run_of(event: Any) -> RunKey:
    return event.run if isinstance(event, happened.RunActed | happened.RunHeld) else event.attempt.run


def _event_of(body: post.AnyBody) -> Any:
    """What a message means for its run."""
    match body:
        case post.Act(run=happened.RunActed() as event):
            return event
        case post.Act(step=happened.StepActed() as event):
            return event
        case post.Stop() | post.Hold() | post.Callback() | post.Grant() | post.Signalled():
            return body.event
        case post.ChildEnd(event=event, rollup=rollup):
            return happened.ChildEnded(
                attempt=event.attempt,
                child=event.child,
                status=event.status,
                rollup=rollup,
                undoable=event.undoable,
            )
        case post.Rollup():
            return happened.ChildCounted(
                attempt=body.attempt, child=body.child, version=body.version, rollup=body.rollup
            )
        case post.Result(event=event, here=True):
            return event
        case post.Result(event=event):
            return happened.WorkLost(attempt=event.attempt, launch=event.launch)
        case post.Output():
            return happened.OutputTold(attempt=body.attempt, outputs=body.params, artifacts=body.artifacts)
        case _:
            pass
    raise TypeError(f"a message of the kind {body.kind} does not go to a run")
