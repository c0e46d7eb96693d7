"""Planted bugs of the core: steps, loops, pauses, retries and what a load must repeat. See `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from tests.simulation.plant import Planted, replaced

from stretto.engine import decide as deciding_core
from stretto.engine import recovery
from stretto.engine.events import StepTimeDue
from stretto.engine.flow import Flow
from stretto.engine.machine import finish, report
from stretto.engine.records import AttemptRecord
from stretto.model.status import StepStatus


def skip_not_counted() -> AbstractContextManager[None]:
    """A step that waits for several others is one short when one of those is skipped."""

    def make(free: Any) -> Any:
        def freed(turn: Any, flow: Any, plan: Any, attempt: Any) -> None:
            if attempt.status is StepStatus.SKIPPED:
                for edge in plan.edges:
                    flow.waiting[edge.target] += flow.plan.steps[edge.target].before > 1
            free(turn, flow, plan, attempt)

        return freed

    return replaced(finish, "free_successors", make)


def skip_counted_twice() -> AbstractContextManager[None]:
    """A step that waits for several others begins one too early when one of those is skipped."""

    def make(free: Any) -> Any:
        def freed(turn: Any, flow: Any, plan: Any, attempt: Any) -> None:
            if attempt.status is StepStatus.SKIPPED:
                for edge in plan.edges:
                    flow.waiting[edge.target] -= flow.waiting[edge.target] > 1
            free(turn, flow, plan, attempt)

        return freed

    return replaced(finish, "free_successors", make)


def retries_not_counted() -> AbstractContextManager[None]:
    """An attempt that follows a failure does not know how many were before it."""
    return replaced(report, "_used", lambda _before: lambda _attempt, _status: 0)


def timeouts_not_recovered() -> AbstractContextManager[None]:
    """A run that is loaded does not set the timers of its steps again."""
    return replaced(recovery, "_timers", lambda _before: lambda _attempt: iter(()))


def any_timer_counts() -> AbstractContextManager[None]:
    """The timeout of a step counts, whatever time it was for."""

    def make(due: Any) -> Any:
        def rung(turn: Any, flow: Any, event: StepTimeDue) -> None:
            attempt = flow.attempt(event.attempt)
            at = event.due if attempt is None or attempt.timeout_at is None else attempt.timeout_at
            due(turn, flow, StepTimeDue(attempt=event.attempt, due=at))

        return rung

    handlers: Any = deciding_core.HANDLERS
    return replaced(handlers, StepTimeDue, make)  # type: ignore[arg-type]


def pause_ignored() -> AbstractContextManager[None]:
    """The steps of a paused run begin."""
    return replaced(Flow, "holds_back", lambda _before: lambda self, step: step.id in self.run.suspended)


def suspension_ignored() -> AbstractContextManager[None]:
    """A step that is suspended begins."""
    return replaced(Flow, "holds_back", lambda _before: lambda self, _step: self.run.is_paused)


def conditions_ignored() -> AbstractContextManager[None]:
    """Every edge of a step that is complete is taken."""
    return replaced(finish, "condition_holds", lambda _before: lambda *_arguments: True)


def success_alone_is_undone() -> AbstractContextManager[None]:
    """Work that was done is forgotten if its step did not succeed."""
    succeeded = property(lambda record: record.status is StepStatus.SUCCEEDED)
    return replaced(AttemptRecord, "has_delivered", lambda _before: succeeded)


CORE_PLANTS: Mapping[str, Planted] = {
    "success_alone_is_undone": Planted(success_alone_is_undone, 28, ("I16:",)),
    "skip_not_counted": Planted(
        skip_not_counted,
        28,
        (
            "I2:",
            "I8:",
            "order:",
        ),
    ),
    "skip_counted_twice": Planted(
        skip_counted_twice,
        28,
        (
            "I2:",
            "order:",
        ),
    ),
    "retries_not_counted": Planted(
        retries_not_counted,
        1,
        (
            "I8:",
            "oracle:",
        ),
    ),
    "timeouts_not_recovered": Planted(timeouts_not_recovered, 2, ("I8:",)),
    "any_timer_counts": Planted(
        any_timer_counts,
        2,
        (
            "heeded a ghost",
            "oracle:",
        ),
    ),
    "pause_ignored": Planted(
        pause_ignored,
        13,
        (
            "I18:",
            "I2:",
        ),
    ),
    "suspension_ignored": Planted(
        suspension_ignored,
        166,
        (
            "I18:",
            "I2:",
        ),
    ),
    "conditions_ignored": Planted(
        conditions_ignored,
        6,
        (
            "oracle:",
            "order:",
        ),
    ),
}
