"""Statuses of an instance, a run and a step, their flags, and the tables of legal moves.

A move is legal if, and only if, its table lists it; the drawings in `docs/reference/statuses.md` are made
from these tables. A status without a row is an end: nothing leaves it.
"""

from collections.abc import Mapping
from enum import Flag, auto
from typing import Any, Final

from stretto.model.words import Word


class RunStatus(Word):
    """One run of an instance. A restart makes a new run; an ended run never changes."""

    CREATED = "CREATED"  # queued, or handed to the engine but not started
    IN_PROGRESS = "IN_PROGRESS"  # started
    PAUSED = "PAUSED"  # held by a user; nothing new starts
    TIMED_OUT = "TIMED_OUT"  # the end: ran longer than it may
    STOPPED = "STOPPED"  # the end: stopped by a user or by the run strategy
    FAILED = "FAILED"  # the end: a step failed, or it was killed
    SUCCEEDED = "SUCCEEDED"  # the end: every step it needed ended well

    @property
    def is_terminal(self) -> bool:
        return self in RUN_ENDS


class FailureMark(Word):
    """How the failure of a FAILED run stands: the raw status that is stored."""

    STANDING = "FAILED"  # it blocks a STRICT_SEQUENTIAL queue
    UNBLOCKED = "FAILED_1"  # a user let the queue go on
    SUPERSEDED = "FAILED_2"  # a newer run of its instance took its place


class InstanceStatus(Word):
    """An instance over all its runs: the status of its newest run, unless an older failure still stands."""

    CREATED = "CREATED"
    IN_PROGRESS = "IN_PROGRESS"
    PAUSED = "PAUSED"
    TIMED_OUT = "TIMED_OUT"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        # Maestro stores FAILED_1 (unblocked) and FAILED_2 (superseded); both read as FAILED.
        if isinstance(value, str) and value.upper().startswith("FAILED"):
            return cls.FAILED
        return super()._missing_(value)

    @property
    def is_terminal(self) -> bool:
        return self.value in RUN_ENDS


RUN_ENDS: Final = frozenset({RunStatus.TIMED_OUT, RunStatus.STOPPED, RunStatus.FAILED, RunStatus.SUCCEEDED})


class StepFlag(Flag):
    """What is true of a step while it is in a status."""

    NONE = 0
    TERMINAL = auto()  # the attempt has ended
    COMPLETE = auto()  # ended well: successors may go on
    OVERVIEW = auto()  # rollups keep a reference to such steps
    RETRYABLE = auto()  # ended badly, and another attempt follows by itself


class StepStatus(Word):
    """One attempt of a step."""

    NOT_CREATED = "NOT_CREATED"  # nothing has happened yet, or never will
    CREATED = "CREATED"  # all predecessors are complete
    INITIALIZED = "INITIALIZED"  # it will run: timeout, tags and signal dependencies are known
    PAUSED = "PAUSED"  # held at a breakpoint
    WAITING_FOR_SIGNALS = "WAITING_FOR_SIGNALS"
    EVALUATING_PARAMS = "EVALUATING_PARAMS"
    WAITING_FOR_PERMITS = "WAITING_FOR_PERMITS"
    STARTING = "STARTING"  # permits are held; the runtime is asked to launch
    RUNNING = "RUNNING"  # the runtime has launched it
    FINISHING = "FINISHING"  # the work is done; outputs are merged and signals announced
    DISABLED = "DISABLED"  # the end: switched off
    UNSATISFIED = "UNSATISFIED"  # the end: no incoming edge was true
    SKIPPED = "SKIPPED"  # the end: skipped by a user
    SUCCEEDED = "SUCCEEDED"  # the end
    COMPLETED_WITH_ERROR = "COMPLETED_WITH_ERROR"  # the end: failed, and its failure mode ignores that
    USER_FAILED = "USER_FAILED"  # the user's code failed; retried
    PLATFORM_FAILED = "PLATFORM_FAILED"  # what runs the code failed; retried
    TIMEOUT_FAILED = "TIMEOUT_FAILED"  # took too long; retried
    FATALLY_FAILED = "FATALLY_FAILED"  # the end: not worth another try, or no try left
    INTERNALLY_FAILED = "INTERNALLY_FAILED"  # the end: a fault of ours; in Maestro also a bad expression
    STOPPED = "STOPPED"  # the end: stopped by a user
    TIMED_OUT = "TIMED_OUT"  # the end: took too long, and no try is left

    @property
    def flags(self) -> StepFlag:
        return STEP_FLAGS[self]

    @property
    def is_terminal(self) -> bool:
        return StepFlag.TERMINAL in STEP_FLAGS[self]

    @property
    def is_complete(self) -> bool:
        return StepFlag.COMPLETE in STEP_FLAGS[self]

    @property
    def is_overview(self) -> bool:
        return StepFlag.OVERVIEW in STEP_FLAGS[self]

    @property
    def is_retryable(self) -> bool:
        return StepFlag.RETRYABLE in STEP_FLAGS[self]

    @property
    def is_restartable(self) -> bool:
        """Ended badly for good: only a user can start it again."""
        return self.is_terminal and not self.is_complete and not self.is_retryable

    @property
    def is_wakeable(self) -> bool:
        """Stop, kill and skip still mean something."""
        return not self.is_terminal or self.is_retryable


P = StepStatus
_T, _C, _O, _R = StepFlag.TERMINAL, StepFlag.COMPLETE, StepFlag.OVERVIEW, StepFlag.RETRYABLE

STEP_FLAGS: Final[Mapping[StepStatus, StepFlag]] = {
    P.NOT_CREATED: StepFlag.NONE,
    P.CREATED: StepFlag.NONE,
    P.INITIALIZED: StepFlag.NONE,
    P.PAUSED: _O,
    P.WAITING_FOR_SIGNALS: _O,
    P.EVALUATING_PARAMS: _O,
    P.WAITING_FOR_PERMITS: _O,
    P.STARTING: StepFlag.NONE,
    P.RUNNING: _O,
    P.FINISHING: StepFlag.NONE,
    P.DISABLED: _T | _C,
    P.UNSATISFIED: _T | _C,
    P.SKIPPED: _T | _C,
    P.SUCCEEDED: _T | _C,
    P.COMPLETED_WITH_ERROR: _T | _C,
    P.USER_FAILED: _T | _O | _R,
    P.PLATFORM_FAILED: _T | _O | _R,
    P.TIMEOUT_FAILED: _T | _O | _R,
    P.FATALLY_FAILED: _T | _O,
    P.INTERNALLY_FAILED: _T | _O,
    P.STOPPED: _T,
    P.TIMED_OUT: _T,
}
