"""What a node has in hand: groups, their runs, the timers of all of them, and which may leave memory."""

import heapq
from itertools import count
from typing import Final

from stretto.engine.events import Resumed
from stretto.engine.flow import SharedRoom
from stretto.engine.records import RunKey
from stretto.node.context import NodeContext
from stretto.node.entry import Entry, Item
from stretto.node.group import Group
from stretto.node.permits import PermitRoom
from stretto.ports.messages import Message

RECENT: Final = 1.0  # seconds: runs that were decided about within this time share the node


class OwnedGroups:
    """The groups that a node owns. There is one heap of times for all runs, in memory or parked."""

    def __init__(self, node: NodeContext) -> None:
        self._node = node
        self.groups: dict[int, Group] = {}
        self.fetches = 0  # how many were asked
        self.stirred: dict[int, Group] = {}  # groups in which something may have to be done
        self.to_handle: dict[int, Group] = {}  # groups that have messages about no run in hand
        self.hurry = False  # there is a reason to fetch at once
        self.permits = PermitRoom()
        self.shared_room = SharedRoom(node.settings.live_leaves)
        self.timers_changed = False  # time triggers may have come or gone
        self._times: list[tuple[float, int, int, RunKey]] = []  # by the steady clock
        self._tickets = count()
        self._idle: dict[tuple[int, RunKey], Entry] = {}  # entries by when they were touched last
        self._crowded: dict[RunKey, tuple[Group, Entry]] = {}  # runs with loops that wait for room
        self._turn: tuple[RunKey | None, float] = (
            None,
            float("-inf"),
        )  # who was decided about last, and when
        self._shared_until = float("-inf")

    def clear(self) -> None:
        self.groups = {}
        self.stirred = {}
        self.to_handle = {}
        self.permits = PermitRoom()
        self.shared_room = SharedRoom(self._node.settings.live_leaves)
        self._times = []
        self._idle = {}
        self._crowded = {}

    def holds(self, group: Group, entry: Entry | None = None) -> bool:
        """Whether a group is still ours under the same lease, and the entry still the one in hand."""
        if self.groups.get(group.number) is not group:
            return False
        return entry is None or group.entries.get(entry.key) is entry

    def lively(self) -> list[Group]:
        """Groups in which there is something to decide or to commit."""
        for number, group in list(self.stirred.items()):
            if not (group.ready or group.drafts) or self.groups.get(number) is not group:
                del self.stirred[number]
        return list(self.stirred.values())

    def handle(self, group: Group, message: Message) -> None:
        """A message that no run in memory can take."""
        group.to_handle.append(message)
        self.to_handle[group.number] = group

    # ----------------------------------------------------------------------------------------------- timers
    def arm(self, group: int, key: RunKey, at: float | None) -> None:
        """Look at a run at a moment of the steady clock."""
        if at is not None:
            heapq.heappush(self._times, (at, next(self._tickets), group, key))

    def due(self) -> list[tuple[Group, RunKey]]:
        """Runs that must be looked at now."""
        found = []
        now = self._node.steady()
        while self._times and self._times[0][0] <= now:
            _, _, number, key = heapq.heappop(self._times)
            group = self.groups.get(number)
            if group is not None:
                found.append((group, key))
        return found

    @property
    def next_due(self) -> float:
        """When the steady clock reaches the first of them."""
        return self._times[0][0] if self._times else float("inf")

    # ------------------------------------------------------------------------------------------------- idle
    def touch(self, entry: Entry) -> None:
        at = entry.group, entry.key
        self._idle.pop(at, None)
        self._idle[at] = entry
        entry.touched = self._node.steady()

    def forget(self, entry: Entry) -> None:
        """A run leaves memory."""
        self._idle.pop((entry.group, entry.key), None)
        self._crowded.pop(entry.key, None)
        if entry.flow is not None:
            entry.flow.tree.share(SharedRoom(0))

    # ------------------------------------------------------------------------------------------------- room
    def note_turn(self, entry: Entry) -> int:
        """Before decisions about a run: how many rows it may write now. Runs that take turns take small ones,
        so that a large one does not hold up the others.
        """
        steady, settings = self._node.steady(), self._node.settings
        run, at = self._turn
        if run != entry.key and steady - at < RECENT:
            self._shared_until = steady + RECENT
        self._turn = entry.key, steady
        alone = steady >= self._shared_until
        self.shared_room.records = None if alone else settings.rows_beside_others
        return settings.rows_per_commit if alone else settings.rows_beside_others

    def note_waiting(self, group: Group, entry: Entry) -> None:
        """After a decision: loops of a run may wait because other runs fill the memory."""
        waiting = entry.flow is not None and entry.flow.tree.waiting_loops
        if waiting:
            self._crowded[entry.key] = group, entry
        elif self._crowded:
            self._crowded.pop(entry.key, None)

    def wake_waiting(self) -> None:
        """Let loops look again for which there is room now. Who waits longest is first."""
        for key, (group, entry) in list(self._crowded.items()):
            if not self.holds(group, entry) or entry.flow is None:
                del self._crowded[key]
                continue
            tree = entry.flow.tree
            loop, leaves = next(iter(tree.waiting_loops.items()))
            if tree.has_room(leaves):
                del self._crowded[key]
                group.put(entry, Item(Resumed(attempt=loop)))

    def idle(self) -> list[tuple[Group, Entry]]:
        """Runs that were not touched for long, or are too many; those that wait longest come first."""
        settings = self._node.settings
        now = self._node.steady()
        many = len(self._idle) - settings.most_active
        found, gone = [], []
        for number, (at, entry) in enumerate(self._idle.items()):
            if number >= many and self._idle_at(entry) > now:
                break
            group = self.groups.get(at[0])
            if group is None or group.entries.get(entry.key) is not entry:
                gone.append(at)
            else:
                found.append((group, entry))
        for at in gone:
            del self._idle[at]
        return found

    @property
    def awake(self) -> bool:
        """Whether a run is in memory."""
        return bool(self._idle)

    @property
    def next_idle(self) -> float:
        first = next(iter(self._idle.values()), None)
        return float("inf") if first is None else self._idle_at(first)

    def _idle_at(self, entry: Entry) -> float:
        return entry.touched + self._node.settings.park_after / 1_000
