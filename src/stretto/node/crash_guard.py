"""What a node does in groups whose owners died before is noted in the store first, and withdrawn afterwards.

A group without falls is handled without notes. In a group with falls the owner does one thing at a time: it
reads some runs, decides some events of one run, or deals with one message. The note of all such groups is one
transaction. See `ports.suspicion` for what a death makes of a note.

What is accused already is handled alone: no other note of this node stands meanwhile, so that a run which
kills its owner takes no other with it. It also waits for a while that differs from owner to owner: a process
that is killed from outside at regular intervals is not always killed at the same place.
"""

from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Final
from zlib import crc32

from stretto.engine.records import RunKey
from stretto.node.asks import Calm, NoteSuspects
from stretto.node.context import NodeContext
from stretto.node.entry import Entry, Item
from stretto.node.group import Group, Operation
from stretto.node.owned_groups import OwnedGroups
from stretto.ports.suspicion import MOST_NOTED, Suspect, Suspicion

SPREAD: Final = 2_000  # milliseconds: what is accused waits for up to so long
LOAD: Final = "load"
DEAL: Final = "deal"
NOTHING: Final[frozenset[Suspect]] = frozenset()
_WORDS: Final = ("attempt", "state", "reason", "action", "status")  # fields that tell events apart


class CrashGuard:
    """What may be done in groups with falls, and when."""

    def __init__(self, node: NodeContext, owned: OwnedGroups) -> None:
        self._node = node
        self._owned = owned
        self._busy: dict[int, Group] = {}  # groups with an operation, or a note that is not withdrawn
        self._wanted_alone: list[tuple[int, Group, Suspect]] = []  # what is accused, and asked for this turn
        self._alone: Group | None = None  # the group in which something that is accused has its turn
        self._held_back = False  # nothing else is begun meanwhile
        self._writing = False

    def clear(self) -> None:
        """A new life: nothing is ours."""
        self._busy = {}
        self._wanted_alone = []
        self._alone = None
        self._held_back = self._writing = False

    def take(self, group: Group, suspicion: Suspicion, falls: int) -> None:
        """A group that was loaded. A note that stands is our own: the group was claimed again."""
        group.careful = falls >= self._node.settings.falls_to_be_careful
        group.suspicion = suspicion
        if suspicion.noted:
            self._busy[group.number] = group

    def calm(self, group: Group) -> None:
        """Nobody has died here for long: forget the falls, as soon as no note stands."""
        group.careful = False
        group.to_calm = True
        self._busy[group.number] = group

    def awaits_turn(self, group: Group) -> bool:
        """Whether something that is accused is to be done in a group, and has not returned."""
        begun = () if group.operation is None else group.operation.order
        here = (each for each in group.waiting if each.what in group.entries or each.what in group.known)
        return any(group.suspicion.deaths(each) for each in (*begun, *here))

    # ------------------------------------------------------------------------------------------- questions
    def is_free(self, group: Group) -> bool:
        """Whether everything may be done in a group, without a note."""
        return not group.careful and group.operation is None

    def may_load(self, group: Group, runs: Sequence[RunKey]) -> frozenset[RunKey]:
        """The runs that may be read now; ask again for the others. Say `returned` of each."""
        wanted = [Suspect(what=run, at=LOAD) for run in runs]
        wanted.sort(key=group.suspicion.deaths)
        begun = self._use(group, self._allowed(group, wanted), wanted)
        return frozenset(run for run in runs if Suspect(what=run, at=LOAD) in begun)

    def may_handle(self, group: Group, message: int) -> bool:
        """Whether a message may be dealt with now. Say `returned` of it."""
        wanted = [Suspect(what=message, at=DEAL)]
        return bool(self._use(group, self._allowed(group, wanted), wanted))

    def may_decide(self, group: Group, entry: Entry) -> int:
        """How many events of a run may be decided now, the first ones first. Say `returned` of the run."""
        wanted = [Suspect(what=entry.key, at=_words_of(item)) for item in islice(entry.inbox, MOST_NOTED)]
        allowed = self._allowed(group, wanted)
        first = tuple(takewhile(allowed.__contains__, wanted))
        self._use(group, allowed, first)
        return len(first)

    def returned(self, group: Group, what: RunKey | int) -> None:
        """What was begun has returned: it did no harm."""
        operation = group.operation
        if operation is not None and operation.used:
            operation.left.discard(what)
            if not operation.left:
                group.operation = None

    # -------------------------------------------------------------------------------------------- admitting
    def _allowed(self, group: Group, wanted: Sequence[Suspect]) -> frozenset[Suspect]:
        """What is noted, and not begun. If nothing is under way in the group, the first of these will be."""
        operation = group.operation
        if operation is None:
            self._ask_for(group, wanted)
        elif operation.noted and not operation.used:
            return operation.suspects
        return NOTHING

    def _use(
        self, group: Group, allowed: frozenset[Suspect], wanted: Sequence[Suspect]
    ) -> frozenset[Suspect]:
        """Begin what is allowed of these. What was noted besides has nothing to return from."""
        begun = allowed.intersection(wanted)
        if begun and group.operation is not None:
            group.operation.used = True
            group.operation.left = {each.what for each in begun}
        return begun

    def _ask_for(self, group: Group, wanted: Sequence[Suspect]) -> None:
        deaths = group.suspicion.deaths
        if deaths(wanted[0]):
            self._ask_alone(group, wanted[0])
        elif not self._held_back:
            self._begin(group, tuple(takewhile(lambda each: not deaths(each), wanted))[:MOST_NOTED])

    def _ask_alone(self, group: Group, suspect: Suspect) -> None:
        now = self._node.steady()
        since = group.waiting.setdefault(suspect, now)
        spread = crc32(f"{suspect.what} {suspect.at} {group.lease.generation}".encode()) % SPREAD
        left = spread - round((now - since) * 1_000)
        if left <= 0:
            self._wanted_alone.append((group.suspicion.deaths(suspect), group, suspect))
        elif since == now:
            self._wake_in(left)

    def _begin(self, group: Group, suspects: Sequence[Suspect]) -> None:
        group.operation = Operation(suspects)
        self._busy[group.number] = group

    # -------------------------------------------------------------------------------------------------- pump
    def pump(self) -> None:
        """Note what is to be done, and withdraw what has returned."""
        for number, group in list(self._busy.items()):
            self._drop_unused(group)
            if not self._owned.holds(group):
                del self._busy[number]
            elif group.operation is None and not group.suspicion.noted:
                del self._busy[number]
                if group.to_calm:
                    self._forget_falls(group)
        self._take_turns()
        if not self._writing:
            self._write_notes()

    def _write_notes(self) -> None:
        changed = []
        for group in self._busy.values():
            if group.to_note != group.suspicion.noted:
                changed.append(group)
            elif group.operation is not None and not group.operation.noted:  # its note stands already
                group.operation.noted = True
                self._wake_in(0)
        if changed:
            self._write(changed, NoteSuspects(notes={group.lease: group.to_note for group in changed}))

    def _drop_unused(self, group: Group) -> None:
        """What it was noted for is not there any more: the run has left memory, or the group is to go."""
        operation = group.operation
        if operation is not None and operation.noted and not operation.used and not group.committing:
            group.operation = None

    def _take_turns(self) -> None:
        """Something that is accused, once nothing else is under way; then everything else; then the next."""
        wanted, self._wanted_alone = self._wanted_alone, []
        if self._alone is not None:
            if self._busy.get(self._alone.number) is not self._alone:
                self._alone = None
                self._let_others()
        elif not wanted:
            self._let_others()
        else:
            self._held_back = True
            if not self._busy:
                _deaths, self._alone, suspect = max(wanted, key=lambda each: each[0])
                self._alone.waiting.pop(suspect, None)
                self._begin(self._alone, [suspect])

    def _let_others(self) -> None:
        if self._held_back:
            self._held_back = False
            self._wake_in(0)

    def _wake_in(self, millis: int) -> None:
        self._node.after(millis, lambda: None)

    # ------------------------------------------------------------------------------------------------- store
    def _write(self, groups: Sequence[Group], ask: NoteSuspects, tries: int = 0) -> None:
        """One transaction at a time, for all groups."""
        self._writing = True

        def then(fenced: frozenset[int]) -> None:
            self._writing = False
            for group in groups:
                if group.number in fenced:  # a beat will tell that it is lost; nothing is done in it
                    self._forget(group)
                    continue
                group.suspicion = group.suspicion.noting(ask.notes[group.lease])
                if group.operation is not None and group.to_note == group.suspicion.noted:
                    group.operation.noted = True

        def otherwise(error: Exception) -> None:
            self._node.tell(lambda each: each.store_failed(error, tries + 1))
            self._node.after(self._node.back_off(tries), lambda: self._write(groups, ask, tries + 1))

        self._node.ask(ask, then, otherwise)

    def _forget(self, group: Group) -> None:
        """The same group may be ours under a newer lease, with notes of its own."""
        if self._busy.get(group.number) is group:
            del self._busy[group.number]

    def _forget_falls(self, group: Group) -> None:
        group.to_calm = False
        self._node.insist(Calm(leases=(group.lease,)), lambda _answer: None, lambda _error: None)


def _words_of(item: Item) -> str:
    """The same for the same event of the same attempt, whichever node decides it, and whenever."""
    event = item.event
    values = (getattr(event, name, None) for name in _WORDS)
    return " ".join([type(event).__name__, *(str(value) for value in values if value is not None)])
