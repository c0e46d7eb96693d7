"""Why does a step wait, since when, and what would move it? Read from the flow; nothing is changed."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from stretto.engine.flow import BEFORE_WORK, Flow
from stretto.engine.machine.placement import nobody_knows
from stretto.engine.permits import rate_tag
from stretto.engine.plan import Edge, Kind, StepPlan
from stretto.engine.records import AttemptRecord, FunctionWait, RunRecord, WakeReason
from stretto.engine.run_text import holder_of, pause_text
from stretto.model.approval import Asked
from stretto.model.status import RunStatus, StepStatus
from stretto.model.words import Word

S = StepStatus
MOST_NAMED: Final = 3  # failed steps in a reason


class Cause(Word):
    """What kind of thing a step waits for."""

    PREDECESSOR = "PREDECESSOR"
    CONDITION = "CONDITION"  # of an edge to it, which is being decided
    NEVER = "NEVER"  # a step before it ended badly: it can not begin any more in this run
    OVER = "OVER"  # the run has ended
    QUEUE = "QUEUE"  # the run has not started
    PAUSE = "PAUSE"  # the run is paused
    RUN = "RUN"  # the run is being ended
    BREAKPOINT = "BREAKPOINT"
    SIGNAL = "SIGNAL"
    VALUE = "VALUE"  # something that an expression reads is being fetched
    PERMIT = "PERMIT"
    TIME = "TIME"
    WORK = "WORK"  # its own work goes on
    FUNCTION = "FUNCTION"  # no running process knows the functions that its work calls
    PERSON = "PERSON"
    CHILD = "CHILD"  # a run below it
    TERMINATION = "TERMINATION"  # its work is being ended
    NOTHING = "NOTHING"  # it has ended


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a step waits for."""

    cause: Cause
    subject: str  # the predecessor, signal, tag, run ...
    text: str
    since: int | None = None
    until: int | None = None


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer. Every reason must go away before the step moves."""

    step_id: str
    status: StepStatus
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return "; ".join(reason.text for reason in self.reasons)


def why(flow: Flow, step_id: str) -> Why | None:
    """Why a step is where it is; None if this run has no such step."""
    plan = flow.step(step_id)
    if plan is None:
        return None
    attempt = flow.attempts[plan.index]
    if attempt is None:
        reasons = tuple(_not_begun(flow, plan))
        return Why(step_id=step_id, status=S.NOT_CREATED, reasons=reasons)
    return Why(step_id=step_id, status=attempt.status, reasons=tuple(_under_way(flow, plan, attempt)))


def _not_begun(flow: Flow, plan: StepPlan) -> list[Reason]:
    run = flow.run
    if flow.is_over:
        text = f"the run ended {run.status} before the step could begin"
        failed = "; ".join(_ended_badly(plan, each, record) for each, record in _failed_before(flow, plan))
        text = f"{text}: {failed}" if failed else text
        return [Reason(cause=Cause.OVER, subject=str(run.key), text=text, since=run.end_time)]
    if run.compensation is not None:
        text = "the run did not get so far: what it did is being undone"
        return [Reason(cause=Cause.RUN, subject=str(run.key), text=text)]
    if run.ending is not None:
        text = f"the run is being ended ({run.ended_by})"
        return [Reason(cause=Cause.RUN, subject=str(run.key), text=text)]
    if plan.index in flow.held or (run.is_paused and run.start_time is None):
        return [_for_resume(run)]
    if run.status is RunStatus.CREATED:
        text = "the run has not started"
        return [Reason(cause=Cause.QUEUE, subject=str(run.key), text=text, since=run.create_time)]
    never = [
        Reason(
            cause=Cause.NEVER,
            subject=each.id,
            text=_ended_badly(plan, each, record),
            since=record.end_time,
        )
        for each, record in _failed_before(flow, plan)
    ]
    before = [_predecessor(flow, other, edge) for other, edge in _predecessors(flow, plan)]
    found = [reason for reason in before if reason is not None]
    text = "it waits for a user to start it: this run restarts another step"
    return never or found or [Reason(cause=Cause.PERSON, subject=plan.id, text=text)]


def _for_resume(run: RunRecord) -> Reason:
    text = pause_text(run) if run.is_paused else "the step is suspended"
    return Reason(cause=Cause.PAUSE, subject=str(holder_of(run)), text=text)


def _predecessors(flow: Flow, plan: StepPlan) -> list[tuple[StepPlan, Edge]]:
    return [(other, edge) for other in flow.plan.steps for edge in other.edges if edge.target == plan.index]


def _failed_before(
    flow: Flow, plan: StepPlan, passed: StepStatus | None = None
) -> list[tuple[StepPlan, AttemptRecord]]:
    """The steps before a step, however far, that ended badly: what is behind them can not begin any more.
    With `passed`, those whose failure was handled, behind steps that ended so.
    """
    found: dict[int, tuple[StepPlan, AttemptRecord]] = {}
    seen, left = {plan.id}, [plan.id]
    while left:
        for step_id in flow.plan.predecessors_of(left.pop()):
            other = flow.step(step_id)
            if other is None or step_id in seen:
                continue
            seen.add(step_id)
            record = flow.attempts[other.index]
            if (None if record is None else record.status) is passed:
                left.append(step_id)  # it has not begun, or was never to begin: the reason is further up
            elif record is not None and _has_failed(record, handled=passed is not None):
                found[other.index] = (other, record)
    return [found[index] for index in sorted(found)]


def _has_failed(record: AttemptRecord, *, handled: bool) -> bool:
    return record.status is S.COMPLETED_WITH_ERROR if handled else record.status.is_restartable


def _not_satisfied(flow: Flow, plan: StepPlan) -> str:
    """Which failures kept all edges to a step from being taken, though they were handled or ignored."""
    failed = _failed_before(flow, plan, S.UNSATISFIED)
    texts = [
        f"{_ended_badly(plan, each, record)}" + (f": {record.reason}" if record.reason else "")
        for each, record in failed[:MOST_NAMED]
    ]
    more = [f"{len(failed) - MOST_NAMED} more"] if len(failed) > MOST_NAMED else []
    return "".join(f"; {each}" for each in (*texts, *more))


def _ended_badly(plan: StepPlan, other: StepPlan, record: AttemptRecord) -> str:
    is_next = any(edge.target == plan.index for edge in other.edges)
    return f"{'its predecessor' if is_next else 'further up, step'} {other.id} ended {record.status}"


def _predecessor(flow: Flow, other: StepPlan, edge: Edge) -> Reason | None:
    record = flow.attempts[other.index]
    if record is not None and record.status.is_complete:
        return None
    if record is None:
        text = f"its predecessor {other.id} has not begun"
        return Reason(cause=Cause.PREDECESSOR, subject=other.id, text=text)
    if edge.condition is not None and _is_deciding(other, record):
        text = f"its predecessor {other.id} is done, and decides whether [{edge.condition}] holds"
        return Reason(cause=Cause.CONDITION, subject=other.id, text=text, since=record.asked_at)
    text = f"its predecessor {other.id} is {record.status}"
    return Reason(cause=Cause.PREDECESSOR, subject=other.id, text=text, since=record.create_time)


def _is_deciding(plan: StepPlan, record: AttemptRecord) -> bool:
    """Whether nothing is left of a step but to decide its edges, which takes a value that is not here."""
    if record.asked_at is None:
        return False
    if record.decided is not None:
        return record.decided.is_complete
    announces = bool(plan.step.signal_outputs) and not record.announced
    return record.status is S.FINISHING and not announces


def _under_way(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    if attempt.ending is not None:
        text = f"its work is being ended, then it is {attempt.ending}"
        return [Reason(cause=Cause.TERMINATION, subject=plan.id, text=text)]
    if attempt.decided is not None:
        text = f"a value is being fetched that decides what follows; then it is {attempt.decided}"
        return [Reason(cause=Cause.VALUE, subject=plan.id, text=text, since=attempt.asked_at)]
    if attempt.status.is_terminal and attempt.wake_at is None:
        text = f"it ended {attempt.status}" + (f": {attempt.reason}" if attempt.reason else "")
        text += _not_satisfied(flow, plan) if attempt.status is S.UNSATISFIED else ""
        return [Reason(cause=Cause.NOTHING, subject=plan.id, text=text, since=attempt.end_time)]
    if attempt.function_wait is not None:
        return [_for_functions(attempt.function_wait, attempt.wake_at)]
    if attempt.wake_at is not None and attempt.wake_reason is not WakeReason.POLL:
        verb = "it is tried again" if attempt.status.is_terminal else "it goes on"
        text = f"{verb} at {attempt.wake_at}" + (f": {attempt.reason}" if attempt.reason else "")
        return [
            Reason(
                cause=Cause.TIME, subject=plan.id, text=text, since=attempt.end_time, until=attempt.wake_at
            )
        ]
    if flow.holds_back(plan) and attempt.status in BEFORE_WORK:
        return [_for_resume(flow.run)]
    return _BY_STATUS.get(attempt.status, _at_work)(flow, plan, attempt)


def _for_functions(wait: FunctionWait, until: int | None) -> Reason:
    text = f"{nobody_knows(wait.functions)}; if none joins that does, the step fails at {until}"
    subject = ", ".join(wait.functions)
    return Reason(cause=Cause.FUNCTION, subject=subject, text=text, since=wait.since, until=until)


def _paused(_flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    text = f"a breakpoint holds it; resume the step, or remove the breakpoint of {plan.id}"
    return [Reason(cause=Cause.BREAKPOINT, subject=plan.id, text=text, since=attempt.pause_time)]


def _for_signals(_flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    waiting = [] if attempt.signals is None else attempt.signals.dependencies
    return [
        Reason(
            cause=Cause.SIGNAL,
            subject=each.name,
            text=f"it waits for the signal {each.name}{_matching(each.match_params)}",
            since=attempt.wait_signal_time,
        )
        for each in waiting
        if not each.status.is_done
    ]


def _matching(wanted: Mapping[str, object] | None) -> str:
    if not wanted:
        return ""
    parts = (f"{name} {each.operator} {each.value}" for name, each in wanted.items())  # type: ignore[attr-defined]
    return f" with {', '.join(parts)}"


def _for_values(_flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    text = "a value that its expressions read is being fetched, or a long one is being evaluated"
    return [Reason(cause=Cause.VALUE, subject=plan.id, text=text, since=attempt.asked_at)]


def _finishing(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    if attempt.asked_at is not None:
        return _for_values(flow, plan, attempt)
    text = "its work is done, and its signals are being announced"
    return [Reason(cause=Cause.SIGNAL, subject=plan.id, text=text, since=attempt.finish_time)]


def _for_permits(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    paced = rate_tag(flow.tree.workflow.id, plan.id)
    return [
        Reason(
            cause=Cause.PERMIT,
            subject=tag,
            text=f"it waits for the rate {plan.step.rate} of step {plan.id}"
            if tag == paced
            else f"it waits for a permit of the tag {tag}",
            since=attempt.wait_permit_time,
        )
        for tag in attempt.permits
    ]


def _at_work(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> list[Reason]:
    if attempt.asked_at is not None and not flow.children.get(plan.index):
        return _for_values(flow, plan, attempt)
    since, until = attempt.execute_time or attempt.start_time, attempt.timeout_at
    match plan.kind:
        case Kind.WAIT:
            cause, subject, text = Cause.PERSON, plan.id, f"it waits for an answer{_asked(attempt)}"
        case Kind.SUBWORKFLOW:
            subject = str(attempt.child) if attempt.child else plan.id
            cause, text = Cause.CHILD, f"its subworkflow {subject} runs"
        case Kind.UNDO if attempt.earlier_child is not None:
            subject = str(attempt.child or attempt.earlier_child)
            cause, text = Cause.CHILD, f"its subworkflow {subject} is being undone"
        case Kind.UNDO:
            loop, live = flow.loops.get(plan.index), len(flow.children.get(plan.index, {}))
            ended = sum(loop.ended.values()) if loop is not None else 0
            cause, subject, text = (
                Cause.CHILD,
                plan.id,
                f"{ended} iterations are undone, {live} are being undone",
            )
        case Kind.FOREACH | Kind.WHILE | Kind.TEMPLATE:
            loop = flow.loops.get(plan.index)
            ended = sum(loop.ended.values()) if loop is not None else 0
            of = f" of {loop.total}" if loop is not None and loop.total is not None else ""
            live = len(flow.children.get(plan.index, {}))
            cause, subject, text = Cause.CHILD, plan.id, f"{ended}{of} iterations have ended, {_under(live)}"
        case _:
            cause, subject, text = Cause.WORK, plan.id, "its work goes on"
    return [Reason(cause=cause, subject=subject, text=text, since=since, until=until)]


def _under(live: int) -> str:
    """Iterations that have begun, whether they run or wait."""
    return f"{live} {'is' if live == 1 else 'are'} under way"


def _asked(attempt: AttemptRecord) -> str:
    """Of whom, and to what."""
    asks = attempt.asks or Asked()
    names = f" of {', '.join(asks.assignees)}" if asks.assignees else ""
    return names + (f": {asks.prompt}" if asks.prompt else "")


_BY_STATUS: Final[Mapping[StepStatus, Callable[[Flow, StepPlan, AttemptRecord], list[Reason]]]] = {
    S.CREATED: _for_values,
    S.PAUSED: _paused,
    S.WAITING_FOR_SIGNALS: _for_signals,
    S.EVALUATING_PARAMS: _for_values,
    S.WAITING_FOR_PERMITS: _for_permits,
    S.FINISHING: _finishing,
}
