"""What a node asks of the world, as data. Whoever drives the node carries an ask out and brings its answer.

Each ask names its answer. An ask that fails is brought back with the error instead (`ports.failures`); the
node then decides what to do, so nobody else repeats anything. Asks are told apart by identity.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.engine.effects import Effect
from stretto.engine.elsewhere import Question
from stretto.engine.flow import Flow
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.words import Word
from stretto.ports.commit import GroupPart
from stretto.ports.fence import OPEN, Fence
from stretto.ports.messages import Message, Result
from stretto.ports.rows import Lease, NodeId, RunRow
from stretto.ports.runtime import StepContext
from stretto.ports.suspicion import NONE, Suspect, Suspicion
from stretto.ports.triggers import TimeTriggerRow

NO_ONE: Final[Mapping[AttemptKey, NodeId]] = {}


class Ask(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Base of all asks."""


# ---------------------------------------------------------------------------------------------- membership
class Join(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: `groups.Heard`."""

    node: NodeId


class Beat(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: `groups.Heard`, or None: buried. A driver does this on a thread and a connection of its own."""

    node: NodeId
    sent: float  # on the steady clock, before it was asked


class ReadAdvertised(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the functions that these nodes advertise, by node."""

    nodes: frozenset[NodeId]


class Bury(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: `groups.Burial`, or None."""

    node: NodeId
    beats: int
    expired: bool


class Claim(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the leases. Groups that are the node's, and not among those it holds, are claimed again: the
    answer to an earlier claim was lost.
    """

    node: NodeId
    most: int
    held: frozenset[int]


class ClaimAgain(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the leases."""

    node: NodeId
    leases: tuple[Lease, ...]


class GiveUp(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the groups that were ours. Whoever carries it out hints, so that others claim them."""

    node: NodeId
    leases: tuple[Lease, ...]


class StartLeaving(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: None."""

    node: NodeId


class Leave(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: None."""

    node: NodeId


class NoteSuspects(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the groups that somebody else owns now."""

    notes: Mapping[Lease, tuple[Suspect, ...]]


class Calm(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: None."""

    leases: tuple[Lease, ...]


# ------------------------------------------------------------------------------------------------- reading
class LoadGroups(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: a `LoadedGroup` for each lease, in their order."""

    leases: tuple[Lease, ...]


class LoadedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group at a glance. `runs`: those that are ADMITTED or LIVE, with when they must be looked at."""

    admitted: tuple[RunKey, ...]
    live: tuple[tuple[RunKey, int | None], ...]
    seq: int
    falls: int = 0
    suspicion: Suspicion = NONE


class LoadRuns(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: a `LoadedRun` for each run that is ADMITTED or LIVE; the others are left out. The runs may be
    of several groups: `leases` has one for each.
    """

    leases: tuple[Lease, ...]
    runs: tuple[RunKey, ...]


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in memory, as it was committed, and the columns around it."""

    flow: Flow
    row: RunRow
    runs_on: Mapping[AttemptKey, NodeId] = NO_ONE  # of attempts that are launched
    granted: frozenset[AttemptKey] = frozenset()


class FindRoot(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the run in whose flow a run is or was (itself, unless it is an iteration); None: unknown."""

    run: RunKey


class FetchMail(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: `outbox.Mail`. If runs are in memory (`awake`), new breakpoints are looked for, too."""

    node: NodeId
    groups: frozenset[int]
    known: frozenset[int]
    launching: frozenset[RunKey]
    awake: bool = False


# ------------------------------------------------------------------------------------------------- writing
class Commit(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: `commit.Committed`. Whoever carries it out hints the groups that got letters."""

    node: NodeId
    parts: tuple[GroupPart, ...]


class Postpone(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the `Message` after it."""

    lease: Lease
    message: int
    reason: str


class Deliver(Ask, frozen=True, kw_only=True, eq=False):
    """T8: a result of work that was done here, for a group that is not ours. Answer: bool."""

    node: NodeId
    result: Result
    answers: int | None = None


class Withdraw(Ask, frozen=True, kw_only=True, eq=False):
    """Delete a message to this node that needs no answer. Answer: bool."""

    message: int


# ------------------------------------------------------------------------------------------------- effects
class Carry(Ask, frozen=True, kw_only=True, eq=False):
    """Carry out an effect that was committed. Answer: the events that come of it, in order.

    These come here: Fetch, LookForBreakpoint, WatchSignals (look for signals that are there), StartChild,
    StopChild without a child (look it up by the request id: ChildStarted, or ChildRefused if there is none)
    and AnnounceSignals. `run` is the run of the attempt; it is only read.
    """

    lease: Lease
    root: RunKey
    effect: Effect
    run: RunRecord


class Evaluate(Ask, frozen=True, kw_only=True, eq=False):
    """Evaluate what is too long for a decision. Answer: the event, `events.Evaluated`."""

    lease: Lease
    root: RunKey
    question: Question


class Verb(Word):
    """What is asked of a runtime."""

    START = "START"
    EXECUTE = "EXECUTE"
    TERMINATE = "TERMINATE"


class Untrusted(Exception):
    """A start was not made: the trust of the node has lapsed since it asked for it."""


class CallRuntime(Ask, frozen=True, kw_only=True, eq=False):
    """Answer: the event, `events.Reported`. A runtime that raises, or answers nonsense, is a platform error;
    one that is not there (an unknown kind of step) a fatal one. A start whose fence is closed fails with
    `Untrusted`, and the runtime is not called.
    """

    verb: Verb
    context: StepContext
    fence: Fence = OPEN


class Deal(Ask, frozen=True, kw_only=True, eq=False):
    """Deal with a message that no run in memory can take: FAN_OUT, FIRE, LOG, or a STOP of a queued run.

    Answer: the `Decided` to commit (`root` None), which consumes or continues the message; or None: it was
    consumed by a transaction of its own.
    """

    lease: Lease
    message: Message


# -------------------------------------------------------------------------------------------------- looks
class LookAtQueues(Ask, frozen=True, kw_only=True, eq=False):
    """Runs of these workflows have ended: admit who waits. Answer: None."""

    workflow_ids: tuple[str, ...]


class TagWaits(NamedTuple):
    """In how many milliseconds the next start of a tag is free, if somebody waits for its rate; and all tags,
    of those that were looked at, that somebody waits for.
    """

    slots_in: Mapping[str, int] = {}
    waited_for: frozenset[str] = frozenset()


class GrantTags(Ask, frozen=True, kw_only=True, eq=False):
    """Somebody waits for these tags, or has given some back. Answer: `TagWaits`."""

    tags: tuple[str, ...]


class Sweep(Ask, frozen=True, kw_only=True, eq=False):
    """Repair what crashes left undone for these groups: queues, tags, the outbox. Answer: that of `GrantTags`
    for all their tags.
    """

    groups: frozenset[int]
    now: int


class DueTriggers(msgspec.Struct, frozen=True, kw_only=True):
    """Time triggers that are due, the oldest first, those of these groups before those that are late, and in
    how many milliseconds the next one is due or late; None: there is no other.
    """

    rows: tuple[TimeTriggerRow, ...] = ()
    wait: int | None = None


class FindDueTriggers(Ask, frozen=True, kw_only=True, eq=False):
    """Which time triggers at home in these groups are due, and which of any group are late by so many
    milliseconds (None: of no other group). Answer: `DueTriggers`, with so many of each at most.
    """

    groups: frozenset[int]
    late: int | None = None
    most: int


class FireTimers(Ask, frozen=True, kw_only=True, eq=False):
    """Start the fires of these due triggers of one workflow, so many at most, in one transaction. Answer:
    whether it started a run; if not, another node was faster, or nothing was to be started.
    """

    rows: tuple[TimeTriggerRow, ...]
    most: int
