"""What was decided for one run since its last commit: all of it goes into one `Decided`."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, ParamSpec

import msgspec

from stretto.engine.permits import PermitUse
from stretto.engine.records import AttemptKey, Record
from stretto.model.event import ChangeEvent
from stretto.model.status import RunStatus, StepStatus
from stretto.node.change_log import changes_of
from stretto.node.entry import Entry, Item
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.messages import AnyBody, Letter, Message, Outcome
from stretto.ports.rows import NodeId, RunSummary
from stretto.ports.signals import SignalWait

P = ParamSpec("P")
NO_USE: Final = PermitUse()


class Draft:
    """One decision in the sense of the store: several events of one run, or one message about none."""

    __slots__ = (
        "_before",
        "after_commit",
        "answered",
        "continued",
        "due",
        "entry",
        "events",
        "items",
        "launch",
        "letters",
        "matched",
        "messages",
        "permits",
        "records",
        "released",
        "results",
        "returned",
        "runs_on",
        "summary",
        "uses",
        "waits",
        "weight",
    )

    def __init__(self, entry: Entry | None = None) -> None:
        self.entry = entry
        self.launch = False
        self.due: int | None = None  # when its run must be looked at, as it was composed last
        self.records: dict[int, Record] = {}
        self._before: dict[int, StepStatus | RunStatus | None] = {}
        self.messages: list[Message] = []  # that it deals with
        self.answered: dict[int, Outcome] = {}
        self.continued: dict[int, AnyBody] = {}
        self.letters: list[Letter] = []
        self.permits: dict[AttemptKey, PermitAsk] = {}
        self.uses: dict[str, PermitUse] = {}  # of the permits of tags
        self.waits: list[SignalWait] = []
        self.matched: list[tuple[AttemptKey, int]] = []
        self.released: dict[AttemptKey, None] = {}  # ended: whatever they had goes
        self.returned: dict[AttemptKey, None] = {}  # ended: their permits go
        self.runs_on: dict[AttemptKey, NodeId | None] = {}
        self.after_commit: list[Callable[[], None]] = []  # what follows, once it is stored
        self.results: list[tuple[AttemptKey, int]] = []  # launches whose result is in it
        self.events: list[ChangeEvent] = []
        self.summary: RunSummary | None = None
        self.items: list[Item] = []  # what was decided, in order
        self.weight = 0  # kilobytes of parameters in its records

    @property
    def rows(self) -> int:
        """About how many rows it writes; a kilobyte of parameters takes as long as a row."""
        return (
            self.weight
            + len(self.records)
            + len(self.messages)
            + len(self.letters)
            + len(self.permits)
            + len(self.waits)
            + len(self.released)
            + len(self.returned)
        )

    @property
    def is_empty(self) -> bool:
        """Nothing to write: the event changed nothing, and brought no message that must go."""
        return not (self.records or self.messages or self.letters or self.runs_on)

    def note(self, changes: Iterable[Record], before: Iterable[StepStatus | RunStatus | None]) -> None:
        for record, status in zip(changes, before, strict=True):
            self.records[id(record)] = record
            self._before.setdefault(id(record), status)

    def then(self, call: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call this once the commit is stored."""
        self.after_commit.append(partial(call, *args, **kwargs))

    # ----------------------------------------------------------------------------------------------- permits
    def ask_permits(self, ask: PermitAsk) -> None:
        """An attempt stands in line, or takes its permits."""
        self.permits[ask.attempt] = ask
        for tag, limit in ask.limits.items():
            use = self.uses.get(tag, NO_USE)
            self.uses[tag] = use.taken(limit) if ask.taken else use.changed(1)

    def use_permits(self, limits: Mapping[str, int | None], attempts: int) -> None:
        """Attempts took these permits one after the other, and each has ended."""
        for tag, limit in limits.items():
            self.uses[tag] = self.uses.get(tag, NO_USE).passed(limit, attempts)

    def release(self, attempt: AttemptKey, tags: Iterable[str]) -> None:
        """An attempt has ended. Of permits that it took in this decision nobody has heard."""
        for tag in tags:
            self.uses[tag] = self.uses.get(tag, NO_USE).changed(-1)
        ask = self.permits.get(attempt)
        if ask is None or not ask.taken:
            self.returned[attempt] = None
            return
        del self.permits[attempt]
        if ask.rates:  # they are stored all the same: the start counts
            self.permits[attempt] = msgspec.structs.replace(ask, limits={})

    @property
    def freed(self) -> list[str]:
        """Tags of which it returned more permits than it took: others may get them. Who takes what the step
        before it returned leaves nothing to them.
        """
        return [tag for tag, use in self.uses.items() if use.net < 0]

    # ------------------------------------------------------------------------------------------------ result
    def stamp(self, clock: int) -> int:
        """The time stamp of what happens now; see `Tree.stamp`."""
        flow = None if self.entry is None else self.entry.flow
        return clock if flow is None else flow.tree.stamp(clock)

    def decided(self, now: int) -> Decided:
        """What the store is told. It may be asked again, if the commit is refused: nothing is stored yet."""
        entry = self.entry
        consumed = tuple(
            each.id
            for each in self.messages
            if each.id not in self.answered and each.id not in self.continued
        )
        if entry is None:
            return Decided(
                consumed=consumed,
                answered=self.answered,
                continued=self.continued,
                sent=tuple(self.letters),
                events=tuple(self.events),
            )
        now = self.stamp(now)
        changed = ((record, self._before[at]) for at, record in self.records.items())
        # While something is to be carried out, the next owner must look at the run if this one dies.
        self.due = 0 if self.after_commit else entry.due
        return Decided(
            root=entry.key,
            launch=self.launch,
            records=tuple(self.records.values()),
            due_at=self.due,
            keeps_due=not self.launch and self.due == entry.due_stored,
            runs_on=self.runs_on,
            summaries={} if self.summary is None else {entry.key: self.summary},
            consumed=consumed,
            answered=self.answered,
            sent=tuple(self.letters),
            permits=tuple(self.permits.values()),
            uses=self.uses,
            waits=tuple(self.waits),
            matched=tuple(self.matched),
            released=tuple(self.released),
            returned=tuple(attempt for attempt in self.returned if attempt not in self.released),
            events=(*self.events, *changes_of(changed, now, entry.run_of, entry.label_of)),
        )

    def stored(self) -> None:
        """The store has it, as it was composed last."""
        if self.entry is not None:
            self.entry.due_stored = self.due
