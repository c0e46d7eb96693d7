"""Messages: rows of the outbox, written in the transaction of their cause and gone with that of their effect.

Receivers decide by state, not by a list of what they have seen: a message names its run or attempt, and a
state that has moved on ignores it. So a doubled message is harmless, and only a lost one would not be.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from stretto.engine import events
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.artifact import Artifacts
from stretto.model.event import ChangeEvent
from stretto.model.param import Parameter
from stretto.model.rollup import RollupOverview
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep
from stretto.model.words import Word
from stretto.ports.rows import NodeId


class Kind(Word):
    """What a message is; section 6 of the protocol says who writes and who deletes it."""

    ACT = "ACT"
    STOP = "STOP"
    HOLD = "HOLD"
    CHILD_ENDED = "CHILD_ENDED"
    ROLLUP = "ROLLUP"
    RESULT = "RESULT"
    START = "START"
    CANCEL = "CANCEL"
    ASK = "ASK"
    CALLBACK = "CALLBACK"
    OUTPUT = "OUTPUT"
    GRANTED = "GRANTED"
    FAN_OUT = "FAN_OUT"
    SIGNAL = "SIGNAL"
    FIRE = "FIRE"
    LOG = "LOG"


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all bodies; the kind of a message is that of its body."""

    kind: ClassVar[Kind]


class Act(Body, frozen=True, kw_only=True):
    """A user asks something of a run, or of a step. The row stays until the caller has read its outcome."""

    kind: ClassVar[Kind] = Kind.ACT

    run: events.RunActed | None = None
    step: events.StepActed | None = None


class Stop(Body, frozen=True, kw_only=True):
    """A run must end: its parent step is being ended, or its run strategy replaces it."""

    kind: ClassVar[Kind] = Kind.STOP

    event: events.RunActed


class Hold(Body, frozen=True, kw_only=True):
    """The run whose step waits for this one is paused, or goes on."""

    kind: ClassVar[Kind] = Kind.HOLD

    event: events.RunHeld


class ChildEnd(Body, frozen=True, kw_only=True):
    """A run that a step waits for has ended."""

    kind: ClassVar[Kind] = Kind.CHILD_ENDED

    event: events.ChildEnded
    rollup: RollupOverview | None = None


class Rollup(Body, frozen=True, kw_only=True):
    """The counts of a child, as totals; of two the one with the higher version counts."""

    kind: ClassVar[Kind] = Kind.ROLLUP

    attempt: AttemptKey
    child: RunKey
    version: int
    rollup: RollupOverview


class Result(Body, frozen=True, kw_only=True):
    """A runtime's answer, from a node that is not the owner. Not `here`: it does not know the launch."""

    kind: ClassVar[Kind] = Kind.RESULT

    event: events.Reported
    here: bool = True


class Start(Body, frozen=True, kw_only=True):
    """To a node that knows the functions: do the work of this launch, and tell the owner of its run about it.

    The owner has recorded the launch, and this node as the one that does it, in the commit that sends this.
    """

    kind: ClassVar[Kind] = Kind.START

    attempt: AttemptKey
    launch: int
    group: int  # of its run
    step: AnyStep
    predecessors: tuple[str, ...] = ()
    params: Mapping[str, Parameter] = {}
    artifacts: Artifacts = {}
    timeout_at: int | None = None
    correlation_id: str = ""
    owner: str | None = None


class Cancel(Body, frozen=True, kw_only=True):
    """To the node that does the work: terminate it, and answer."""

    kind: ClassVar[Kind] = Kind.CANCEL

    attempt: AttemptKey
    launch: int


class Ask(Body, frozen=True, kw_only=True):
    """To the node that should be doing the work: are you?"""

    kind: ClassVar[Kind] = Kind.ASK

    attempt: AttemptKey
    launch: int


class Callback(Body, frozen=True, kw_only=True):
    """Somebody answered for a Wait step."""

    kind: ClassVar[Kind] = Kind.CALLBACK

    event: events.CalledBack


class Output(Body, frozen=True, kw_only=True):
    """An outside job reports parameters and artifacts for its step."""

    kind: ClassVar[Kind] = Kind.OUTPUT

    attempt: AttemptKey
    params: Mapping[str, Parameter] = {}
    artifacts: Artifacts = {}


class Grant(Body, frozen=True, kw_only=True):
    """An attempt holds all its permits."""

    kind: ClassVar[Kind] = Kind.GRANTED

    event: events.Granted


class FanOut(Body, frozen=True, kw_only=True):
    """A signal was announced: tell who waits for it. `after` is the last wait that was dealt with."""

    kind: ClassVar[Kind] = Kind.FAN_OUT

    name: str
    seq: int
    after: tuple[AttemptKey, int] | None = None


class Signalled(Body, frozen=True, kw_only=True):
    """A wait of a step may be satisfied."""

    kind: ClassVar[Kind] = Kind.SIGNAL

    event: events.SignalCame


class Fire(Body, frozen=True, kw_only=True):
    """A signal trigger has one of each of its signals."""

    kind: ClassVar[Kind] = Kind.FIRE

    trigger_id: str
    workflow_id: str
    join_key: str
    seqs: Mapping[str, int]


class Log(Body, frozen=True, kw_only=True):
    """Something changed outside of a group commit and belongs into the change log: a run, or other events."""

    kind: ClassVar[Kind] = Kind.LOG

    run: RunKey | None = None
    status: RunStatus | None = None
    old: RunStatus = RunStatus.CREATED  # the status before
    at: int
    events: tuple[ChangeEvent, ...] = ()

    @property
    def has_status(self) -> bool:
        """Whether a run is there, or has another status; else it is only to be looked at."""
        in_queue = self.status in {RunStatus.CREATED, RunStatus.PAUSED}
        return in_queue or (self.status is not None and self.status.is_terminal)


AnyBody = (
    Act
    | Stop
    | Hold
    | ChildEnd
    | Rollup
    | Result
    | Start
    | Cancel
    | Ask
    | Callback
    | Output
    | Grant
    | FanOut
    | Signalled
    | Fire
    | Log
)


HAVE_OUTCOMES: Final = (Act, Callback)  # somebody may wait for what becomes of them
OUTCOME_KINDS: Final = frozenset(body.kind for body in HAVE_OUTCOMES)


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """A message to be sent: to the owner of a group, or to a node; never to both."""

    ref: str  # what it is about, for people and for the caller of an action
    body: AnyBody
    to_group: int | None = None
    to_node: NodeId | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an action. Not `applied`: it was refused, for the reason that stands here."""

    applied: bool
    message: str | None = None
    attempt: AttemptKey | None = None  # the one that was made or acted on


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the outbox. Ids only grow, are never used twice, and are not in the order of commits."""

    id: int
    ref: str
    body: AnyBody
    to_group: int | None = None
    to_node: NodeId | None = None
    sent_at: int = 0
    tries: int = 0
    not_before: int = 0
    parked: str | None = None  # why it was set aside
    outcome: Outcome | None = None
