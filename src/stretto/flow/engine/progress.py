"""How far a run is: in steps, and inside of those that tell."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from stretto.model.artifact import DefaultArtifact
from stretto.model.status import RunStatus, StepStatus
from stretto.model.workflow import Workflow
from stretto.ports.rows import AttemptRow, RunRow
from stretto.runtimes.python.telling import PROGRESS


class StepProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What a step told of itself (`ctx.progress(0.4, "loading")`)."""

    fraction: float
    text: str = ""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A run at a glance."""

    status: RunStatus
    done: int  # steps that have ended well
    total: int
    failed: int = 0
    fraction: float  # from 0 to 1, with what steps told of themselves
    steps: Mapping[str, StepProgress] = {}


def progress_of(row: RunRow, workflow: Workflow, attempts: Iterable[AttemptRow]) -> Progress:
    """Counted over the steps of the definition; what is inside of loops is theirs."""
    statuses: dict[str, StepStatus] = {}
    told: dict[str, StepProgress] = {}
    for each in attempts:
        step_id = each.key.step_id
        statuses[step_id] = each.record.status
        found = each.record.artifacts.get(PROGRESS)
        if isinstance(found, DefaultArtifact):
            told[step_id] = _told(found.data)
    done = sum(status.is_complete for status in statuses.values())
    begun = sum(
        told[step_id].fraction
        for step_id, status in statuses.items()
        if step_id in told and not status.is_terminal
    )
    total = len(workflow.steps)
    return Progress(
        status=row.record.status,
        done=done,
        total=total,
        failed=sum(status.is_restartable for status in statuses.values()),
        fraction=1.0 if total == 0 else min(1.0, (done + begun) / total),
        steps=told,
    )


def _told(data: Mapping[str, Any]) -> StepProgress:
    return StepProgress(fraction=float(data.get("fraction", 0.0)), text=str(data.get("text", "")))
