"""A run for people."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from stretto.cli import style
from stretto.cli.address import run_text
from stretto.cli.running.progress import kind_text
from stretto.cli.showing.parts import param_lines, timeline_lines, titled
from stretto.engine.records import RunKey
from stretto.model.initiator import Initiator, ManualInitiator
from stretto.model.instance import WorkflowInstance
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.model.step_instance import StepInstance
from stretto.model.timeline import LogEvent, LogLevel
from stretto.node.clock import SystemClock
from stretto.ports.paging import Cut
from stretto.ports.store import Store

SOME: Final = 5  # iterations that are named
BAD: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.STOPPED)


class LoopSight(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of a run: how many iterations, and some that ended badly."""

    step_id: str
    total: int | None
    bad: tuple[int, ...] = ()


class RunSight(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is shown of a run. `name`: the path to it, if it is an iteration or a child."""

    key: RunKey
    name: str | None
    run: WorkflowInstance
    steps: Sequence[StepInstance]
    loops: Sequence[LoopSight]


async def loops_of(store: Store, key: RunKey) -> list[LoopSight]:
    """The loops of a run, each once."""
    found: dict[str, LoopSight] = {}
    for loop in await store.loops(key):
        bad = await store.instances(loop.inline_id, Cut(most=SOME), BAD)
        numbers = tuple(sorted(row.key.instance_id for row in bad.elements))
        found[loop.key.step_id] = LoopSight(step_id=loop.key.step_id, total=loop.total, bad=numbers)
    return list(found.values())


def run_lines(sight: RunSight) -> list[str]:
    """Head, parameters, steps, timeline."""
    workflow = sight.run.runtime_workflow
    declared = {} if workflow is None else workflow.params or {}
    given = {**declared, **(sight.run.run_params or {})}  # those of an iteration are given by its loop
    params = {name: param for name, param in sight.run.params.items() if name in given}
    return [
        *_head(sight),
        *titled("Parameters", param_lines(params)),
        *titled("Steps", _steps(sight)),
        *titled("Timeline", timeline_lines(sight.run.timeline)),
    ]


def _head(sight: RunSight) -> list[str]:
    run, name = sight.run, sight.name or run_text(sight.key)
    sign, colour = style.mark(run.run_status)
    began, ended = run.start_time, run.end_time
    took = "" if began is None else f" {style.duration((ended or SystemClock().now()) - began)}"
    made = f"version {run.workflow_version_id}, {_by(run.initiator)}"
    at = "" if run.create_time is None else f", {style.date_time(run.create_time)}"
    return [style.paint(f"{sign} {name} {run.run_status}{took}", colour, bold=True), f"  {made}{at}"]


def _by(initiator: Initiator | None) -> str:
    """Who started it."""
    if initiator is None or (isinstance(initiator, ManualInitiator) and initiator.user is None):
        return "started"
    if isinstance(initiator, ManualInitiator) and initiator.user is not None:
        return f"started by {initiator.user.name}"
    return f"started by {str(type(initiator).__struct_config__.tag).lower()}"


def _steps(sight: RunSight) -> Iterator[str]:
    """In the order of the definition, also those that were never made."""
    known = {step.step_id: step for step in sight.steps}
    loops = {loop.step_id: loop for loop in sight.loops}
    steps = () if sight.run.runtime_workflow is None else sight.run.runtime_workflow.steps
    longest = max((len(step.id) for step in steps), default=0)
    kinds = max((len(kind_text(step)) for step in steps), default=0)
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
        notes.append(_loop(loop))
    if made is not None and made.step_attempt_id > 1:
        notes.append(f"attempt {made.step_attempt_id}")
    reason = reason_of(made)
    text = f"{style.paint(sign, colour)} {step.id:{longest}}  {kind_text(step):{kinds}}  {took:>6}"
    said = ", ".join(notes) + (f": {style.cut(style.one_line(reason), 80)}" if reason else "")
    return f"{text}  {style.paint(said, colour)}" if said else text


def reason_of(made: StepInstance | None) -> str | None:
    """The last error on its timeline, if it did not end well."""
    if made is None or made.runtime_state.status.is_complete:
        return None
    errors = [
        event for event in made.timeline if isinstance(event, LogEvent) and event.level is LogLevel.ERROR
    ]
    return errors[-1].message if errors else None


def _loop(loop: LoopSight) -> str:
    count = "iterations" if loop.total is None else f"{loop.total} iterations"
    if not loop.bad:
        return count
    return f"{count}, not well: {', '.join(f'{loop.step_id}[{number}]' for number in loop.bad)}"
