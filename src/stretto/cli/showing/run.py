"""A run for people."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from stretto.cli import style
from stretto.cli.address import readable, run_text
from stretto.cli.running.progress import kind_text
from stretto.cli.showing.loops import LoopSight, given_params, loop_text
from stretto.cli.showing.parts import param_lines, timeline_lines, titled, value_text
from stretto.definition.required import result_place_of
from stretto.engine.inline_ids import readable_path
from stretto.engine.records import RunKey
from stretto.model.initiator import Initiator, ManualInitiator, SubworkflowInitiator, TimeInitiator
from stretto.model.instance import WorkflowInstance
from stretto.model.param import Parameter
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.model.step_instance import StepInstance
from stretto.model.timeline import LogEvent, LogLevel
from stretto.model.workflow import WorkflowVersion
from stretto.node.clock import SystemClock

WIDEST_RESULT: Final = 1_000  # characters of a result in a file or a pipe
WIDEST: Final = 80  # characters of a reason in a file or a pipe
INDENT: Final = 2  # cells before each line below a title


class RunSight(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is shown of a run. `name`: the path to it, if it is an iteration or a child."""

    key: RunKey
    name: str | None
    run: WorkflowInstance
    steps: Sequence[StepInstance]
    loops: Sequence[LoopSight]
    result: Parameter | None = None  # the value of a workflow function that has returned


def result_in(version: WorkflowVersion | None, steps: Iterable[StepInstance]) -> Parameter | None:
    """The value that a run of this version has left, if it is one of a workflow function."""
    metadata = None if version is None else version.metadata
    place = None if metadata is None else result_place_of(metadata.extra)
    if place is None:
        return None
    return next(((each.params or {}).get(place.param) for each in steps if each.step_id == place.step), None)


def run_lines(sight: RunSight, again: Callable[..., str]) -> list[str]:
    """Head, parameters, steps, timeline. `again` makes a command that comes to the same place."""
    workflow = sight.run.runtime_workflow
    declared = {} if workflow is None else workflow.params or {}
    given = {**declared, **given_params(sight.run)}
    params = {name: param for name, param in (sight.run.params or {}).items() if name in given}
    return [
        *_head(sight, again),
        *titled("Parameters", param_lines(params)),
        *titled("Steps", _steps(sight)),
        *titled("Result", _result(sight)),
        *titled("Timeline", timeline_lines(sight.run.timeline)),
    ]


def _result(sight: RunSight) -> Iterator[str]:
    if sight.result is not None and sight.run.run_status is RunStatus.SUCCEEDED:
        yield style.cut(style.one_line(value_text(sight.result)), (style.columns() or WIDEST_RESULT) - INDENT)


def _head(sight: RunSight, again: Callable[..., str]) -> list[str]:
    run, name = sight.run, sight.name or run_text(sight.key)
    sign, colour = style.mark(run.run_status)
    began, ended = run.start_time, run.end_time
    took = "" if began is None else f" {style.duration((ended or SystemClock().now()) - began)}"
    made = f"version {run.workflow_version_id}, {_by(run.initiator, sight.key)}"
    at = "" if run.create_time is None else f", {style.date_time(run.create_time)}"
    head = [style.paint(f"{sign} {name} {run.run_status}{took}", colour, bold=True), f"  {made}{at}"]
    if run.quarantined is not None:
        head.append(style.paint(f"  quarantined: {run.quarantined}", "red"))
        release = again("quarantine", "release", "/".join(map(str, sight.key)))
        head.append(f"  `{release}` lets it go on")
    return head


def _by(initiator: Initiator | None, key: RunKey) -> str:
    """Who started it: a user, a trigger, or the step of another run."""
    if initiator is None or (isinstance(initiator, ManualInitiator) and initiator.user is None):
        return "started"
    if isinstance(initiator, ManualInitiator) and initiator.user is not None:
        return f"started by {initiator.user.name}"
    if isinstance(initiator, TimeInitiator) and initiator.trigger_time is not None:
        return f"started by its schedule for {style.date_time(initiator.trigger_time)}"
    if isinstance(initiator, SubworkflowInitiator):
        top = initiator.ancestors[0]
        above = run_text(RunKey(top.workflow_id, top.instance_id, top.run_id))
        return f"started by {above}:{readable_path(initiator.ancestors, key.workflow_id, key.instance_id)}"
    return f"started by {str(type(initiator).__struct_config__.tag).lower()}"


def _steps(sight: RunSight) -> Iterator[str]:
    """In the order of the definition, also those that were never made."""
    known = {step.step_id: step for step in sight.steps}
    loops = {loop.step_id: loop for loop in sight.loops}
    steps = () if sight.run.runtime_workflow is None else sight.run.runtime_workflow.steps
    longest = max((style.width_of(step.id) for step in steps), default=0)
    kinds = max((style.width_of(kind_text(step)) for step in steps), default=0)
    for step in steps:
        yield _step(step, known.get(step.id), loops.get(step.id), longest, kinds)


def _step(step: AnyStep, made: StepInstance | None, loop: LoopSight | None, longest: int, kinds: int) -> str:
    state = None if made is None else made.runtime_state
    status = StepStatus.NOT_CREATED if state is None else state.status
    sign, colour = style.mark(status)
    took, notes = "", []
    if state is not None and state.start_time is not None:
        took = style.duration((state.end_time or SystemClock().now()) - state.start_time)
    if status is not StepStatus.SUCCEEDED:
        notes.append(status.value)
    if loop is not None:
        notes.append(loop_text(loop))
    if made is not None and made.step_attempt_id > 1:
        notes.append(f"attempt {made.step_attempt_id}")
    reason = readable(reason_of(made) or "")
    name, kind = style.padded(step.id, longest), style.padded(kind_text(step), kinds)
    room = style.columns()
    why = (
        f": {style.one_line(reason) if room else style.cut(style.one_line(reason), WIDEST)}" if reason else ""
    )
    said = f"  {', '.join(notes)}{why}" if notes or why else ""
    text = f" {name}  {kind}  {took:>6}"
    if room is not None:
        left = max(style.NARROWEST, room - INDENT - 1) - style.width_of(text)
        said = style.cut(said, left) if left > 0 else ""
    return f"{style.paint(sign, colour)}{text}{style.paint(said, colour) if said else ''}"


def reason_of(made: StepInstance | None) -> str | None:
    """The last error on its timeline, if it did not end well, also where the failure is ignored or handled. A
    step that has not ended also says what it waits for: a warning after which nothing else was said.
    """
    if made is None:
        return None
    status = made.runtime_state.status
    if status.is_complete and status is not StepStatus.COMPLETED_WITH_ERROR:
        return None
    said = [event for event in made.timeline if isinstance(event, LogEvent)]
    if said and said[-1].level is LogLevel.WARN and not made.runtime_state.status.is_terminal:
        return said[-1].message
    errors = [event for event in said if event.level is LogLevel.ERROR]
    if status is StepStatus.COMPLETED_WITH_ERROR:
        errors = errors or said  # an error that the run goes on after is told as a note
    return errors[-1].message if errors else None
