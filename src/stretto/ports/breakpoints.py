"""Breakpoints, and the attempts that they hold."""

from typing import NamedTuple, Protocol

from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.paging import Cut, Slice


class BreakpointsAt(NamedTuple):
    """Those kept under a workflow id, or for one step of it, by step: all of them."""

    workflow_id: str
    step_id: str | None = None


class BreakpointPage(NamedTuple):
    """All, by (workflow id, step id, version, instance, run, attempt), with 0 for "any"."""

    cut: Cut


BreakpointSelection = BreakpointsAt | BreakpointPage


class PausedAt(NamedTuple):
    """Attempts of a step, by (workflow id, instance, run, attempt). `workflow_id` may be the prefix of a
    loop's inline workflows; it then means all of them.
    """

    workflow_id: str
    step_id: str
    cut: Cut


class PausedPage(NamedTuple):
    """Attempts of all workflows, by (step, workflow id, instance, run, attempt)."""

    cut: Cut


PausedSelection = PausedAt | PausedPage


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

    async def breakpoints(self, selection: BreakpointSelection) -> Slice[StepBreakpoint]:
        """The selected breakpoints. Only reads."""
        ...

    async def paused(self, selection: PausedSelection) -> Slice[PausedStepAttempt]:
        """The selected attempts that are PAUSED. Only reads."""
        ...
