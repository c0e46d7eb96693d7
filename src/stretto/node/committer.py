"""Group commit: what is decided goes into one transaction, as much as may; and what is done if that fails."""

from collections.abc import Sequence
from typing import Final

from stretto.engine import events as happened
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Unavailable
from stretto.node.asks import Commit
from stretto.node.context import NodeContext
from stretto.node.draft import Draft
from stretto.node.effects import Effects
from stretto.node.entry import Entry, Item
from stretto.node.group import Group
from stretto.node.loader import Loader, handled
from stretto.node.messages import UnroutedMessages, logged_run
from stretto.node.owned_groups import OwnedGroups
from stretto.node.ownership import Ownership
from stretto.ports import messages as post
from stretto.ports.commit import Committed, Decided, GroupPart
from stretto.ports.events import LogRow
from stretto.ports.failures import NoPermits, OutcomeUnknown, Stale

Pair = tuple[Group, Draft]
MOST_BLAME: Final = 3  # times that one attempt is blamed, before its run is


class Batch:
    """Drafts on their way into the store, and those that follow once these are there.

    While a batch is under way, nothing is decided for its groups: memory is never ahead of it.
    """

    def __init__(self, drafts: Sequence[Pair], rest: "Batch | None" = None) -> None:
        self.drafts = list(drafts)
        self.rest = rest
        self.parts: tuple[GroupPart, ...] = ()

    @property
    def groups(self) -> dict[int, Group]:
        return {group.number: group for group, _ in self.drafts}

    @property
    def all_groups(self) -> dict[int, Group]:
        return {**self.groups, **({} if self.rest is None else self.rest.all_groups)}


class Committer:
    """At most a few commits are in flight, and one for each group."""

    def __init__(
        self,
        node: NodeContext,
        owned: OwnedGroups,
        effects: Effects,
        loader: Loader,
        ownership: Ownership,
        unrouted: UnroutedMessages,
    ) -> None:
        self._node = node
        self._owned = owned
        self._effects = effects
        self._loader = loader
        self._ownership = ownership
        self._unrouted = unrouted
        self._in_flight = 0

    def clear(self) -> None:
        self._in_flight = 0

    def pump(self) -> None:
        """Send what is ready."""
        while self._in_flight < self._node.settings.commits_at_once and self._node.trusted:
            drafts = self._gather()
            if not drafts:
                return
            self._in_flight += 1
            self._send(Batch(drafts))

    def _gather(self) -> list[Pair]:
        drafts: list[Pair] = []
        rows = 0
        for group in self._owned.lively():
            if group.drafts and not group.committing:
                rows += group.rows
                if drafts and rows > self._node.settings.rows_per_commit:
                    break
                group.committing = True
                drafts += [(group, draft) for draft in group.drafts.values()]
                group.drafts = {}
        return drafts

    # ----------------------------------------------------------------------------------------------- sending
    def _send(self, batch: Batch) -> None:
        now = self._node.time.now()
        decided: dict[int, list[Decided]] = {}
        for group, draft in batch.drafts:
            decided.setdefault(group.number, []).append(draft.decided(now))
        batch.parts = tuple(
            GroupPart(lease=group.lease, decisions=tuple(decided[number]), seq=group.seq + 1)
            for number, group in sorted(batch.groups.items())
        )
        self._ask(batch, 0)

    def _ask(self, batch: Batch, tries: int) -> None:
        ask = Commit(node=self._node.id, parts=batch.parts)
        self._node.ask(
            ask,
            lambda answer: self._committed(batch, answer),
            lambda error: self._failed(batch, error, tries),
        )

    def _again(self, batch: Batch, tries: int) -> None:
        if self._node.trusted:
            self._ask(batch, tries)
        else:
            self._node.after(self._node.settings.retry_first, lambda: self._again(batch, tries))

    # -------------------------------------------------------------------------------------------------- done
    def _committed(self, batch: Batch, answer: Committed) -> None:
        self._owned.permits.committed(answer.left)
        logged = self._count(batch, answer)
        for group, draft in batch.drafts:
            if group.number in answer.fenced or not self._owned.holds(group):
                continue
            draft.stamp(answer.now)
            draft.stored()
            for message in draft.messages:
                group.known.discard(message.id)
                self._unrouted.told(group, message)
            self._effects.committed(draft)
            self._loader.done(group, draft)
        for number in sorted(answer.fenced):
            self._lost(batch, number)
        self._node.tell(lambda each: each.committed(logged))
        self._next(batch.groups, batch.rest)

    def _count(self, batch: Batch, answer: Committed) -> list[LogRow]:
        """The change log of each group has one row more, if there was something to tell."""
        logged, groups = [], batch.groups
        for part in batch.parts:
            events = tuple(event for decided in part.decisions for event in decided.events)
            group = groups[part.lease.group]
            if events and group.number not in answer.fenced:
                group.seq = part.seq
                logged.append(LogRow(group=group.number, seq=part.seq, at=answer.now, events=events))
        return logged

    def _lost(self, batch: Batch, number: int) -> None:
        """Another node owns the group: nothing that was decided for it counts."""
        group = batch.groups[number]
        rest = batch.rest
        while rest is not None:
            rest.drafts = [pair for pair in rest.drafts if pair[0] is not group]
            rest = rest.rest
        if self._owned.holds(group):
            self._ownership.drop(group)

    def _next(self, groups: dict[int, Group], rest: Batch | None) -> None:
        """The other half, or others. Groups of which nothing is left may decide again."""
        while rest is not None and not rest.drafts:
            rest = rest.rest
        still = {} if rest is None else rest.all_groups
        for number, group in groups.items():
            if number not in still:
                group.committing = False
        if rest is not None:
            self._send(rest)
        else:
            self._in_flight -= 1

    # ------------------------------------------------------------------------------------------------ failed
    def _failed(self, batch: Batch, error: Exception, tries: int) -> None:
        if isinstance(error, OutcomeUnknown):
            self._in_flight -= 1
            self._ownership.claim_again(list(batch.all_groups.values()))
        elif isinstance(error, Unavailable):
            self._node.tell(lambda each: each.store_failed(error, tries + 1))
            self._node.after(self._node.back_off(tries), lambda: self._again(batch, tries + 1))
        elif isinstance(error, NoPermits):
            self._refused(batch, error)
        elif isinstance(error, Stale):
            self._stale(batch, error)
        else:
            self._poisoned(batch, error)

    def _refused(self, batch: Batch, error: NoPermits) -> None:
        """Some took permits that others hold, or stand in line for: they decide again, and stand in line."""
        self._owned.permits.waits(error.tags)
        self._undo_some(batch, [pair for pair in batch.drafts if _root_of(pair[1]) in error.runs])

    def _stale(self, batch: Batch, error: Stale) -> None:
        """Rows have moved on that it relied on: these runs are loaded anew; the others are sent again."""
        named = error.groups or frozenset(batch.groups)
        undone = [pair for pair in batch.drafts if pair[0].number in named]
        # Messages about no run are in order, and rely on nothing: they are to blame only if nobody else is.
        self._undo_some(batch, [pair for pair in undone if pair[1].entry is not None] or undone)

    def _undo_some(self, batch: Batch, undone: Sequence[Pair]) -> None:
        kept = [pair for pair in batch.drafts if pair not in undone]
        for group, draft in undone:
            self._undo(group, draft)
        self._next(batch.groups, Batch(kept, batch.rest) if kept else batch.rest)

    def _poisoned(self, batch: Batch, error: Exception) -> None:
        """Something in it can not be stored: halves are tried apart, until the culprit is alone."""
        if len(batch.drafts) > 1:
            middle = len(batch.drafts) // 2
            self._send(Batch(batch.drafts[:middle], Batch(batch.drafts[middle:], batch.rest)))
            return
        ((group, draft),) = batch.drafts
        self._node.tell(lambda each: each.store_failed(error, 1))
        self._blame(batch, group, draft, error)
        self._next(batch.groups, batch.rest)

    def _undo(self, group: Group, draft: Draft) -> None:
        """Forget what was decided: messages are fetched again, results are in hand, the run is loaded."""
        for message in draft.messages:
            self._unrouted.forget(group, message)
        if draft.entry is not None:
            self._loader.again(group, draft.entry)

    # ---------------------------------------------------------------------------------------------- culprits
    def _blame(self, batch: Batch, group: Group, draft: Draft, error: Exception) -> None:
        """One draft can not be stored. With several events in it, each is tried alone."""
        if draft.entry is None:
            for message in draft.messages:
                self._unrouted.failed(group, message, error)
                self._hold_back(batch.rest, logged_run(message))
            return
        self._undo(group, draft)
        entry = group.entries.get(draft.entry.key, draft.entry)
        entry.careful = True
        if len(draft.items) == 1:
            text = f"what came of it can not be stored: {_harmless(error)}"
            self._punish(group, entry, draft.items[0], text)

    def _hold_back(self, rest: Batch | None, run: RunKey | None) -> None:
        """The first line about a run is not written yet: nothing that the run has begun since may be."""
        while rest is not None and run is not None:
            for pair in list(rest.drafts):
                group, draft = pair
                if draft.launch and draft.entry is not None and draft.entry.key == run:
                    rest.drafts.remove(pair)
                    self._undo(group, draft)
            rest = rest.rest

    def _punish(self, group: Group, entry: Entry, item: Item, text: str) -> None:
        """The step that the event is about fails instead, or the run; an action is refused."""
        message = item.message
        if message is not None:
            group.known.add(message.id)
            if isinstance(message.body, post.Act | post.Rollup):  # a total that is lost is told again
                group.add(message.id, handled(message, post.Outcome(applied=False, message=text)))
                return
        attempt = getattr(item.event, "attempt", None)
        if isinstance(item.event, happened.ChildStarted) and not _is_hopeless(entry, item.event.attempt):
            return  # there is a child, whatever could be stored: the run, loaded anew, asks for it again
        if isinstance(item.event, happened.Reported):
            self._effects.jobs.settled(item.event.attempt, item.event.launch)
        if attempt is None or isinstance(item.event, happened.Faulted) or _is_hopeless(entry, attempt):
            event: happened.Event = happened.RunFaulted(run=entry.key, message=text)
        else:
            event = happened.Faulted(attempt=attempt, message=text)
        if isinstance(item.event, happened.RunFaulted):
            self._loader.leave_for_a_while(group, entry, text)
        elif message is None or isinstance(item.event, happened.Reported):
            entry.inbox.appendleft(Item(event, message))
        else:  # what it says still holds, and may be what the end of the step waits for
            entry.inbox.extendleft((item, Item(event)))


def _root_of(draft: Draft) -> RunKey | None:
    return None if draft.entry is None else draft.entry.key


def _is_hopeless(entry: Entry, attempt: AttemptKey) -> bool:
    """A step may survive its fault, because others go on when it ends, and then it is theirs that can not be
    stored: it would be blamed for ever.
    """
    times = entry.blamed[attempt] = entry.blamed.get(attempt, 0) + 1
    return times % (MOST_BLAME + 1) == 0  # and then again: what is being ended waits for its fault


def _harmless(error: Exception) -> str:
    """The text of an error, without what may be the very reason for it."""
    return "".join(each for each in str(error) if each.isprintable())[:200]
