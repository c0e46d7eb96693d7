"""What is kept of a run: one record for the run, one per step attempt, one per loop. Each is a row.

Records are changed in place, and only through `Turn`, which notes each change so that it can be committed,
or undone. Containers inside a record are never changed: they are replaced. Nothing that a record holds leads
back to it, so the collector of cycles need not look at them (`gc=False`): with many of them it would take a
third of the time.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from stretto.model.approval import Answer, Asked
from stretto.model.artifact import Artifacts
from stretto.model.details import ErrorStatus
from stretto.model.initiator import Ancestor, Initiator, ManualInitiator, SignalInitiator, TimeInitiator
from stretto.model.param import Parameter, Params
from stretto.model.rollup import RollupOverview
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.runs import AttemptKey as AttemptKey  # noqa: PLC0414 - keys of records are found here, too
from stretto.model.runs import RunKey as RunKey  # noqa: PLC0414
from stretto.model.signal_instance import SignalDependencies, SignalOutputs
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.model.tag import Tag
from stretto.model.timeline import DetailsEvent, TimelineEvent
from stretto.model.words import Word
from stretto.model.workflow import Criticality

NO_PARAMS: Final[Mapping[str, Parameter]] = {}


def run_above(ancestor: Ancestor) -> RunKey:
    """The run of the step that is an ancestor."""
    return RunKey(ancestor.workflow_id, ancestor.instance_id, ancestor.run_id)


def attempt_above(ancestor: Ancestor) -> AttemptKey:
    """The attempt that is an ancestor."""
    return AttemptKey(run_above(ancestor), ancestor.step_id, ancestor.step_attempt_id)


class WakeReason(Word):
    """Why an attempt has a time at which it goes on by itself."""

    BACK_OFF = "BACK_OFF"  # the next attempt is due
    SLEEP = "SLEEP"  # it has slept enough
    POLL = "POLL"  # look again how the work goes
    FUNCTION = "FUNCTION"  # no process that knows its functions has joined in time


class Compensation(Word):
    """How far the undo of a run is."""

    RUNNING = "RUNNING"
    COMPENSATED = "COMPENSATED"  # everything that succeeded and can be undone is undone
    FAILED = "FAILED"  # something is not undone, and the timeline says what; a person must look


class EarlyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a step that does not ask yet. The run keeps it until the step asks, or the run ends.

    names     What a list of assignees may call the user by: their name, and `role:X` for each of their roles.
    trusted   Whether the user may answer every question of the workflow: its owner, or an admin.
    """

    step_id: str
    attempt: int
    answer: Answer
    outputs: Mapping[str, Parameter] = {}
    names: tuple[str, ...] = ()
    trusted: bool = False


class RunRecord(msgspec.Struct, kw_only=True, gc=False):
    """A run. The definition it follows is shared by all runs of a version and not part of the row."""

    key: RunKey
    uuid: str
    version_id: int
    status: RunStatus = RunStatus.CREATED
    policy: RunPolicy = RunPolicy.START_FRESH_NEW_RUN
    restart: RestartConfig | None = None
    initiator: Initiator
    correlation_id: str
    tree_limit: int | None = (
        None  # leaf steps of its tree at once, inherited; 0: no limit; None: it is a root
    )
    criticality: Criticality | None = None  # of the run whose step started it, if that has one
    owner: str | None = None
    params: Mapping[str, Parameter] = NO_PARAMS
    step_run_params: Mapping[str, Params] = {}
    tags: tuple[
        Tag, ...
    ] = ()  # of the workflow, its properties and the request; steps take no permits for them
    run_params: Params = {}  # as a user or a trigger gave them; what a step hands down is in `params`
    runtime_tags: tuple[Tag, ...] = ()  # those of the request alone
    artifacts: Artifacts = {}  # that came with the request
    properties_at: int | None = None  # since when the properties held that it goes by; None: those around it
    request_time: int | None = None  # None: when it was made
    create_time: int = 0
    start_time: int | None = None
    end_time: int | None = None
    timeout_at: int | None = None
    paused: bool = False  # by a user
    held: bool = False  # the run around it, or the one whose step waits for it, is paused
    ending: RunStatus | None = None  # asked to end so; the steps are being ended
    ended_by: str | None = None  # who or what asked
    suspended: frozenset[str] = frozenset()  # steps that do not begin until a user lets them
    shut: Mapping[str, StepStatus] = {}  # steps that were ended before they began, and how that counts
    compensation: Compensation | None = None
    undone: Mapping[str, int] = {}  # steps that it undid -> the highest run id that this used below them
    covers: tuple[str, ...] | None = None  # of an iteration that runs again, or of an undo: its steps
    base: RollupOverview | None = None  # of an iteration that runs again: what its other steps count
    before: RunStatus | None = (
        None  # of a run below a step that restarts a specific step of it: how its instance ended before
    )
    early: tuple[EarlyAnswer, ...] = ()  # answers to steps that do not ask yet
    timeline: tuple[TimelineEvent, ...] = ()

    @property
    def is_paused(self) -> bool:
        """Whether nothing new begins in it, for whatever reason."""
        return self.paused or self.held


class FunctionWait(msgspec.Struct, frozen=True, kw_only=True):
    """A launched attempt that nobody works on, because no running process knows all of its functions."""

    functions: tuple[str, ...]
    since: int
    timeout_left: int  # milliseconds of its own timeout, which stands still meanwhile


class AttemptRecord(msgspec.Struct, kw_only=True, gc=False):
    """One attempt of a step."""

    key: AttemptKey
    sequence: int
    status: StepStatus = StepStatus.CREATED
    create_time: int | None = None
    initialize_time: int | None = None
    pause_time: int | None = None
    wait_signal_time: int | None = None
    evaluate_param_time: int | None = None
    wait_permit_time: int | None = None
    start_time: int | None = None
    execute_time: int | None = None
    finish_time: int | None = None
    end_time: int | None = None
    params: Mapping[str, Parameter] | None = None  # None: not evaluated, or nothing but defaults
    step_run_params: Params = {}  # given with a manual restart of the step
    restart: RestartConfig | None = None  # of the restart that made it: what is below it follows that path
    edges: dict[str, bool] | None = None  # successor -> taken, once the step is complete
    error_retries: int = 0
    platform_retries: int = 0
    timeout_retries: int = 0
    superseded: bool = False  # a redirect made it run again: its edges no longer count
    manual: bool = False  # made by a user's restart: it is not retried by itself
    timeout_at: int | None = None
    wake_at: int | None = None
    wake_reason: WakeReason | None = None
    launch: int | None = None  # generation of the launch whose result counts; None: no result is awaited
    function_wait: FunctionWait | None = None  # it is launched, and waits for a process to do the work
    ending: StepStatus | None = None  # asked to end so; the work is being terminated
    decided: StepStatus | None = None  # the work has ended so; a value is still missing to act on it
    asked_at: int | None = None  # the moment of an evaluation that waits for a value
    heedless: bool = False  # killed from above: the failure mode does not count
    permits: tuple[str, ...] = ()  # asked for; given back when the attempt ends
    granted: bool = False  # all of them are held
    signals: SignalDependencies | None = None
    announced: bool = False  # the signals that it leaves are stored
    signal_outputs: SignalOutputs | None = None  # what became of them
    artifacts: Artifacts = {}
    outputs: Mapping[str, Any] = {}
    child: RunKey | None = None
    asks: Asked | None = None  # of a Wait step, once it waits
    answer: Answer | None = None  # to that; None: nobody has answered, or it is not a Wait step
    counted: int | None = None  # version of the totals that its child told last
    leaves: RollupOverview | None = None  # all that ran in its loop, once that has ended
    earlier_leaves: RollupOverview | None = None  # the same of the attempts before it, in this run
    earlier_child: RunKey | None = None  # of the attempts before it, in this run or an earlier one
    loop_run: int | None = None  # run id of its iterations, or of those of the attempts before it
    loop_total: int | None = None  # iterations of a foreach that has begun
    undoable: bool = False  # something below it has succeeded and can be undone
    delivered: bool = False  # an attempt before it has done its work, however it ended
    reason: str | None = None
    failed_before: str | None = None  # of what the attempts failed that it retries, the newest of them
    timeline: tuple[TimelineEvent, ...] = ()

    @property
    def has_delivered(self) -> bool:
        """Whether the work was done, in this attempt or one before: an error behind the work, such as that of
        a condition, does not take it back.
        """
        return self.status is StepStatus.SUCCEEDED or self.finish_time is not None or self.delivered

    @property
    def is_asking(self) -> bool:
        """Whether somebody is asked, and an answer would count."""
        return (
            self.asks is not None
            and self.answer is None
            and self.status is StepStatus.RUNNING
            and self.ending is None
            and self.decided is None
        )


class NamedLeaf(NamedTuple):
    """A leaf step of an iteration that has ended, as rollups name it."""

    iteration: int
    status: StepStatus
    run: str
    step: str


class LoopRecord(msgspec.Struct, kw_only=True, gc=False):
    """How far a foreach or while attempt has come. The counts are a cache of its iterations' rows."""

    key: AttemptKey
    inline_id: str
    run_id: int  # of the iterations that this attempt launches
    total: int | None = None  # of a foreach
    kept: tuple[tuple[int, int], ...] = ()  # iterations (from 1) of earlier runs that are not run again
    again: tuple[tuple[int, int], ...] = ()  # those that are, instead of for the first time
    asked: Mapping[int, RestartConfig] = {}  # iterations that a user restarts while the others go on
    next_index: int = 0  # the iteration to launch next, counted from 0
    ended: dict[RunStatus, int] = {}  # iterations with this run id
    apart: Mapping[RunStatus, int] = {}  # what others add to that: kept ones, and restarts of single ones
    ancestors: int | None = None  # iterations that earlier runs or attempts have had, if any of them stay
    keeps_leaves: bool = False  # those of the iterations that stay are among its leaves
    leaves: dict[StepStatus, int] = {}  # of ended iterations
    named: tuple[NamedLeaf, ...] = ()  # those of them that somebody should look at; the first of many
    carried: Mapping[str, Any] = {}  # loop params of a while, for its next iteration
    failed: int = 0  # iterations of this attempt that failed, and were not restarted: launch no more
    steps: tuple[AnyStep, ...] = ()  # of a batch: what was added, or the steps of a template
    tolerance: float = 0.0  # of a batch: the share of its steps that may fail


Record = RunRecord | AttemptRecord | LoopRecord
AnyRecord = TypeVar("AnyRecord", bound=msgspec.Struct)


def copy_of(record: AnyRecord) -> AnyRecord:
    """Another record that holds the same; three times as fast as `copy.copy`."""
    same: AnyRecord = record.__copy__()  # type: ignore[attr-defined]  # known to no stub
    return same


MOST_EVENTS: Final = 32


def appended(
    timeline: tuple[TimelineEvent, ...], events: Iterable[TimelineEvent], most: int = MOST_EVENTS
) -> tuple[TimelineEvent, ...]:
    """The timeline with the events at its end; beyond `most` the oldest are forgotten."""
    last = timeline[-1] if timeline else None
    news: list[TimelineEvent] = []
    for event in events:
        if last is None or not same_event(last, event):
            news.append(event)
            last = event
    return (*timeline, *news)[-most:] if news else timeline


def same_event(one: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether two events say the same, whenever they happened."""
    return type(one) is type(other) and msgspec.structs.replace(other, timestamp=one.timestamp) == one


def failure_event(
    now: int, message: str, errors: Iterable[str], status: ErrorStatus = ErrorStatus.INTERNAL_ERROR
) -> DetailsEvent:
    """The event of a failure that no retry follows; the errors say what went wrong."""
    return DetailsEvent(timestamp=now, status=status, message=message, errors=tuple(errors), retryable=False)


def held_line(parent: object, *, held: bool) -> str:
    """On the timeline of a child, when the run whose step waits for it is paused or resumed."""
    return f"Run {parent}, which waits for this one, is paused" if held else f"Run {parent} goes on"


def started_by(initiator: Initiator) -> str:
    """The first line of a run's timeline: who or what started it."""
    match initiator:
        case ManualInitiator(user=user):
            return f"Manually run a new workflow instance by a user [{user.name if user else 'unknown'}]"
        case TimeInitiator(trigger_uuid=uuid) | SignalInitiator(trigger_uuid=uuid):
            return f"{_tag(initiator)}-based trigger runs a new workflow instance by trigger uuid [{uuid}]"
        case _:
            at = initiator.parent
            place = f"[{at.workflow_id}][{at.instance_id}][{at.run_id}][{at.step_id}][{at.step_attempt_id}]"
            return f"{_tag(initiator)} step ({place}) runs a new workflow instance"


def _tag(initiator: Initiator) -> str:
    return str(type(initiator).__struct_config__.tag)
