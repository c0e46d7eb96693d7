"""Breakpoints, and the attempts that they hold."""

from typing import Protocol

from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.paging import Cut, Slice


class Breakpoints(Protocol):
    """A step commits PAUSED, then looks whether a breakpoint stands; a deletion is committed, then whoever is
    paused is resumed. So nobody is held by a breakpoint that is gone.

    A breakpoint is known by its workflow id (of a loop: the prefix of its inline workflows), its step id, and
    the version, instance, run and attempt that it is for, if any.
    """

    async def set_breakpoint(self, breakpoint_: StepBreakpoint) -> StepBreakpoint:
        """Set it. If it stands already, that one is returned and nothing changes."""
        ...

    async def delete_breakpoint(self, breakpoint_: StepBreakpoint) -> bool:
        """Delete exactly this one; times and users do not matter. False: it does not stand."""
        ...

    async def breakpoints(self, workflow_id: str, step_id: str | None = None) -> list[StepBreakpoint]:
        """Those kept under a workflow id, by step. Only reads."""
        ...

    async def all_breakpoints(self, cut: Cut) -> Slice[StepBreakpoint]:
        """All, by (workflow id, step id, version, instance, run, attempt), with 0 for "any". Only reads."""
        ...

    async def all_paused(self, cut: Cut) -> Slice[PausedStepAttempt]:
        """Attempts of all workflows that are PAUSED, by (step, workflow id, instance, run, attempt). Only
        reads.
        """
        ...

    async def paused(self, workflow_id: str, step_id: str, cut: Cut) -> Slice[PausedStepAttempt]:
        """Attempts of a step that are PAUSED, by (workflow id, instance, run, attempt). Only reads.

        `workflow_id` may be the prefix of a loop's inline workflows; it then means all of them.
        """
        ...
