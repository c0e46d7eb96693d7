"""What a node asks of the world, as data. Whoever drives the node performs an ask and brings its answer.

`perform` leads to the code that carries the ask out, and its type says what the answer is; the machine never
calls it. An ask that fails is brought back with the error instead (`ports.failures`); the node then decides
what to do, so nobody else repeats anything. Asks are told apart by identity.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from stretto.engine.effects import (
    AnnounceSignals,
    Fetch,
    LookForBreakpoint,
    StartChild,
    StopChild,
    WatchSignals,
)
from stretto.engine.elsewhere import Question
from stretto.engine.events import Event, Reported
from stretto.engine.records import RunKey, RunRecord
from stretto.model.words import Word
from stretto.node.answers import ClaimAnswer, DueTriggers, LoadedGroup, LoadedRun, TagWaits
from stretto.ports.commit import Committed, Decided, GroupPart
from stretto.ports.fence import OPEN, Fence
from stretto.ports.groups import Burial, Heard
from stretto.ports.messages import Message, Result
from stretto.ports.outbox import Mail
from stretto.ports.rows import Lease, NodeId
from stretto.ports.runtime import StepContext
from stretto.ports.suspicion import Suspect
from stretto.ports.triggers import TimeTriggerRow

if TYPE_CHECKING:
    from stretto.node.performer import Performer

E = TypeVar("E", AnnounceSignals, Fetch, LookForBreakpoint, StartChild, StopChild, WatchSignals)


class Ask(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Base of all asks."""

    def perform(self, performer: "Performer") -> Awaitable[Any]:
        """Carry it out."""
        raise NotImplementedError


# ---------------------------------------------------------------------------------------------- membership
class Join(Ask, frozen=True, kw_only=True, eq=False):
    """The node registers. Refused, if it has done so already."""

    node: NodeId

    def perform(self, performer: "Performer") -> Awaitable[Heard]:
        return performer.join(self)


class Beat(Ask, frozen=True, kw_only=True, eq=False):
    """The heartbeat. None: others have buried the node."""

    node: NodeId
    sent: float  # on the steady clock, before it was asked

    def perform(self, performer: "Performer") -> Awaitable[Heard | None]:
        return performer.beat(self)


class ReadAdvertised(Ask, frozen=True, kw_only=True, eq=False):
    """The functions that these nodes advertise."""

    nodes: frozenset[NodeId]

    def perform(self, performer: "Performer") -> Awaitable[Mapping[NodeId, frozenset[str]]]:
        return performer.store.advertised(self.nodes)


class Bury(Ask, frozen=True, kw_only=True, eq=False):
    """Declare a node dead whose beats stand still. None: it has beaten since, or is buried already."""

    node: NodeId
    beats: int
    expired: bool

    def perform(self, performer: "Performer") -> Awaitable[Burial | None]:
        return performer.bury(self.node, self.beats, expired=self.expired)


class Claim(Ask, frozen=True, kw_only=True, eq=False):
    """Take free groups, so many at most. Groups that are the node's, and not among those that it holds, are
    claimed again: the answer to an earlier claim was lost. Of `leases`, which it believes in, the answer says
    which are not current.
    """

    node: NodeId
    most: int
    held: frozenset[int]
    leases: tuple[Lease, ...] = ()

    def perform(self, performer: "Performer") -> Awaitable[ClaimAnswer]:
        return performer.claim(self)


class ClaimAgain(Ask, frozen=True, kw_only=True, eq=False):
    """New generations of these leases, once no commit under the old ones can succeed any more."""

    node: NodeId
    leases: tuple[Lease, ...]

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Lease]]:
        return performer.claim_again(self)


class GiveUp(Ask, frozen=True, kw_only=True, eq=False):
    """Free these groups, and hint, so that others claim them. Those are returned that were still ours."""

    node: NodeId
    leases: tuple[Lease, ...]

    def perform(self, performer: "Performer") -> Awaitable[list[int]]:
        return performer.give_up(self)


class StartLeaving(Ask, frozen=True, kw_only=True, eq=False):
    """Tell the others that the node takes no groups any more."""

    node: NodeId

    def perform(self, performer: "Performer") -> Awaitable[None]:
        return performer.store.start_leaving(self.node)


class Leave(Ask, frozen=True, kw_only=True, eq=False):
    """The node is gone, and need not be buried."""

    node: NodeId

    def perform(self, performer: "Performer") -> Awaitable[None]:
        return performer.store.leave(self.node)


class NoteSuspects(Ask, frozen=True, kw_only=True, eq=False):
    """Store what is being done in groups with falls. The groups are returned that somebody else owns now."""

    notes: Mapping[Lease, tuple[Suspect, ...]]

    def perform(self, performer: "Performer") -> Awaitable[frozenset[int]]:
        return performer.store.note_suspects(self.notes)


class Calm(Ask, frozen=True, kw_only=True, eq=False):
    """Forget the falls of these groups."""

    leases: tuple[Lease, ...]

    def perform(self, performer: "Performer") -> Awaitable[None]:
        return performer.store.calm(self.leases)


# ------------------------------------------------------------------------------------------------- reading
class LoadGroups(Ask, frozen=True, kw_only=True, eq=False):
    """What is in these groups, in the order of the leases."""

    leases: tuple[Lease, ...]

    def perform(self, performer: "Performer") -> Awaitable[list[LoadedGroup]]:
        return performer.groups.load(self.leases)


class LoadRuns(Ask, frozen=True, kw_only=True, eq=False):
    """Read runs. Those that are neither ADMITTED nor LIVE are left out. The runs may be of several groups:
    `leases` has one for each.
    """

    leases: tuple[Lease, ...]
    runs: tuple[RunKey, ...]

    def perform(self, performer: "Performer") -> Awaitable[tuple[LoadedRun, ...]]:
        return performer.runs.load(self.leases, self.runs)


class FindRoot(Ask, frozen=True, kw_only=True, eq=False):
    """The run in whose flow a run is or was (itself, unless it is an iteration); None: unknown."""

    run: RunKey

    def perform(self, performer: "Performer") -> Awaitable[RunKey | None]:
        return performer.find_root(self.run)


class FetchMail(Ask, frozen=True, kw_only=True, eq=False):
    """Read the outbox. If runs are in memory (`awake`), new breakpoints are looked for, too."""

    node: NodeId
    groups: frozenset[int]
    known: frozenset[int]
    launching: frozenset[RunKey]
    awake: bool = False

    def perform(self, performer: "Performer") -> Awaitable[Mail]:
        return performer.fetch_mail(self)


# ------------------------------------------------------------------------------------------------- writing
class Commit(Ask, frozen=True, kw_only=True, eq=False):
    """The group commit. Groups that a message is sent to are hinted."""

    node: NodeId
    parts: tuple[GroupPart, ...]

    def perform(self, performer: "Performer") -> Awaitable[Committed]:
        return performer.commit(self)


class Postpone(Ask, frozen=True, kw_only=True, eq=False):
    """Count a failed try of a message. The message is returned as it is then."""

    lease: Lease
    message: int
    reason: str

    def perform(self, performer: "Performer") -> Awaitable[Message]:
        return performer.store.postpone(self.lease, self.message, self.reason)


class Deliver(Ask, frozen=True, kw_only=True, eq=False):
    """Send the owner of a group a result of work that was done here. False: it is not wanted."""

    node: NodeId
    result: Result
    answers: int | None = None

    def perform(self, performer: "Performer") -> Awaitable[bool]:
        return performer.deliver(self)


class Withdraw(Ask, frozen=True, kw_only=True, eq=False):
    """Delete a message to this node that needs no answer."""

    message: int

    def perform(self, performer: "Performer") -> Awaitable[bool]:
        return performer.store.withdraw(self.message)


# ------------------------------------------------------------------------------------------------- effects
class Carry(Ask, Generic[E], frozen=True, kw_only=True, eq=False):
    """Carry out an effect that was committed. Answer: the events that come of it, in order. `run` is the run
    of the attempt; it is only read.
    """

    lease: Lease
    root: RunKey
    effect: E
    run: RunRecord

    def perform(self, _performer: "Performer") -> Awaitable[Sequence[Event]]:
        raise TypeError(f"a {type(self.effect).__name__} is not carried out here")


class FetchValues(Carry[Fetch], frozen=True, kw_only=True, eq=False):
    """Read what an evaluation is missing."""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.values.fetch(self.effect, self.run, self.root)


class CheckBreakpoint(Carry[LookForBreakpoint], frozen=True, kw_only=True, eq=False):
    """Does a breakpoint hold the attempt?"""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.breakpoints.check(self.effect, self.run, self.root.workflow_id)


class FindSignals(Carry[WatchSignals], frozen=True, kw_only=True, eq=False):
    """Signals that are there already; those to come are brought by their fan-out."""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.signals.find(self.effect)


class StoreSignals(Carry[AnnounceSignals], frozen=True, kw_only=True, eq=False):
    """Announce the signals of an attempt."""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.signals.announce(self.effect)


class StartChildRun(Carry[StartChild], frozen=True, kw_only=True, eq=False):
    """Start the child of an attempt, or find the one that an earlier try has started."""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.children.start(self.effect, self.run, self.lease)


class FindChildRun(Carry[StopChild], frozen=True, kw_only=True, eq=False):
    """The child of an attempt that is to end, by its request id: ChildStarted, or ChildRefused: none."""

    def perform(self, performer: "Performer") -> Awaitable[Sequence[Event]]:
        return performer.children.find(self.effect, self.run)


class Evaluate(Ask, frozen=True, kw_only=True, eq=False):
    """Evaluate what is too long for a decision."""

    lease: Lease
    root: RunKey
    question: Question

    def perform(self, performer: "Performer") -> Awaitable[Event]:
        return performer.evaluator.evaluate(self.question)


class Verb(Word):
    """What is asked of a runtime."""

    START = "START"
    EXECUTE = "EXECUTE"
    TERMINATE = "TERMINATE"


class CallRuntime(Ask, frozen=True, kw_only=True, eq=False):
    """Call a runtime. One that raises, or answers nonsense, is a platform error; one that is not there (an
    unknown kind of step) a fatal one. A start whose fence is closed fails with `Untrusted`.
    """

    verb: Verb
    context: StepContext
    fence: Fence = OPEN

    def perform(self, performer: "Performer") -> Awaitable[Reported]:
        return performer.runtimes.call(self)


class Deal(Ask, frozen=True, kw_only=True, eq=False):
    """Handle a message that no run in memory can take: FAN_OUT, FIRE, LOG, or a STOP of a queued run. What is
    returned consumes or continues the message with the next commit; None: a transaction has consumed it.
    """

    lease: Lease
    message: Message

    def perform(self, performer: "Performer") -> Awaitable[Decided | None]:
        return performer.messages.handle(self.message)


# -------------------------------------------------------------------------------------------------- looks
class LookAtQueues(Ask, frozen=True, kw_only=True, eq=False):
    """Runs of these workflows have ended: admit queued ones."""

    workflow_ids: tuple[str, ...]

    def perform(self, performer: "Performer") -> Awaitable[None]:
        return performer.queues.admit(self.workflow_ids)


class GrantTags(Ask, frozen=True, kw_only=True, eq=False):
    """Permits of these tags were asked for, or returned: grant what may be granted."""

    tags: tuple[str, ...]

    def perform(self, performer: "Performer") -> Awaitable[TagWaits]:
        return performer.queues.grant(self.tags)


class Sweep(Ask, frozen=True, kw_only=True, eq=False):
    """Repair what crashes left undone for these groups: queues, tags, the outbox."""

    groups: frozenset[int]
    now: int

    def perform(self, performer: "Performer") -> Awaitable[TagWaits]:
        return performer.queues.sweep(self.groups, self.now)


class FindDueTriggers(Ask, frozen=True, kw_only=True, eq=False):
    """Which time triggers at home in these groups are due, and which of any group are late by so many
    milliseconds (None: of no other group), so many of each at most.
    """

    groups: frozenset[int]
    late: int | None = None
    most: int

    def perform(self, performer: "Performer") -> Awaitable[DueTriggers]:
        return performer.queues.find_due_triggers(self.groups, self.late, self.most)


class FireTimers(Ask, frozen=True, kw_only=True, eq=False):
    """Start the fires of these due triggers of one workflow, so many at most, in one transaction. False: it
    started no run, because another node was faster, or nothing was to be started.
    """

    rows: tuple[TimeTriggerRow, ...]
    most: int

    def perform(self, performer: "Performer") -> Awaitable[bool]:
        return performer.fire_timers(self)
