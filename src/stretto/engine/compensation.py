"""What of a level of steps can be undone, and the steps that do it.

    undo_ids(step, record)      the ids of the steps that undo one step, in order
    undo_plan(steps, ids)       those steps as a plan: one after the other, whatever becomes of each
    origins(steps)              id of a step that undoes -> id of the step that it undoes

A step is undone by its `compensation`. What ran below a step (iterations, added steps, a child) is undone by
a step with the id of that step and the kind `UNDO`, before the step's own compensation.
"""

from collections.abc import Sequence

import msgspec

from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord
from stretto.model.step import AnyStep, Transition, TypedStep


def undo_ids(step: AnyStep, record: AttemptRecord) -> tuple[str, ...]:
    """What undoes a step, by its newest attempt; empty if nothing of it stands, or nothing can be undone."""
    below = (step.id,) if record.undoable else ()
    if isinstance(step, TypedStep) and step.compensation is not None and record.has_delivered:
        return (*below, step.compensation.id)
    return below


def origins(steps: Sequence[AnyStep]) -> dict[str, str]:
    """Every id that `undo_ids` may give for these steps, and the step that it undoes."""
    found = {step.id: step.id for step in steps}
    for step in steps:
        if isinstance(step, TypedStep) and step.compensation is not None:
            found[step.compensation.id] = step.id
    return found


def undo_plan(steps: Sequence[AnyStep], ids: Sequence[str]) -> Plan:
    """The steps with these ids, each beginning when the one before it has ended."""
    return Plan(undo_steps(steps, ids), undoes=origins(steps))


def undo_steps(steps: Sequence[AnyStep], ids: Sequence[str]) -> tuple[AnyStep, ...]:
    """The same as steps of a definition. Their edges show the order."""
    known: dict[str, AnyStep] = {step.id: _bare(step) for step in steps}
    for step in steps:
        if isinstance(step, TypedStep) and step.compensation is not None:
            known[step.compensation.id] = step.compensation
    following = [*ids[1:], None]
    return tuple(
        msgspec.structs.replace(
            known[each], transition=Transition(successors={} if after is None else {after: "true"})
        )
        for each, after in zip(ids, following, strict=True)
    )


def _bare(step: AnyStep) -> AnyStep:
    """A step that stands for what ran below it: nothing of its own is waited for or evaluated again."""
    bare = msgspec.structs.replace(
        step, failure_mode=None, tags=None, timeout=None, signal_dependencies=None, signal_outputs=None
    )
    if not isinstance(bare, TypedStep):
        return bare
    return msgspec.structs.replace(bare, sub_type=None, retry_policy=None, compensation=None)
