"""What is in the way of a step or a run, in words of a closed list, with what would move it.

What runs has nothing in its way: then the sentence says what is going on, and there are no blockers.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from stretto.actions.parts.blocked import BlockedBy
from stretto.actions.reading.lines import AttemptRef
from stretto.engine.why import Cause, Reason, Why
from stretto.model.status import StepStatus
from stretto.model.words import Word


class BlockerKind(Word):
    """What kind of thing is in the way."""

    PREDECESSOR = "predecessor"
    CONDITION = "condition"  # of an edge, which is being decided
    SIGNAL = "signal"
    PERMIT = "permit"
    SLOT = "slot"  # of those that the workflow has for its runs
    TIMER = "timer"
    RETRY = "retry"
    BREAKPOINT = "breakpoint"
    PAUSE = "pause"
    STRATEGY = "strategy"
    APPROVAL = "approval"
    NODE = "node"
    FUNCTION = "function"  # that no running process knows
    EVALUATION = "evaluation"
    QUARANTINE = "quarantine"


class Help(Word):
    """What somebody can do about it: an action of the API."""

    RESTART = "restart"
    BYPASS = "bypass_step_dependencies"
    RAISE_PERMIT = "set_tag_permit"
    RESUME = "resume"
    RESUME_STEP = "resume_step"
    DELETE_BREAKPOINT = "delete_breakpoint"
    ANSWER = "callback"
    UNBLOCK = "unblock"
    STOP = "stop"
    RELEASE = "release"


K, H = BlockerKind, Help
LEFT: Final = "its work had begun, and no process looks after the run now"
END_OF_CALENDAR: Final = 253_402_300_799_999  # the end of the year 9999, in milliseconds since 1970


class Blocker(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is in the way.

    ref          Which one: a step, a signal, a tag, a run.
    moves_when   What must happen.
    actions      What a user can do about it.
    step_id      Of the run: the step that it is in the way of.
    blocked_by   Of a permit: who holds the tag, and who goes before.
    """

    kind: BlockerKind
    ref: str
    since: int | None = None
    detail: str
    moves_when: str
    actions: tuple[Help, ...] = ()
    step_id: str | None = None
    blocked_by: BlockedBy | None = None


Made = Callable[[Reason, Why], Blocker | None]


def blockers_of(found: Why) -> tuple[Blocker, ...]:
    """What is in the way of a step."""
    made = (_BY_CAUSE[reason.cause](reason, found) for reason in found.reasons)
    return tuple(each for each in made if each is not None)


def with_holders(
    found: tuple[Blocker, ...], held: Sequence[BlockedBy], looked_at: Collection[str]
) -> tuple[Blocker, ...]:
    """The same, with who has the permits. Of a tag that has one left nothing is said, unless all have: then
    the step is about to go.
    """
    by_tag = {each.tag: each for each in held}
    if not by_tag:
        return found
    return tuple(
        _held_by(each, by_tag[each.ref]) if each.ref in by_tag else each
        for each in found
        if each.kind is not BlockerKind.PERMIT or each.ref in by_tag or each.ref not in looked_at
    )


def _held_by(found: Blocker, held: BlockedBy) -> Blocker:
    if held.next_slot is not None:
        at = datetime.fromtimestamp(held.next_slot / 1_000, UTC).isoformat(timespec="seconds")
        detail, moves = f"{found.detail}, next slot at {at}", f"the rate allows the next start, at {at}"
        return msgspec.structs.replace(found, detail=detail, moves_when=moves, blocked_by=held)
    detail = f"{found.detail}: {held.held} of {held.max_allowed} are held"
    if held.holders:
        detail += f", by {', '.join(map(_address, held.holders))}"
    if held.ahead:
        detail += f"; before it goes {_address(held.ahead[0])}"
    return msgspec.structs.replace(found, detail=detail, blocked_by=held)


def _address(ref: AttemptRef) -> str:
    run = f"{ref.workflow_id}/{ref.workflow_instance_id}/{ref.workflow_run_id}"
    return f"{run}:{ref.step_id}/{ref.step_attempt_id}"


def _blocker(reason: Reason, kind: BlockerKind, moves_when: str, *actions: Help) -> Blocker:
    return Blocker(
        kind=kind,
        ref=reason.subject,
        since=reason.since,
        detail=reason.text,
        moves_when=moves_when,
        actions=actions,
    )


def for_people(text: str, reasons: Iterable[Reason]) -> str:
    """The moments in it as people write them, and not in milliseconds; one that no calendar has stays."""
    for each in reasons:
        if each.until is not None and each.until <= END_OF_CALENDAR:
            moment = datetime.fromtimestamp(each.until / 1_000, UTC).isoformat(timespec="seconds")
            text = text.replace(str(each.until), moment)
    return text


def left_alone(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The same, of a run that nobody looks after: no work goes on that a process of it did."""
    return tuple(
        msgspec.structs.replace(each, text=LEFT) if each.cause is Cause.WORK else each for each in reasons
    )


def _nothing(_reason: Reason, _found: Why) -> None:
    return None


def _predecessor(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.PREDECESSOR, f"{reason.subject} ends well")


def _condition(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.CONDITION, "the condition is decided")


def _never(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.PREDECESSOR, f"{reason.subject} is restarted, and ends well", H.RESTART)


def _queue(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.STRATEGY, "the run strategy lets the run begin")


def _pause(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.PAUSE, "the run is resumed", H.RESUME)


def _breakpoint(reason: Reason, _found: Why) -> Blocker:
    moves = "the step is resumed, or the breakpoint removed"
    return _blocker(reason, K.BREAKPOINT, moves, H.RESUME_STEP, H.DELETE_BREAKPOINT)


def _signal(reason: Reason, found: Why) -> Blocker:
    if found.status is StepStatus.FINISHING:
        return _blocker(reason, K.NODE, "its signals are stored")
    return _blocker(reason, K.SIGNAL, f"the signal {reason.subject} is announced with such values", H.BYPASS)


def _evaluation(reason: Reason, _found: Why) -> Blocker:
    return _blocker(reason, K.EVALUATION, "the value is there")


def _permit(reason: Reason, _found: Why) -> Blocker:
    moves = f"a permit of {reason.subject} is returned, or there are more of them"
    return _blocker(reason, K.PERMIT, moves, H.RAISE_PERMIT)


def _time(reason: Reason, found: Why) -> Blocker:
    kind = K.RETRY if found.status.is_terminal else K.TIMER
    made = _blocker(reason, kind, f"it is {reason.until}")
    return msgspec.structs.replace(
        made, detail=for_people(made.detail, [reason]), moves_when=for_people(made.moves_when, [reason])
    )


def _person(reason: Reason, found: Why) -> Blocker:
    if found.status is StepStatus.NOT_CREATED:
        return _blocker(reason, K.APPROVAL, "somebody starts the step", H.RESTART)
    return _blocker(reason, K.APPROVAL, "somebody answers", H.ANSWER)


def _function(reason: Reason, _found: Why) -> Blocker:
    made = _blocker(reason, K.FUNCTION, f"a process that knows {reason.subject} joins")
    return msgspec.structs.replace(made, detail=for_people(made.detail, [reason]))


_BY_CAUSE: Final[Mapping[Cause, Made]] = {
    Cause.PREDECESSOR: _predecessor,
    Cause.CONDITION: _condition,
    Cause.NEVER: _never,
    Cause.OVER: _nothing,
    Cause.QUEUE: _queue,
    Cause.PAUSE: _pause,
    Cause.RUN: _nothing,
    Cause.BREAKPOINT: _breakpoint,
    Cause.SIGNAL: _signal,
    Cause.VALUE: _evaluation,
    Cause.PERMIT: _permit,
    Cause.TIME: _time,
    Cause.WORK: _nothing,
    Cause.FUNCTION: _function,
    Cause.PERSON: _person,
    Cause.CHILD: _nothing,
    Cause.TERMINATION: _nothing,
    Cause.NOTHING: _nothing,
}
