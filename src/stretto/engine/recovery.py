"""What must be asked again after a run was loaded from its rows.

    recovery_of(flow) -> Recovery(events, effects)

Whoever owned the run may have died between a commit and its effects, or while answers were on their way. So
every attempt that waits for something asks for it once more; who is asked must take a second time for the
first one. What the database itself keeps (permits that were given back, the end of a child, what users ask)
needs no repeating. Nothing is changed here: the events go through `decide` like any other.
"""

from collections.abc import Iterator
from typing import NamedTuple

from stretto.engine.effects import (
    AskPermits,
    LookAtWork,
    LookForBreakpoint,
    RunEnded,
    SetTimer,
    StartChild,
    StartWork,
    StopChild,
    TerminateWork,
    WatchSignals,
)
from stretto.engine.events import Event, Fetched, Resumed
from stretto.engine.flow import Flow, is_active
from stretto.engine.kinds.subworkflow import start_child, stop_child
from stretto.engine.kinds.undo import undo_child
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.policies import (
    ask_permits,
    permit_limits,
    run_timer,
    start_work,
    timeout_timer,
    wake_timer,
    watch_signals,
)
from stretto.engine.records import AttemptRecord
from stretto.model.status import StepStatus
from stretto.model.step import SubworkflowStep

S = StepStatus
Repeated = (
    AskPermits
    | LookAtWork
    | LookForBreakpoint
    | RunEnded
    | SetTimer
    | StartChild
    | StartWork
    | StopChild
    | TerminateWork
    | WatchSignals
)
"""Effects that a run may wait for, and that may have been lost."""


class Recovery(NamedTuple):
    """Events to decide, and effects to carry out, in any order."""

    events: list[Event]
    effects: list[Repeated]


def recovery_of(flow: Flow) -> Recovery:
    """All that a run, and everything alive in it, waits for. A run that has ended says so again."""
    if flow.is_over:
        return Recovery([], [RunEnded(run=flow.run.key, status=flow.run.status)])
    events: list[Event] = []
    effects: list[Repeated] = []
    for each in flow.tree.live.values():
        for wanted in _wanted(each):
            if isinstance(wanted, Event):
                events.append(wanted)
            else:
                effects.append(wanted)
    return Recovery(events, effects)


def _wanted(flow: Flow) -> Iterator[Event | Repeated]:
    if flow.run.timeout_at is not None:
        yield run_timer(flow.run, flow.run.timeout_at)
    for plan, attempt in zip(flow.plan.steps, flow.attempts, strict=True):
        if attempt is not None and is_active(attempt):
            yield from _timers(attempt)
            yield from _answers(flow, plan, attempt)


def _timers(attempt: AttemptRecord) -> Iterator[SetTimer]:
    if attempt.timeout_at is not None:
        yield timeout_timer(attempt, attempt.timeout_at)
    if attempt.wake_at is not None:
        yield wake_timer(attempt, attempt.wake_at)


def _answers(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Iterator[Event | Repeated]:
    """What an attempt waits for beside time."""
    status = attempt.status
    if attempt.asked_at is not None or attempt.decided is not None or status is S.FINISHING:
        # What was fetched is gone. Looking again finds what is missing, as of the moment of the first try;
        # and what has done its work announces its signals again.
        yield Fetched(attempt=attempt.key, values={})
    elif status is S.PAUSED:
        yield LookForBreakpoint(attempt=attempt.key)
    elif status is S.WAITING_FOR_SIGNALS:
        watch = watch_signals(attempt)
        if watch is not None:
            yield watch
    elif status is S.WAITING_FOR_PERMITS:
        # A job template may not be here: the limits that it brought along are in the permits' rows.
        known = permit_limits(flow, plan)
        yield ask_permits(flow, attempt, {tag: known.get(tag) for tag in attempt.permits})
    elif status in {S.STARTING, S.RUNNING}:
        yield from _work(flow, plan, attempt)


def _work(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Iterator[Event | Repeated]:
    """Whoever does the work of an attempt. Who only waits for time, or for a person, needs nobody."""
    launch, step = attempt.launch, plan.step
    if attempt.function_wait is not None:
        return  # whoever owns the run looks by itself for a process that knows the functions
    if launch is not None:
        if attempt.ending is not None:
            yield TerminateWork(attempt=attempt.key, launch=launch)
        elif attempt.status is S.STARTING:
            yield start_work(plan, attempt, launch)
        else:
            yield LookAtWork(attempt=attempt.key, launch=launch)
    elif isinstance(step, SubworkflowStep):
        if (step.sync or plan.kind is Kind.UNDO) and attempt.ending is not None:
            yield stop_child(attempt)
        elif attempt.child is None and plan.kind is Kind.UNDO:
            yield undo_child(flow, attempt)
        elif attempt.child is None:
            yield start_child(flow, step, attempt)
    elif plan.index in flow.loops:
        yield Resumed(attempt=attempt.key)
