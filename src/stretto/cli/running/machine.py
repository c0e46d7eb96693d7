"""A run for programs: one JSON object at the end, or a line for each thing that happens."""

from collections.abc import Sequence
from typing import Any

import click

from stretto.cli.database import Place
from stretto.cli.running.progress import Progress, Step
from stretto.cli.running.views import Ending
from stretto.model.param import ParamSource
from stretto.model.wire import to_json
from stretto.ports.rows import AttemptRow


class Result:
    """See `views.View`. Nothing but the end is told."""

    def begin(self, progress: Progress, place: Place) -> None:
        """Nothing."""

    def show(self, moved: Sequence[Step]) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        """Nothing."""

    def end(self, ending: Ending) -> None:
        click.echo(to_json(result_of(ending)))


class Lines(Result):
    """Each change as a JSON object on a line of its own; the last is the whole result."""

    def begin(self, progress: Progress, place: Place) -> None:
        click.echo(to_json({"type": "begun", **_run(progress), "database": place.shown}))

    def show(self, moved: Sequence[Step]) -> None:
        for step in moved:
            click.echo(to_json({"type": "step", **_step(step)}))

    def note(self, text: str) -> None:
        click.echo(to_json({"type": "note", "text": text}))

    def end(self, ending: Ending) -> None:
        click.echo(to_json({"type": "ended", **result_of(ending)}))


def result_of(ending: Ending) -> dict[str, Any]:
    """The whole run."""
    rows = {row.key.step_id: row for row in ending.attempts}
    steps = [{**_step(step), **_outputs(rows.get(step.id))} for step in ending.progress.steps.values()]
    return {
        **_run(ending.progress),
        "interrupted": ending.interrupted,
        "database": ending.place.shown,
        "steps": steps,
    }


def _run(progress: Progress) -> dict[str, Any]:
    key = progress.key
    found = {
        "run": "/".join(map(str, key)),
        "workflow_id": key.workflow_id,
        "workflow_instance_id": key.instance_id,
        "workflow_run_id": key.run_id,
        "workflow_version_id": progress.version,
        "status": progress.status,
        "start_time": progress.began,
        "end_time": progress.ended,
    }
    return _known(found)


def _step(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {
        "step_id": step.id,
        "status": step.status,
        "step_attempt_id": step.attempt or None,
        "start_time": step.began,
        "end_time": step.ended,
        "reason": step.reason,
    }
    if step.loop is not None:
        found["iterations"] = _known(
            {"ended": step.loop.ended, "failed": step.loop.failed, "total": step.loop.total}
        )
    return _known(found)


def _outputs(row: AttemptRow | None) -> dict[str, Any]:
    """What the work of a step brought back."""
    params = {} if row is None else row.record.params or {}
    values = {
        name: param.evaluated_result
        for name, param in params.items()
        if param.source is ParamSource.OUTPUT_PARAMETER
    }
    return {"outputs": values} if values else {}


def _known(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}
