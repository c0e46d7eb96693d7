"""What can happen to a run. Every event names what it is about; one that no longer fits is dropped."""

from collections.abc import Mapping
from typing import Any

import msgspec

from stretto.engine.records import AttemptKey, RunKey, WakeReason
from stretto.model.actions import StepAction
from stretto.model.artifact import Artifacts
from stretto.model.param import Parameter, Params
from stretto.model.rollup import RollupOverview
from stretto.model.run_config import RestartConfig
from stretto.model.signal_instance import SignalOutput
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep
from stretto.model.timeline import TimelineEvent
from stretto.model.words import Word


class ResultState(Word):
    """What a runtime says of its work."""

    CONTINUE = "CONTINUE"  # launched, or still going on
    DONE = "DONE"
    USER_ERROR = "USER_ERROR"
    PLATFORM_ERROR = "PLATFORM_ERROR"
    FATAL_ERROR = "FATAL_ERROR"
    STOPPED = "STOPPED"
    TIMED_OUT = "TIMED_OUT"

    @property
    def is_terminal(self) -> bool:
        return self is not ResultState.CONTINUE

    @property
    def is_failed(self) -> bool:
        return self.is_terminal and self not in {ResultState.DONE, ResultState.STOPPED}


class RunAction(Word):
    """What a user can ask of a whole run; TIME_OUT is the system's own."""

    STOP = "STOP"
    KILL = "KILL"
    TIME_OUT = "TIME_OUT"
    PAUSE = "PAUSE"
    RESUME = "RESUME"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all events."""


class Launched(Event, frozen=True, kw_only=True):
    """The run was admitted: it begins."""

    run: RunKey


class Reported(Event, frozen=True, kw_only=True):
    """A runtime's answer about the launch of an attempt."""

    attempt: AttemptKey
    launch: int
    state: ResultState
    outputs: Mapping[str, Parameter] = {}
    artifacts: Artifacts = {}
    timeline: tuple[TimelineEvent, ...] = ()
    message: str | None = None
    again_after: int | None = None  # milliseconds until the runtime is asked again; None: it reports itself
    added: tuple[AnyStep, ...] = ()  # steps to run before this one is done
    tolerance: float = 0.0  # share of them that may fail
    redirect: str | None = None  # go back to an earlier step instead of on


class OutputTold(Event, frozen=True, kw_only=True):
    """Somebody outside tells what the work of an attempt has made. It is no answer of the runtime: it says
    nothing of whether the work has been started.
    """

    attempt: AttemptKey
    outputs: Mapping[str, Parameter] = {}
    artifacts: Artifacts = {}


class WorkLost(Event, frozen=True, kw_only=True):
    """Nobody knows of a launch any more: whoever did the work is gone."""

    attempt: AttemptKey
    launch: int


class FunctionsMissing(Event, frozen=True, kw_only=True):
    """No running process knows all functions that the work of a launch calls: nobody has started it."""

    attempt: AttemptKey
    launch: int
    functions: tuple[str, ...]


class FunctionsFound(Event, frozen=True, kw_only=True):
    """A launch that nobody has started can be started: a process that knows its functions runs."""

    attempt: AttemptKey
    launch: int


class Woken(Event, frozen=True, kw_only=True):
    """The time of an attempt has come."""

    attempt: AttemptKey
    reason: WakeReason
    due: int


class StepTimeDue(Event, frozen=True, kw_only=True):
    """The timeout of an attempt is over."""

    attempt: AttemptKey
    due: int


class RunTimeDue(Event, frozen=True, kw_only=True):
    """The timeout of a run is over."""

    run: RunKey
    due: int


class Granted(Event, frozen=True, kw_only=True):
    """An attempt holds all its permits."""

    attempt: AttemptKey


class SignalCame(Event, frozen=True, kw_only=True):
    """A dependency of an attempt is satisfied by an instance of its signal."""

    attempt: AttemptKey
    index: int
    signal_id: int


class Fetched(Event, frozen=True, kw_only=True):
    """What an evaluation was missing is here."""

    attempt: AttemptKey
    values: Mapping[object, Any]


class Evaluated(Event, frozen=True, kw_only=True):
    """What was too long for a decision is evaluated: answers by name, or what is missing, or why not."""

    attempt: AttemptKey
    params: Mapping[str, Any] = {}  # the parameters of the step; or what else it asked for, see `elsewhere`
    missing: tuple[object, ...] = ()
    error: str | None = None


class SignalsAnnounced(Event, frozen=True, kw_only=True):
    """The signals of an attempt that has done its work are stored, now or at an earlier asking. An output
    without a time is a duplicate of somebody else's.
    """

    attempt: AttemptKey
    outputs: tuple[SignalOutput, ...] = ()


class BreakpointGone(Event, frozen=True, kw_only=True):
    """No breakpoint stands any more for a paused attempt."""

    attempt: AttemptKey
    user: str | None = None


class ChildStarted(Event, frozen=True, kw_only=True):
    """The run that a subworkflow step asked for exists."""

    attempt: AttemptKey
    child: RunKey
    version_id: int
    uuid: str
    held: bool = False  # it was made while the run that asked for it was paused


class ChildRefused(Event, frozen=True, kw_only=True):
    """The run that a subworkflow step asked for can not be."""

    attempt: AttemptKey
    message: str


class ChildEnded(Event, frozen=True, kw_only=True):
    """The run of a subworkflow step has ended."""

    attempt: AttemptKey
    child: RunKey
    status: RunStatus
    rollup: RollupOverview | None = None  # all leaf steps in it
    undoable: bool = False  # something in it has succeeded and can be undone


class ChildCounted(Event, frozen=True, kw_only=True):
    """The leaf steps of a subworkflow step's run, in total; of two such, the one with the higher version."""

    attempt: AttemptKey
    child: RunKey
    version: int
    rollup: RollupOverview


class CalledBack(Event, frozen=True, kw_only=True):
    """Somebody answered for a Wait step: it goes on, or it fails."""

    attempt: AttemptKey
    approved: bool
    outputs: Mapping[str, Parameter] = {}
    user: str | None = None
    message: str | None = None
    request_id: str | None = None
    names: tuple[str, ...] = ()  # what assignees may call the user by; see `EarlyAnswer`
    trusted: bool = False  # the user may answer every question of the workflow


class StepActed(Event, frozen=True, kw_only=True):
    """A user asks something of a step; `attempt` number 0 means the newest."""

    attempt: AttemptKey
    action: StepAction
    user: str
    params: Params = {}
    restart: RestartConfig | None = None  # of a restart: what is below the step follows its path
    reason: str | None = None


class RunActed(Event, frozen=True, kw_only=True):
    """A user, or the system, asks something of a run."""

    run: RunKey
    action: RunAction
    user: str
    reason: str | None = None
    steps: tuple[str, ...] = ()  # only these steps; empty: the whole run
    replaced: bool = False  # a run strategy stops it for a newer run: one that undoes an instance goes on


class RunHeld(Event, frozen=True, kw_only=True):
    """The run whose step waits for this one is paused, or goes on."""

    run: RunKey
    held: bool
    parent: RunKey


class Resumed(Event, frozen=True, kw_only=True):
    """A loop that stopped at the budget of one decision goes on."""

    attempt: AttemptKey


class Faulted(Event, frozen=True, kw_only=True):
    """A step can not go on because of us, such as when what it left can not be stored.

    answers   Whether it came in the place of what the end of a step waits for. A look that went wrong did
              not: to a step that is being ended it says nothing.
    """

    attempt: AttemptKey
    message: str
    answers: bool = True


class RunFaulted(Event, frozen=True, kw_only=True):
    """A run can not go on because of us."""

    run: RunKey
    message: str
