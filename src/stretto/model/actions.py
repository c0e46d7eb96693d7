"""What a user can do to an instance or a step, and in which status. Surfaces show these maps as they are."""

from collections.abc import Mapping
from typing import Final

from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.words import Word


class InstanceAction(Word):
    """On the newest run of an instance."""

    STOP = "STOP"
    KILL = "KILL"
    RESTART = "RESTART"  # a new run
    UNBLOCK = "UNBLOCK"  # lets a strictly sequential queue go on past a failure


class StepAction(Word):
    """On the newest attempt of a step."""

    PAUSE = "PAUSE"  # by a breakpoint
    RESUME = "RESUME"
    BYPASS_STEP_DEPENDENCIES = "BYPASS_STEP_DEPENDENCIES"  # stop waiting for signals
    STOP = "STOP"
    TIME_OUT = "TIME_OUT"  # the system's own; no user asks for it
    KILL = "KILL"
    SKIP = "SKIP"
    RESTART = "RESTART"  # a new attempt, or a new run that begins here


_I, _A = InstanceStatus, InstanceAction

INSTANCE_ACTIONS: Final[Mapping[InstanceStatus, tuple[InstanceAction, ...]]] = {
    _I.CREATED: (_A.STOP, _A.KILL),
    _I.IN_PROGRESS: (_A.STOP, _A.KILL),
    _I.PAUSED: (_A.STOP, _A.KILL),
    _I.TIMED_OUT: (_A.RESTART,),
    _I.STOPPED: (_A.RESTART,),
    _I.FAILED: (_A.RESTART, _A.UNBLOCK),
    _I.SUCCEEDED: (_A.RESTART,),
}

_P, _S = StepStatus, StepAction
_WAKEABLE: Final = (_S.STOP, _S.KILL, _S.SKIP)
_ENDED: Final = (_S.RESTART, _S.SKIP)

# A step that is not created yet has no row: there is nothing to act on.
STEP_ACTIONS: Final[Mapping[StepStatus, tuple[StepAction, ...]]] = {
    _P.CREATED: (_S.PAUSE, _S.STOP, _S.KILL),
    _P.INITIALIZED: (_S.PAUSE, *_WAKEABLE),
    _P.PAUSED: (_S.RESUME, *_WAKEABLE),
    _P.WAITING_FOR_SIGNALS: (*_WAKEABLE, _S.BYPASS_STEP_DEPENDENCIES),
    _P.EVALUATING_PARAMS: _WAKEABLE,
    _P.WAITING_FOR_PERMITS: _WAKEABLE,
    _P.STARTING: _WAKEABLE,
    _P.RUNNING: _WAKEABLE,
    _P.FINISHING: _WAKEABLE,
    _P.DISABLED: (_S.RESTART,),
    _P.UNSATISFIED: (_S.RESTART,),
    _P.SKIPPED: _ENDED,
    _P.SUCCEEDED: _ENDED,
    _P.COMPLETED_WITH_ERROR: _ENDED,
    _P.USER_FAILED: _WAKEABLE,
    _P.PLATFORM_FAILED: _WAKEABLE,
    _P.TIMEOUT_FAILED: _WAKEABLE,
    _P.FATALLY_FAILED: _ENDED,
    _P.INTERNALLY_FAILED: _ENDED,
    _P.STOPPED: _ENDED,
    _P.TIMED_OUT: _ENDED,
}

# The status that an action ends a step in.
ENDS_IN: Final[Mapping[StepAction, StepStatus]] = {
    _S.STOP: _P.STOPPED,
    _S.TIME_OUT: _P.TIMED_OUT,
    _S.KILL: _P.FATALLY_FAILED,
    _S.SKIP: _P.SKIPPED,
}
