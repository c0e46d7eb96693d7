"""A run that a node has in hand: its flow, what waits to be decided, its timers, what is under way for it."""

import heapq
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import Final, NamedTuple

import msgspec

from stretto.engine.effects import SetTimer
from stretto.engine.events import Event, RunTimeDue, StepTimeDue, Woken
from stretto.engine.flow import Flow
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord, WakeReason
from stretto.engine.turn import TIME_FIELDS
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.node.answers import LoadedRun
from stretto.node.change_log import NO_LABEL, Label, Labels
from stretto.ports.messages import Message
from stretto.ports.rows import NodeId, RunRow

_TIMES: Final = tuple(dict.fromkeys(TIME_FIELDS.values()))
_FAILED: Final = frozenset(
    status
    for status in StepStatus
    if status.is_terminal and not status.is_complete and status is not StepStatus.STOPPED
)
MOST_ERRORS: Final = 20  # of which one run knows; lists show the first
TimerEvent = RunTimeDue | StepTimeDue | Woken


class Recover(msgspec.Struct, frozen=True):
    """To itself: whoever did the work of these runs may be gone; look at each launch."""


class AskAround(msgspec.Struct, frozen=True):
    """To itself: ask the nodes that do work for this run whether they still do."""


class SumUp(msgspec.Struct, frozen=True):
    """To itself: store what lists show of this run, which was put off while much happened."""


class Item(NamedTuple):
    """Something to decide, and the message that brought it, if one did."""

    event: Event | Recover | AskAround | SumUp
    message: Message | None = None


class Entry:
    """One run of an owned group, from the moment it is wanted. Without a flow it is being loaded."""

    __slots__ = (
        "_labels",
        "asked",
        "awaited_fetch",
        "back_offs",
        "blamed",
        "careful",
        "carrying",
        "due_stored",
        "errors",
        "flow",
        "function_waits",
        "group",
        "inbox",
        "inline",
        "key",
        "launch",
        "launched",
        "loaded_at",
        "loading",
        "owes_summary",
        "put_off",
        "row",
        "runs_on",
        "summed_at",
        "tickets",
        "timers",
        "touched",
        "waits",
        "watching",
    )

    def __init__(self, key: RunKey, group: int) -> None:
        self.key = key
        self.group = group
        self.flow: Flow | None = None
        self._labels: Labels | None = None
        self.row: RunRow | None = None
        self.launch = False  # it is ADMITTED: its first decision launches it
        self.loading = False
        self.loaded_at = 0.0  # on the steady clock
        self.careful = False  # one event per commit: something in it could not be stored
        self.blamed: dict[AttemptKey, int] = {}  # how often what came of an attempt could not be stored
        self.inbox: deque[Item] = deque()
        self.asked = 0  # asks under way that will bring events
        # Subworkflow steps whose child is being started; also since before the run was loaded again.
        self.carrying: set[AttemptKey] = set()
        self.put_off: set[AttemptKey] = set()  # what is being ended, and is carried on a little later
        self.awaited_fetch: int | None = None  # launches are looked at after this fetch
        self.runs_on: dict[AttemptKey, NodeId] = {}
        self.launched: dict[AttemptKey, int] = {}
        self.function_waits: dict[AttemptKey, int] = {}  # launches that nobody knows the functions of
        self.watching: dict[AttemptKey, set[int]] = {}  # signals that are waited for
        self.waits: dict[AttemptKey, AttemptRecord] = {}  # attempts that wait, the oldest first
        self.errors: dict[tuple[RunKey, str], AttemptRecord] = {}  # steps that failed, the first one first
        self.inline: set[str] = set()  # inline workflow ids of its loops
        self.timers: list[tuple[float, int, TimerEvent]] = []  # by the steady clock
        self.tickets = count()
        self.back_offs: dict[tuple[RunKey, str], tuple[Woken, float]] = {}  # of steps, and when they ring
        self.due_stored: int | None = None  # what its row says, as far as commits were answered
        self.summed_at = float("-inf")  # on the steady clock
        self.owes_summary = False  # what lists show of it is older than the run
        self.touched = 0.0

    # ---------------------------------------------------------------------------------------------- loading
    def fill(self, loaded: LoadedRun) -> None:
        """The rows are here. No time stamp that follows is earlier than the latest in them."""
        self.loading = False
        self.flow = loaded.flow
        self._labels = None
        self.row = loaded.row
        self.runs_on = dict(loaded.runs_on)
        self.due_stored = loaded.row.due_at
        latest = loaded.row.modify_time
        for flow in loaded.flow.tree.live.values():
            for attempt in flow.attempts:
                if attempt is not None:
                    self.note_attempt(attempt)
                    latest = max(latest, *(getattr(attempt, name) or 0 for name in _TIMES))
            if flow.run.key != self.key:
                self.inline.add(flow.run.key.workflow_id)
        loaded.flow.tree.stamp(latest)

    # ---------------------------------------------------------------------------------------------- records
    def note_attempt(self, record: AttemptRecord) -> None:
        """Keep what is asked of it often."""
        key = record.key
        if record.launch is not None:
            self.launched[key] = record.launch
        elif self.launched.pop(key, None) is not None:
            self.runs_on.pop(key, None)
        if record.status in _FAILED:
            if len(self.errors) < MOST_ERRORS:
                self.errors.setdefault((key.run, key.step_id), record)
        elif self.errors:
            self.errors.pop((key.run, key.step_id), None)  # it is tried again
        waits = record.function_wait is not None
        if waits and record.launch is not None:
            self.function_waits[key] = record.launch
        elif self.function_waits:
            self.function_waits.pop(key, None)
        if record.status.is_terminal or (record.launch is not None and not waits):
            self.waits.pop(key, None)
        elif key not in self.waits:
            self.waits[key] = record
            self.back_offs.pop((key.run, key.step_id), None)  # it is a new attempt
        if record.signals is not None and not record.status.is_terminal and key not in self.watching:
            pending = [i for i, each in enumerate(record.signals.dependencies) if not each.status.is_done]
            if pending:
                self.watching[key] = set(pending)

    def run_of(self, attempt: AttemptKey) -> RunRecord | None:
        """The run of an attempt, if it is alive."""
        found = None if self.flow is None else self.flow.tree.live.get(attempt.run)
        return None if found is None else found.run

    def label_of(self, run: RunRecord, changed: Mapping[RunKey, RunRecord]) -> Label:
        """What events say of a run in the tree beside its ids; what has just ended is among the changed."""
        if self.flow is None:
            return NO_LABEL
        if self._labels is None:
            self._labels = Labels(self.flow.tree)
        return self._labels.of(run, changed)

    def step_of(self, attempt: AttemptKey) -> AnyStep | None:
        """The definition of the step of an attempt, if its run is alive."""
        found = None if self.flow is None else self.flow.tree.live.get(attempt.run)
        plan = None if found is None else found.step(attempt.step_id)
        return None if plan is None else plan.step

    def attempt(self, key: AttemptKey) -> AttemptRecord | None:
        found = None if self.flow is None else self.flow.tree.live.get(key.run)
        return None if found is None else found.attempt(key)

    # ----------------------------------------------------------------------------------------------- timers
    def set_timer(self, at: float, event: TimerEvent) -> float | None:
        """It rings at a moment of the steady clock, whatever becomes of the database's. Returns that moment
        if it is the next one now. A back-off that is set again, because its step was held, keeps its moment.
        """
        if isinstance(event, Woken) and event.reason is WakeReason.BACK_OFF:
            step = event.attempt.run, event.attempt.step_id
            known, before = self.back_offs.get(step, (None, at))
            at = before if known == event else at
            self.back_offs[step] = event, at
        heapq.heappush(self.timers, (at, next(self.tickets), event))
        return at if self.timers[0][2] is event else None

    @property
    def next_ring(self) -> float | None:
        """When the next timer that still means something rings, on the steady clock."""
        while self.timers and not self._counts(self.timers[0][2]):
            heapq.heappop(self.timers)
        return self.timers[0][0] if self.timers else None

    @property
    def next_due(self) -> int | None:
        """What the row says of the next timer: its due time on the database's clock."""
        return None if self.next_ring is None else self.timers[0][2].due

    def ring(self, steady: float) -> bool:
        """Put what is due into the inbox. True if there is something."""
        rung = False
        while (at := self.next_ring) is not None and at <= steady:
            event = heapq.heappop(self.timers)[2]
            if self.flow is not None:
                self.flow.tree.stamp(event.due)  # no time stamp of what follows is earlier
            self.inbox.append(Item(event))
            rung = True
        return rung

    def _counts(self, event: TimerEvent) -> bool:
        """Whether the run, or attempt, still waits for this moment."""
        if isinstance(event, RunTimeDue):
            flow = None if self.flow is None else self.flow.tree.live.get(event.run)
            return flow is not None and flow.run.timeout_at == event.due and not flow.is_over
        attempt = self.attempt(event.attempt)
        if attempt is None:
            return False
        if isinstance(event, StepTimeDue):
            return attempt.timeout_at == event.due and not attempt.status.is_terminal
        return attempt.wake_at == event.due and attempt.wake_reason is event.reason

    # --------------------------------------------------------------------------------------------- waiting
    @property
    def launching(self) -> bool:
        """Whether the row may still be ADMITTED."""
        return self.launch or self.flow is None

    @property
    def is_busy(self) -> bool:
        """Whether something is under way that would be lost with this node, or must be recovered."""
        waits = self.asked or self.carrying or self.put_off or self.awaited_fetch is not None
        return bool(self.inbox or self.launched or waits)

    @property
    def due(self) -> int | None:
        """What the row must say: 0 while something is under way, else the next timer."""
        return 0 if self.is_busy else self.next_due


def timer_event(effect: SetTimer) -> TimerEvent:
    """What happens when a timer is due."""
    if effect.attempt is None:
        return RunTimeDue(run=effect.run, due=effect.due)
    if effect.reason is None:
        return StepTimeDue(attempt=effect.attempt, due=effect.due)
    return Woken(attempt=effect.attempt, reason=effect.reason, due=effect.due)
