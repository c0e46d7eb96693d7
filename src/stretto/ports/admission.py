"""A workflow transaction (T6) as its caller sees it: what it reads, what it finds, and what is decided.

    TransactionScope --the store, under the workflow's lock--> WorkflowSnapshot
    WorkflowSnapshot --a pure function--> WorkflowDecision --the store--> rows

A store does not know what a run strategy is: it reads what the scope names, calls the function that was
handed in with what it found, and writes what that says. The function may be called more than once, if the
transaction is repeated: it must not remember anything.
"""

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

import msgspec

from stretto.engine.records import RunKey, RunRecord
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.model.timeline import TimelineEvent, WorkflowChange
from stretto.ports.messages import Letter
from stretto.ports.rows import Lease, Parent, RunState

A_co = TypeVar("A_co", covariant=True)


class RequestKey(NamedTuple):
    """A request to start or restart. With a lease it is a step's, and counts only while that is current."""

    request_id: str
    lease: Lease | None = None


class SnapshotDetail(NamedTuple):
    """Which runs of the workflow are wanted one by one, not only counted."""

    queue: int | None = 0  # how many from the front of the queue; None: all
    paused: int | None = 0  # how many of the queued runs that are paused, the oldest; None: all
    running: bool = False
    failed: bool = False
    most: int | None = None  # of the running and of the failed ones, the oldest; None: all


class TimerAdvance(NamedTuple):
    """A time trigger fires: it must be due at `due`, and is due at `then` from now on."""

    trigger_id: str
    due: int
    then: int | None


def _nothing(_strategy: RunStrategy) -> SnapshotDetail:
    return SnapshotDetail()


class TransactionScope(msgspec.Struct, frozen=True, kw_only=True):
    """What the transaction reads besides the counts, and what it does first."""

    requests: tuple[RequestKey, ...] = ()
    instances: tuple[int, ...] = ()  # whose newest run is wanted
    runs: tuple[RunKey, ...] = ()  # whose state is wanted; of this workflow
    detail: Callable[[RunStrategy], SnapshotDetail] = _nothing
    consumes: tuple[int, ...] = ()  # messages that this deals with: deleted, and all of them must be there
    timers: tuple[TimerAdvance, ...] = ()


class WorkflowSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, after the lock and before any write."""

    workflow_id: str
    now: int  # on the database's clock
    strategy: RunStrategy
    next_instance_id: int
    counts: RunCounts
    known: Mapping[str, RunKey] = {}  # the request ids among those asked that made a run before
    fenced: frozenset[RequestKey] = frozenset()  # of steps whose group has another owner: to be dropped
    # The newest run of each instance asked for. Unknown ones are missing, and those that are being forgotten.
    latest: Mapping[int, RunState] = {}
    runs: Mapping[RunKey, RunState] = {}  # unknown ones are missing
    queue: tuple[RunKey, ...] = ()  # by instance and run; as much of its front as was wanted
    paused: tuple[RunKey, ...] = ()  # queued ones that are paused, in the same order; they are not in `queue`
    running: tuple[RunKey, ...] = ()
    failed: tuple[RunKey, ...] = ()


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run to insert: ENDED if its status is terminal, ADMITTED if the decision says so, else QUEUED."""

    record: RunRecord
    parent: Parent | None = None


class QueuedEnd(msgspec.Struct, frozen=True, kw_only=True):
    """A QUEUED run that ends without having begun: its end is now, and the event says why."""

    run: RunKey
    status: RunStatus
    event: TimelineEvent


class QueuedPause(msgspec.Struct, frozen=True, kw_only=True):
    """A QUEUED run that is paused, or resumed, before it has begun: by a user, or by the run whose step waits
    for it. As long as one of them holds it, it is PAUSED and not part of the queue; else it is CREATED, and
    has its place there again, which its ids give it.
    """

    run: RunKey
    paused: bool
    held: bool
    event: TimelineEvent

    @property
    def status(self) -> RunStatus:
        return RunStatus.PAUSED if self.paused or self.held else RunStatus.CREATED


class WorkflowDecision(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """Everything that the transaction writes, and the answer that its caller gets.

    The store adds what follows from the rows: for a run that ends here a `log`, and `child_ended` if a step
    waits for it; for a new one that stays QUEUED a `log`.
    """

    answer: A_co
    spent: int = 0  # instance ids, from `next_instance_id` on
    created: tuple[NewRun, ...] = ()
    admitted: tuple[RunKey, ...] = ()  # QUEUED ones, or created here
    ended: tuple[QueuedEnd, ...] = ()
    paused: tuple[QueuedPause, ...] = ()
    marks: Mapping[RunKey, FailureMark] = {}  # of runs whose failure stands
    mark_event: TimelineEvent | None = None  # for the timelines of these runs
    sent: tuple[Letter, ...] = ()
    timeline: tuple[WorkflowChange, ...] = ()  # lines for that of the workflow

    @property
    def to_launch(self) -> tuple[RunKey, ...]:
        """Runs that are admitted, if they are all that anybody has to look for. Of one that was queued
        something is told before it begins: whoever launches it must have fetched that.
        """
        more = self.ended or self.paused or self.marks or self.sent
        made = {new.record.key for new in self.created}
        return () if more or made != set(self.admitted) else self.admitted


class TransactionResult(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """What a transaction that was committed leaves its caller to do."""

    answer: A_co
    sent: tuple[int, ...] = ()  # ids of the decision's letters, in their order: where an outcome will be
    hints: frozenset[int] = frozenset()  # groups that have an ADMITTED run or a message to look for
    to_launch: tuple[RunKey, ...] = ()  # those runs, if there is nothing else to look for
    queued: int = 0  # runs of the workflow that are left in the queue
