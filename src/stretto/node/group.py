"""A flow group that a node owns: an actor. Inboxes are drained in batches, one commit is in flight."""

from collections import deque
from collections.abc import Iterable
from enum import Enum, auto

from stretto.engine.records import RunKey
from stretto.node.draft import Draft
from stretto.node.entry import Entry, Item
from stretto.ports.messages import Message
from stretto.ports.rows import Lease
from stretto.ports.suspicion import NONE, Suspect, Suspicion


class GroupState(Enum):
    """How far a node is with a group that it owns."""

    LOADING = auto()  # claimed; what is in it is being read
    READY = auto()
    LEAVING = auto()  # takes nothing new; it is given up once all is committed
    GOING = auto()  # it is being given up: the next owner may have it already, so nothing is done in it


class Operation:
    """What the owner of a group with falls does in it: noted in the store first, then done."""

    __slots__ = ("left", "noted", "order", "suspects", "used")

    def __init__(self, suspects: Iterable[Suspect]) -> None:
        self.order = tuple(dict.fromkeys(suspects))
        self.suspects = frozenset(self.order)
        self.left = {each.what for each in self.order}  # what has not returned
        self.noted = False
        self.used = False  # it was begun


class PendingLines:
    """The lines in hand about one run, the first one first."""

    __slots__ = ("drafted", "messages", "tries")

    def __init__(self) -> None:
        self.messages: deque[Message] = deque()
        self.drafted = False  # the first is on its way into the store
        self.tries = 0


class Group:
    """Everything that a node knows of one group, under one lease."""

    def __init__(self, lease: Lease, lively: "dict[int, Group]") -> None:
        self.lease = lease
        self._lively = lively  # where it says that there may be something to decide or to commit
        self.state = GroupState.LOADING
        self.seq = 0
        self.entries: dict[RunKey, Entry] = {}
        self.parked: dict[RunKey, float | None] = {}  # runs that only wait, and when to load each
        self.aside: dict[RunKey, list[int]] = {}  # runs in quarantine, and messages that wait for them
        self.inline: dict[str, RunKey] = {}  # inline workflow id -> the run whose loop it is
        self.ready: dict[RunKey, None] = {}  # entries that have something to decide, in order
        self.drafts: dict[RunKey | int, Draft] = {}  # decided, not committed; those about no run by message
        self.known: set[int] = set()  # messages in hand
        self.committing = False
        self.to_handle: deque[Message] = deque()  # messages about no run in hand, by id
        self.handling = False  # with the first of them
        self.lines: dict[RunKey, PendingLines] = {}  # of the change log, in hand and not stored
        self.careful = False  # an owner died here: one operation at a time, and it is noted which
        self.to_calm = False  # nobody died for long: that is to be stored
        self.operation: Operation | None = None
        self.suspicion: Suspicion = NONE  # as it is stored
        self.waiting: dict[Suspect, float] = {}  # what is accused, and since when it is to be done

    @property
    def number(self) -> int:
        return self.lease.group

    @property
    def rows(self) -> int:
        return sum(draft.rows for draft in self.drafts.values())

    @property
    def to_note(self) -> tuple[Suspect, ...]:
        """What the store must say that is being done here."""
        return () if self.operation is None else self.operation.order

    def put(self, entry: Entry, item: Item) -> None:
        """Something happened to a run in hand."""
        entry.inbox.append(item)
        if entry.flow is not None:
            self.wake(entry)

    def wake(self, entry: Entry) -> None:
        """There is something to decide for a run in memory."""
        self.ready[entry.key] = None
        self._lively[self.lease.group] = self

    def draft_of(self, entry: Entry) -> Draft:
        draft = self.drafts.get(entry.key)
        if draft is None:
            draft = self.drafts[entry.key] = Draft(entry)
        return draft

    def add(self, message: int, draft: Draft) -> None:
        """What came of a message that changes no run."""
        self.drafts[message] = draft
        self._lively[self.lease.group] = self

    def is_announced(self, entry: Entry) -> bool:
        """Whether the change log knows all of a run that is to be launched: it tells of it in order. A
        run that was paused in its queue has several lines.
        """
        lines = self.lines.get(entry.key) if entry.launch else None
        return lines is None or (lines.drafted and len(lines.messages) == 1)

    def remove(self, entry: Entry) -> None:
        """A run has ended, is parked, or must be loaded anew."""
        self.entries.pop(entry.key, None)
        self.ready.pop(entry.key, None)
        for inline in entry.inline:
            self.inline.pop(inline, None)

    @property
    def is_leaving(self) -> bool:
        """Whether nothing new is begun here."""
        return self.state in {GroupState.LEAVING, GroupState.GOING}

    @property
    def is_quiet(self) -> bool:
        """Whether everything that was begun here is committed, and every launch is known."""
        return (
            self.state is not GroupState.LOADING
            and not (self.committing or self.drafts or self.to_handle)
            and not (self.operation or self.suspicion.noted)
            and all(entry.flow is not None and entry.awaited_fetch is None for entry in self.entries.values())
        )
