"""The tables of legal moves between statuses. Nothing else in the code says what may follow what."""

from collections.abc import Mapping
from typing import Final, TypeVar

from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.words import Word

S = TypeVar("S", bound=Word)
Moves = Mapping[S, Mapping[S, str]]  # from -> to -> when

R, I, P = RunStatus, InstanceStatus, StepStatus  # noqa: E741 - short names keep the tables readable

RUN_MOVES: Final[Moves[RunStatus]] = {
    R.CREATED: {
        R.IN_PROGRESS: "the engine starts it",
        R.PAUSED: "paused before it started",
        R.STOPPED: "stopped, or dropped by the run strategy, while queued",
        R.FAILED: "killed while queued",
    },
    R.IN_PROGRESS: {
        R.PAUSED: "paused",
        R.SUCCEEDED: "every step it needed is complete",
        R.FAILED: "a step failed, or it was killed",
        R.STOPPED: "stopped, or a step was",
        R.TIMED_OUT: "it took too long, or in Maestro a step did",
    },
    R.PAUSED: {
        R.CREATED: "resumed before it had started",
        R.IN_PROGRESS: "resumed, or stopped and being undone",
        R.SUCCEEDED: "its last step ended: nothing is left to hold",
        R.STOPPED: "stopped, or its last step was",
        R.FAILED: "killed, or its last step failed and nothing is to be undone",
        R.TIMED_OUT: "it took too long",
    },
}

_RESTARTED: Final = {I.CREATED: "restarted: a new run"}

INSTANCE_MOVES: Final[Moves[InstanceStatus]] = {
    **{I(start): {I(end): when for end, when in ends.items()} for start, ends in RUN_MOVES.items()},
    I.SUCCEEDED: _RESTARTED,
    I.FAILED: _RESTARTED,
    I.STOPPED: _RESTARTED,
    I.TIMED_OUT: _RESTARTED,
}

# What a user can do to a step that has not ended, and what a timeout or a fault of our own does to it.
_ENDED_FROM_OUTSIDE: Final = {
    P.STOPPED: "stopped",
    P.SKIPPED: "skipped",
    P.FATALLY_FAILED: "killed, or what was written can not be evaluated",
    P.COMPLETED_WITH_ERROR: "killed, or it could not be decided, and the failure mode ignores it",
    P.TIMED_OUT: "the run timed out",
    P.INTERNALLY_FAILED: "it could not be decided: a fault of ours, or in Maestro of what was written",
}
_TOOK_TOO_LONG: Final = {
    P.TIMEOUT_FAILED: "took too long, a try is left",
    P.TIMED_OUT: "took too long, no try is left",
}
_ENDED_BADLY: Final = {
    P.USER_FAILED: "user error, a try is left",
    P.PLATFORM_FAILED: "platform error, a try is left",
    P.FATALLY_FAILED: "fatal error, no try left, killed, or what was written can not be evaluated",
    P.COMPLETED_WITH_ERROR: "failed or timed out for good, and the failure mode ignores it",
}
_TRIED_AGAIN: Final = {
    P.CREATED: "the next attempt, after the back-off",
    P.STOPPED: "stopped while it waited",
    P.SKIPPED: "skipped while it waited",
    P.FATALLY_FAILED: "killed while it waited, or not worth another try",
    P.COMPLETED_WITH_ERROR: "not worth another try, and the failure mode ignores it",
    P.TIMED_OUT: "the run timed out",
}
_STARTED_AGAIN: Final = {P.CREATED: "restarted by a user: the next attempt"}

STEP_MOVES: Final[Moves[StepStatus]] = {
    P.NOT_CREATED: {P.CREATED: "all predecessors are complete, or restarted by a user"},
    P.CREATED: {
        P.INITIALIZED: "an incoming edge is true, or it has none",
        P.UNSATISFIED: "no incoming edge is true",
        P.DISABLED: "switched off",
        **_ENDED_FROM_OUTSIDE,
    },
    P.INITIALIZED: {
        P.PAUSED: "a breakpoint matches",
        P.WAITING_FOR_SIGNALS: "no breakpoint",
        **_ENDED_FROM_OUTSIDE,
    },
    P.PAUSED: {P.WAITING_FOR_SIGNALS: "resumed", **_ENDED_FROM_OUTSIDE},
    P.WAITING_FOR_SIGNALS: {
        P.EVALUATING_PARAMS: "each dependency is matched or bypassed",
        **_ENDED_FROM_OUTSIDE,
    },
    P.EVALUATING_PARAMS: {P.WAITING_FOR_PERMITS: "all parameters are known", **_ENDED_FROM_OUTSIDE},
    P.WAITING_FOR_PERMITS: {P.STARTING: "all permits are held", **_ENDED_FROM_OUTSIDE},
    P.STARTING: {
        P.RUNNING: "the runtime has launched it",
        **_ENDED_FROM_OUTSIDE,
        **_TOOK_TOO_LONG,
        **_ENDED_BADLY,
    },
    P.RUNNING: {
        P.FINISHING: "the runtime says it is done",
        **_ENDED_FROM_OUTSIDE,
        **_TOOK_TOO_LONG,
        **_ENDED_BADLY,
    },
    P.FINISHING: {
        P.SUCCEEDED: "outputs are merged, signals announced",
        **_ENDED_FROM_OUTSIDE,
        **_TOOK_TOO_LONG,
    },
    P.USER_FAILED: _TRIED_AGAIN,
    P.PLATFORM_FAILED: _TRIED_AGAIN,
    P.TIMEOUT_FAILED: _TRIED_AGAIN,
    P.FATALLY_FAILED: _STARTED_AGAIN,
    P.INTERNALLY_FAILED: _STARTED_AGAIN,
    P.STOPPED: _STARTED_AGAIN,
    P.TIMED_OUT: _STARTED_AGAIN,
}


def may_move(moves: Moves[S], start: S, end: S) -> bool:
    """Whether the table lists the move."""
    return end in moves.get(start, {})


def draw(moves: Moves[S]) -> str:
    """The table as a Mermaid state diagram."""
    ends = sorted({end for row in moves.values() for end in row} - moves.keys())
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(moves))}"]
    lines += [f"    {start} --> {end}: {when}" for start, row in moves.items() for end, when in row.items()]
    lines += [f"    {end} --> [*]" for end in ends]
    return "\n".join(lines) + "\n"
