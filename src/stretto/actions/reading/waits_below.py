"""Functions that the work below a step waits for: in its iterations, and in the runs that it has started."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

import msgspec

from stretto.engine.flow import Flow
from stretto.engine.records import AttemptRecord, RunKey
from stretto.engine.why import Cause, Reason, Why, why

MOST_RUNS: Final = 20  # that one answer looks into

Open = Callable[[RunKey], Awaitable[Flow | None]]
"""A run that goes on, with everything that is alive in it; None if it is not to be seen."""


async def with_waits_below(flow: Flow, steps: Sequence[Why], open_run: Open) -> tuple[Why, ...]:
    """The same answers. A step that waits for what is below it also says which functions are waited for
    there; each is named once.
    """
    left = MOST_RUNS
    answers = []
    for step in steps:
        added: dict[str, Reason] = {}
        if any(reason.cause is Cause.CHILD for reason in step.reasons):
            index = flow.plan.numbers[step.step_id]
            inside = list(flow.children.get(index, {}).values())
            runs = list(_child(flow.attempts[index]))
            while inside or (runs and left):
                if not inside:
                    left -= 1
                    opened = await open_run(runs.pop())
                    inside += [] if opened is None else [opened]
                    continue
                below = inside.pop()
                inside += [each for live in below.children.values() for each in live.values()]
                runs += [key for attempt in below.attempts for key in _child(attempt)]
                for reason in _waits(below):
                    added.setdefault(reason.subject, reason)
        answers.append(msgspec.structs.replace(step, reasons=(*step.reasons, *added.values())))
    return tuple(answers)


def _child(attempt: AttemptRecord | None) -> Iterator[RunKey]:
    """The run that an attempt has started and waits for."""
    if attempt is not None and attempt.child is not None and not attempt.status.is_terminal:
        yield attempt.child


def _waits(flow: Flow) -> Iterator[Reason]:
    for step, attempt in zip(flow.plan.steps, flow.attempts, strict=True):
        found = why(flow, step.id) if attempt is not None and attempt.function_wait is not None else None
        for reason in () if found is None else found.reasons:
            if reason.cause is Cause.FUNCTION:
                text = f"step [{step.id}] of run {flow.run.key}: {reason.text}"
                yield msgspec.structs.replace(reason, text=text)
