"""A step of a run for people."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from stretto.actions.reading.lines import AttemptLine
from stretto.cli import style
from stretto.cli.address import run_text
from stretto.cli.running.progress import kind_text
from stretto.cli.showing.loops import LoopSight, loop_text
from stretto.cli.showing.parts import param_lines, timeline_lines, titled
from stretto.engine.records import RunKey
from stretto.model.artifact import ArtifactKey, DefaultArtifact, SubworkflowArtifact
from stretto.model.step_instance import StepInstance
from stretto.model.timeline import StatusEvent
from stretto.node.clock import SystemClock
from stretto.runtimes.outputs import ARTIFACT


class StepSight(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is shown of a step: one attempt, the list of all, and how far a loop is."""

    name: str
    step: StepInstance
    attempts: Sequence[AttemptLine]
    loops: Sequence[LoopSight] = ()  # the step itself, if it is one
    whole: bool = False  # with every status on its timeline


def step_lines(sight: StepSight) -> list[str]:
    """Head, iterations, parameters, attempts, outputs, timeline."""
    step = sight.step
    timeline = [each for each in step.timeline if sight.whole or not isinstance(each, StatusEvent)]
    return [
        *_head(sight),
        *titled("Iterations", map(loop_text, sight.loops)),
        *titled("Parameters", param_lines(step.params)),
        *titled("Attempts", _attempts(sight.attempts) if len(sight.attempts) > 1 else ()),
        *_outputs(step),
        *titled("Timeline", timeline_lines(timeline)),
    ]


def _head(sight: StepSight) -> list[str]:
    step, state = sight.step, sight.step.runtime_state
    sign, colour = style.mark(state.status)
    began = state.start_time
    took = "" if began is None else f" {style.duration((state.end_time or SystemClock().now()) - began)}"
    kind = "" if step.definition is None else f"{kind_text(step.definition)}, "
    attempt = f"attempt {step.step_attempt_id} of {len(sight.attempts)}"
    at = "" if began is None else f", {style.date_time(began)}"
    return [
        style.paint(f"{sign} {sight.name} {state.status}{took}", colour, bold=True),
        f"  {kind}version {step.workflow_version_id}, {attempt}{at}",
        *_child(step),
    ]


def _child(step: StepInstance) -> Iterator[str]:
    """The run that a subworkflow step started."""
    found = step.artifacts.get(ArtifactKey.SUBWORKFLOW)
    if isinstance(found, SubworkflowArtifact) and found.subworkflow_instance_id:
        key = RunKey(found.subworkflow_id, found.subworkflow_instance_id, found.subworkflow_run_id)
        yield f"  subworkflow run {run_text(key)}"


def _attempts(attempts: Sequence[AttemptLine]) -> Iterator[str]:
    for each in attempts:
        took = (
            ""
            if each.start_time is None or each.end_time is None
            else style.duration(each.end_time - each.start_time)
        )
        reason = "" if not each.reason else f"  {style.cut(style.one_line(each.reason), 80)}"
        yield f"{each.step_attempt_id}  {each.status}  {took:>6}{reason}"


def _outputs(step: StepInstance) -> Iterator[str]:
    """What a command printed."""
    artifact = step.artifacts.get(ARTIFACT)
    if not isinstance(artifact, DefaultArtifact):
        return
    for name in ("stdout", "stderr"):
        text: Any = artifact.data.get(name)
        size: Any = artifact.data.get(f"{name}_bytes")
        if isinstance(text, str) and text:
            kept = len(text.encode())
            part = "" if size is None or size <= kept else f" (the last {kept} of {size} bytes)"
            yield from titled(f"{name}{part}", map(style.printable, text.rstrip("\n").split("\n")))
