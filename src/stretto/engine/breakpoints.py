"""Which attempts a breakpoint holds, and which breakpoints a query finds.

A field that is not set, or 0, stands for all: a breakpoint without an instance holds the attempts of every
instance. A breakpoint on a step inside a loop is kept under the prefix of the loop's inline workflows, and so
holds that step in every iteration.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from stretto.engine.inline_ids import Loop, inline_prefix, is_inline
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.errors import InvalidRequest, NotFound


class Where(NamedTuple):
    """Version, instance, run and attempt; 0: any."""

    version: int = 0
    instance: int = 0
    run: int = 0
    attempt: int = 0

    @classmethod
    def of(cls, place: StepBreakpoint | PausedStepAttempt) -> "Where":
        return cls(
            place.workflow_version_id or 0,
            place.workflow_instance_id or 0,
            place.workflow_run_id or 0,
            place.step_attempt_id or 0,
        )

    def agrees(self, other: "Where") -> bool:
        """Whether some attempt is meant by both."""
        return all(mine == theirs or not mine or not theirs for mine, theirs in zip(self, other, strict=True))


def holds(breakpoint_: StepBreakpoint, attempt: PausedStepAttempt) -> bool:
    """Whether a breakpoint holds an attempt that comes by."""
    return (
        breakpoint_.step_id == attempt.step_id
        and _covers(breakpoint_.workflow_id, attempt.workflow_id)
        and Where.of(breakpoint_).agrees(Where.of(attempt))
    )


def find_breakpoints(
    stored: Iterable[StepBreakpoint], workflow_id: str, step_id: str, where: Where, kept_as: str | None = None
) -> list[StepBreakpoint]:
    """The breakpoints of a step that concern a place, under the id that was asked for.

    `kept_as` is the `stored_id`, where it differs: nobody outside needs to know the ids of inline workflows.
    """
    wanted = (kept_as or workflow_id, step_id)
    return [
        replace(each, workflow_id=workflow_id)
        for each in stored
        if (each.workflow_id, each.step_id) == wanted and Where.of(each).agrees(where)
    ]


def find_paused(
    paused: Iterable[PausedStepAttempt], workflow_id: str, step_id: str, where: Where
) -> list[PausedStepAttempt]:
    """The held attempts of a step at a place; `workflow_id` is the `stored_id`."""
    return [
        each
        for each in paused
        if each.step_id == step_id and _covers(workflow_id, each.workflow_id) and Where.of(each).agrees(where)
    ]


def key_of(breakpoint_: StepBreakpoint) -> tuple[str, str, Where]:
    """What makes two breakpoints the same one: setting it again changes nothing but who did."""
    return breakpoint_.workflow_id, breakpoint_.step_id, Where.of(breakpoint_)


def stored_id(workflow_id: str, internal_id: int, loop: Loop | None) -> str:
    """The workflow id under which a breakpoint is kept; `loop` is the innermost loop around its step."""
    return workflow_id if loop is None else inline_prefix(loop, internal_id)


def _covers(stored: str, workflow_id: str) -> bool:
    return stored == workflow_id or (is_inline(stored) and workflow_id.startswith(stored))


# --------------------------------------------------------------------------------------------------- refusals
def unknown_step(workflow_id: str, step_id: str) -> InvalidRequest:
    return InvalidRequest(
        f"Breakpoint can't be set as stepId [{step_id}] is not present for the workflowId [{workflow_id}]"
    )


def no_such_breakpoint(workflow_id: str, step_id: str, where: Where) -> NotFound:
    return NotFound(
        f"No breakpoint is deleted because breakpoint with identifier {_place(workflow_id, step_id, where)}"
        " is not been created yet or has already been deleted"
    )


def no_breakpoint(workflow_id: str, step_id: str) -> NotFound:
    return NotFound(
        f"Step [{step_id}] of workflow [{workflow_id}] has no breakpoint",
        hint="GET /api/v3/breakpoints lists the breakpoints; GET /api/v3/paused lists the paused attempts",
    )


def not_paused(workflow_id: str, step_id: str, where: Where) -> NotFound:
    return NotFound(
        f"No paused attempt is resumed because step attempt with identifier"
        f" {_place(workflow_id, step_id, where)} is not been created yet or already resumed"
    )


def _place(workflow_id: str, step_id: str, where: Where) -> str:
    return f"[{workflow_id}][{where.version}][{where.instance}][{where.run}][{step_id}][{where.attempt}]"
