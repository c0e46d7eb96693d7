"""Runs come into memory when something happens to them, and leave it when they only wait."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final

from stretto.engine import events as happened
from stretto.engine.records import RunKey
from stretto.engine.recovery import recovery_of
from stretto.model.errors import Unavailable
from stretto.model.status import StepStatus
from stretto.node.answers import LoadedRun
from stretto.node.asks import LoadRuns
from stretto.node.context import NodeContext
from stretto.node.crash_guard import CrashGuard
from stretto.node.draft import Draft
from stretto.node.effects import Effects
from stretto.node.entry import Entry, Item, Recover, SumUp
from stretto.node.group import Group
from stretto.node.owned_groups import OwnedGroups
from stretto.node.summary import summary_of
from stretto.ports import messages as post
from stretto.ports.rows import Phase

MOST_TRIES: Final = 5
Wanted = tuple[Group, Entry]  # a run that is to be read


class Loader:
    """The entry of a run is made before its read is sent: there are never two images of a run."""

    def __init__(self, node: NodeContext, owned: OwnedGroups, effects: Effects, guard: CrashGuard) -> None:
        self._node = node
        self._owned = owned
        self._effects = effects
        self._guard = guard
        self._wanted: dict[int, deque[Entry]] = {}
        self._tries: dict[RunKey, int] = {}
        self._awaiting: list[tuple[Group, Entry]] = []
        self._let_out: set[RunKey] = set()
        self._under_way = 0

    def clear(self) -> None:
        self._wanted.clear()
        self._awaiting.clear()
        self._tries.clear()
        self._let_out.clear()
        self._under_way = 0

    # ----------------------------------------------------------------------------------------------- wanting
    def want(self, group: Group, key: RunKey) -> Entry:
        """The entry of a run; if it is not in memory, it is read."""
        entry = group.entries.get(key)
        if entry is None:
            entry = group.entries[key] = Entry(key, group.number)
            group.parked.pop(key, None)
            self._read(entry)
        return entry

    def again(self, group: Group, entry: Entry) -> Entry:
        """What is in memory is not what is stored: read the run anew. What waits for it still does."""
        if not self._owned.holds(group, entry):
            return entry
        group.remove(entry)
        self._owned.forget(entry)
        fresh = self.want(group, entry.key)
        fresh.careful, fresh.blamed, fresh.carrying = entry.careful, entry.blamed, entry.carrying
        # Messages and answers of effects come again by themselves; other events are made from the rows.
        group.known.difference_update(item.message.id for item in entry.inbox if item.message is not None)
        return fresh

    def set_aside(self, group: Group, entry: Entry, reason: str) -> None:
        """A run that nothing can be done with. It stays as it is stored, and nobody waits for it."""
        group.remove(entry)
        self._owned.forget(entry)
        group.aside[entry.key] = [item.message.id for item in entry.inbox if item.message is not None]
        self._node.tell(lambda each: each.run_quarantined(entry.key, reason))

    def leave_for_a_while(self, group: Group, entry: Entry, reason: str) -> None:
        """Set it aside, and try it once more later: its row does not say so, and nobody could let it out."""
        self.set_aside(group, entry, reason)
        self._node.after(self._node.settings.calm_after, lambda: self._try_again(group, entry.key))

    def _try_again(self, group: Group, run: RunKey) -> None:
        if self._owned.holds(group) and run in group.aside:
            self.let_out(group, run)

    def let_out(self, group: Group, run: RunKey) -> None:
        """A run that was set aside is looked at again; what came for it meanwhile is fetched again."""
        group.known.difference_update(group.aside.pop(run, ()))
        if run not in group.parked and self.want(group, run).loading:
            self._let_out.add(run)  # a read that is under way may find it as it was before
        self._owned.hurry = True

    def _read(self, entry: Entry) -> None:
        entry.loading = True
        self._wanted.setdefault(entry.group, deque()).append(entry)

    # ----------------------------------------------------------------------------------------------- reading
    def pump(self) -> None:
        while self._under_way < self._node.settings.loads_at_once and (batch := self._take()):
            self._load(batch)

    def _take(self) -> list[Wanted]:
        """What is read next: runs of many groups together."""
        batch: list[Wanted] = []
        for number in list(self._wanted):
            group, entries = self._owned.groups.get(number), self._wanted[number]
            if group is not None:
                room = self._node.settings.runs_per_load - len(batch)
                batch += [(group, entry) for entry in self._allowed(group, entries, room)]
            if not entries or group is None:
                del self._wanted[number]
            if len(batch) >= self._node.settings.runs_per_load:
                break
        return batch

    def _allowed(self, group: Group, entries: deque[Entry], most: int) -> list[Entry]:
        """Some of those that are wanted, taken from them: in a group with falls only what was noted."""
        if self._guard.is_free(group):
            return [entries.popleft() for _ in range(min(most, len(entries)))]
        some = list(islice(entries, most))
        allowed = self._guard.may_load(group, [entry.key for entry in some])
        found = [entry for entry in some if entry.key in allowed]
        for entry in found:
            entries.remove(entry)
        return found

    def _load(self, batch: Sequence[Wanted]) -> None:
        self._under_way += 1
        leases = dict.fromkeys(group.lease for group, _entry in batch)
        self._node.ask(
            LoadRuns(leases=tuple(leases), runs=tuple(entry.key for _group, entry in batch)),
            lambda found: self._loaded(batch, found),
            lambda error: self._unread(batch, error),
        )

    def _unread(self, batch: Sequence[Wanted], error: Exception) -> None:
        self._under_way -= 1
        self._node.tell(lambda each: each.store_failed(error, 1))
        if len(batch) > 1 and not isinstance(error, Unavailable):
            for each in batch:  # one of them is to blame: each is tried alone
                self._load([each])
            return
        for group, entry in batch:
            self._guard.returned(group, entry.key)
            tries = self._tries[entry.key] = self._tries.get(entry.key, 0) + 1
            if not isinstance(error, Unavailable) and tries >= MOST_TRIES:
                if self._owned.holds(group, entry):
                    self.leave_for_a_while(group, entry, f"it can not be loaded: {error}")
                continue
            self._node.after(
                self._node.back_off(tries),
                lambda group=group, entry=entry: self._retry(group, entry),  # type: ignore[misc]
            )

    def _retry(self, group: Group, entry: Entry) -> None:
        if self._owned.holds(group, entry):
            self._read(entry)

    def _loaded(self, batch: Sequence[Wanted], found: Sequence[LoadedRun]) -> None:
        self._under_way -= 1
        by_key = {loaded.row.key: loaded for loaded in found}
        for group, entry in batch:
            self._guard.returned(group, entry.key)
            if not self._owned.holds(group, entry):
                continue
            self._tries.pop(entry.key, None)
            let_out = entry.key in self._let_out
            self._let_out.discard(entry.key)
            loaded = by_key.get(entry.key)
            if loaded is None:
                self._gone(group, entry)
            elif loaded.row.quarantined is not None and let_out:
                self._read(entry)
            elif loaded.row.quarantined is not None:
                self.set_aside(group, entry, loaded.row.quarantined)
            else:
                self._fill(group, entry, loaded)

    # ----------------------------------------------------------------------------------------------- filling
    def _fill(self, group: Group, entry: Entry, loaded: LoadedRun) -> None:
        entry.fill(loaded)
        loaded.flow.tree.permits = self._owned.permits
        loaded.flow.tree.share(self._owned.shared_room)
        entry.loaded_at = self._node.steady()
        for inline in entry.inline:
            group.inline[inline] = entry.key
        entry.launch = loaded.row.phase is Phase.ADMITTED
        if loaded.flow.run.start_time is None:  # also if a user's action was stored before it could begin
            entry.inbox.append(Item(happened.Launched(run=entry.key)))
        else:
            self._recover(group, entry, loaded)
            if summary_of(entry) != loaded.row.summary:  # the owner before owed it
                entry.owes_summary = True
                entry.inbox.append(Item(SumUp()))
        if entry.inbox:
            group.wake(entry)
        self._owned.touch(entry)

    def _recover(self, group: Group, entry: Entry, loaded: LoadedRun) -> None:
        """Repeat what an owner before may have left undone between its commit and its effects."""
        recovery = recovery_of(loaded.flow)
        entry.inbox.extend(Item(event) for event in recovery.events)
        for attempt in sorted(loaded.granted):
            record = entry.attempt(attempt)
            if record is not None and record.status is StepStatus.WAITING_FOR_PERMITS:
                entry.inbox.append(Item(happened.Granted(attempt=attempt)))
        for effect in recovery.effects:
            self._effects.repeat(group, entry, effect)
        self._owned.arm(group.number, entry.key, entry.next_ring)
        if entry.launched:  # a result may lie in the outbox: launches are looked at after the next fetch
            self.await_fetch(group, entry)

    def await_fetch(self, group: Group, entry: Entry) -> None:
        entry.awaited_fetch = self._owned.fetches + 1
        self._awaiting.append((group, entry))
        self._owned.hurry = True

    def fetched(self, number: int) -> None:
        """A fetch was answered, and what it brought is in the inboxes: launches can be looked at."""
        waiting, self._awaiting = self._awaiting, []
        for group, entry in waiting:
            if not self._owned.holds(group, entry) or entry.awaited_fetch is None:
                continue
            if entry.awaited_fetch <= number:
                entry.awaited_fetch = None
                group.put(entry, Item(Recover()))
            else:
                self._awaiting.append((group, entry))

    def _gone(self, group: Group, entry: Entry) -> None:
        """The run has ended, or never was: what came for it is dealt with, and an action is refused."""
        group.remove(entry)
        for item in entry.inbox:
            if item.message is not None and isinstance(item.message.body, post.Stop | post.Hold):
                self._owned.handle(group, item.message)  # it may still be in its queue
            elif item.message is not None:
                outcome = post.Outcome(applied=False, message=f"{entry.key} has ended")
                group.add(item.message.id, handled(item.message, outcome))

    # ------------------------------------------------------------------------------------------------ leaving
    def done(self, group: Group, draft: Draft) -> None:
        """After a commit: a run that has ended leaves memory."""
        entry = draft.entry
        if entry is None or entry.flow is None:
            return
        if entry.flow.is_over:
            self._owned.forget(entry)
            self._gone(group, entry)
        elif not entry.inbox:
            entry.careful = False

    def park(self, group: Group, entry: Entry) -> None:
        """Keep of a run that only waits nothing but when it must be looked at."""
        if (
            entry.flow is None
            or entry.is_busy
            or entry.careful
            or entry.owes_summary
            or entry.key in group.drafts
            or group.committing
        ):
            self._owned.touch(entry)
            return
        at = entry.next_ring
        group.remove(entry)
        self._owned.forget(entry)
        group.parked[entry.key] = at
        self._owned.arm(group.number, entry.key, at)


def handled(message: post.Message, outcome: post.Outcome) -> Draft:
    """A message that changes no run: it goes, or its caller is told."""
    draft = Draft()
    draft.messages.append(message)
    if isinstance(message.body, post.HAVE_OUTCOMES):
        draft.answered[message.id] = outcome
    return draft
