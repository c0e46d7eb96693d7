"""Work that needs functions which no running process knows: the attempt waits for a process that knows them.

While an attempt waits, nobody does its work, so its own timeout stands still. The wait itself has a limit
(`EngineSettings.function_within`); past that limit the attempt fails.
"""

from collections.abc import Sequence
from typing import Final

from stretto.engine.events import FunctionsFound, FunctionsMissing
from stretto.engine.flow import Flow
from stretto.engine.machine.finish import fail
from stretto.engine.plan import StepPlan
from stretto.engine.policies import start_work, timeout_timer, wake_timer
from stretto.engine.records import AttemptRecord, FunctionWait, WakeReason
from stretto.engine.turn import Turn
from stretto.model.timeline import LogLevel

WAY_OUT: Final = (
    "Deploy a program that has registered it, start a server with `--app`, or correct the name; then restart "
    "the step"
)


def functions_missing(turn: Turn, flow: Flow, event: FunctionsMissing) -> None:
    """No running process knows the functions of a launch: wait for one that does, or fail at once."""
    attempt = _launched(flow, event)
    if attempt is None or attempt.function_wait is not None:
        return
    turn.touch(attempt, flow)
    within = flow.tree.settings.function_within
    if within == 0:
        fail(turn, flow, _plan_of(flow, attempt), attempt, f"{nobody_knows(event.functions)}. {WAY_OUT}")
        return
    assert attempt.timeout_at is not None  # noqa: S101 - set before the work is launched
    left = max(0, attempt.timeout_at - turn.clock)
    attempt.function_wait = FunctionWait(functions=event.functions, since=turn.now, timeout_left=left)
    attempt.timeout_at = None
    attempt.wake_at, attempt.wake_reason = turn.clock + within, WakeReason.FUNCTION
    turn.note(flow, attempt, f"The step waits: {nobody_knows(event.functions)}", LogLevel.WARN)
    turn.act(wake_timer(attempt, attempt.wake_at))


def functions_found(turn: Turn, flow: Flow, event: FunctionsFound) -> None:
    """A process that knows the functions of a launch runs now: the launch begins."""
    attempt = _launched(flow, event)
    if attempt is not None and attempt.function_wait is not None:
        turn.touch(attempt, flow)
        end_wait(turn, flow, attempt, attempt.function_wait)
        turn.act(start_work(_plan_of(flow, attempt), attempt, event.launch))


def functions_never_found(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """The time in which a process that knows the functions could have joined is over."""
    wait = attempt.function_wait
    assert wait is not None  # noqa: S101 - the timer and the wait end together
    waited = (turn.now - wait.since) // 1_000
    text = f"{nobody_knows(wait.functions)}, and none has joined within {waited} s. {WAY_OUT}"
    fail(turn, flow, plan, attempt, text)


def end_wait(turn: Turn, flow: Flow, attempt: AttemptRecord, wait: FunctionWait) -> None:
    """The wait is over: the timeout of the attempt goes on where it stood."""
    turn.note(flow, attempt, "The step begins: a running process knows what it needs")
    attempt.function_wait = attempt.wake_at = attempt.wake_reason = None
    attempt.timeout_at = turn.clock + wait.timeout_left
    turn.act(timeout_timer(attempt, attempt.timeout_at))


def nobody_knows(functions: Sequence[str]) -> str:
    """The reason of the wait, as users read it."""
    if len(functions) == 1:
        return f"no running process knows the function `{functions[0]}`"
    return f"no running process knows all of the functions {', '.join(f'`{each}`' for each in functions)}"


def _launched(flow: Flow, event: FunctionsMissing | FunctionsFound) -> AttemptRecord | None:
    """The attempt, if it still waits for this launch and nobody has asked it to end."""
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.launch != event.launch or attempt.ending is not None:
        return None
    return attempt


def _plan_of(flow: Flow, attempt: AttemptRecord) -> StepPlan:
    return flow.plan.steps[flow.plan.numbers[attempt.key.step_id]]
