"""Stop, kill, hold or let go some steps of a run, or those of a stage, while the others go on."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_newest_run, step_in
from stretto.actions.parts.latest_run import answer_of, state_of
from stretto.actions.parts.messages import Patience, act_on, ask_owner
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.engine.events import RunActed, RunAction
from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.response import InstanceActionResponse
from stretto.model.workflow import Workflow
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import Phase, RunRow
from stretto.ports.store import Store

LASTING: Final = (RunAction.STOP, RunAction.KILL)  # they are carried out even if nobody waits for them


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps of a run: by name, or all of a stage. Steps inside a loop belong to its iterations."""

    steps: tuple[str, ...] = ()
    stage: str | None = None


async def stop_steps(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    chosen: Chosen,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """They end STOPPED, after their work has ended; those that have not begun never will, in this run."""
    return await _act(store, caller, (workflow_id, instance_id), chosen, RunAction.STOP, (patience, hints))


async def kill_steps(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    chosen: Chosen,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """As `stop_steps`, but they end FATALLY_FAILED; their failure modes say what that means."""
    return await _act(store, caller, (workflow_id, instance_id), chosen, RunAction.KILL, (patience, hints))


async def pause_steps(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    chosen: Chosen,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """They do not begin, for the first time or again, until they are let go; what runs goes on to its end."""
    return await _act(store, caller, (workflow_id, instance_id), chosen, RunAction.PAUSE, (patience, hints))


async def resume_steps(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    chosen: Chosen,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """Those that were held begin."""
    return await _act(store, caller, (workflow_id, instance_id), chosen, RunAction.RESUME, (patience, hints))


async def _act(
    store: Store,
    caller: Caller,
    instance: tuple[str, int],
    chosen: Chosen,
    action: RunAction,
    sending: tuple[Patience | None, Hints],
) -> InstanceActionResponse:
    await check_access(store, caller, Right.RUN, instance[0])
    row = await find_newest_run(store, *instance)
    verb = action.value.lower()
    if row.record.status.is_terminal:
        raise WrongState(f"Cannot {verb} steps of run {row.key}: it has ended {row.record.status}")
    if row.phase is Phase.QUEUED:
        raise WrongState(f"Cannot {verb} steps of run {row.key}: it has not begun")
    steps = await _steps_of(store, row, chosen)
    what = f"steps [{', '.join(steps)}]" if chosen.stage is None else f"stage [{chosen.stage}]"
    info = f"User [{caller.name}] asked to {verb} {what} of run {row.key}"
    event = RunActed(run=row.key, action=action, user=caller.name, reason=info, steps=steps)
    patience, hints = sending
    letter = act_on(row.group, event)
    await ask_owner(store, letter, patience, lasting=action in LASTING, hints=hints)
    return answer_of(state_of(row), await store.now(), info)


async def _steps_of(store: Store, row: RunRow, chosen: Chosen) -> tuple[str, ...]:
    """The names of the steps, all of which are part of the run."""
    if bool(chosen.steps) is (chosen.stage is not None):
        raise InvalidRequest(f"Say which steps of run {row.key}: by their names, or by the name of a stage")
    workflow = await definition_of(store, row)
    covered = (await aggregate(store, workflow, row)).dag
    if chosen.stage is not None:
        return _of_stage(row, workflow, chosen.stage, tuple(covered))
    unknown = [step_id for step_id in chosen.steps if step_id not in covered]
    if unknown:
        inside = step_in(workflow.steps, unknown[0]) is not None
        at_top = any(step.id == unknown[0] for step in workflow.steps)
        hint = f"its steps are {', '.join(covered)}"
        if at_top:
            hint = "it is a restart that does not cover it"
        elif inside:
            hint = "it is inside a loop: name an iteration of that loop"
        raise NotFound(f"Run {row.key} has no step [{', '.join(unknown)}]", hint=hint)
    return chosen.steps


def _of_stage(row: RunRow, workflow: Workflow, stage: str, covered: tuple[str, ...]) -> tuple[str, ...]:
    stages = list(dict.fromkeys(step.stage for step in workflow.steps if step.stage is not None))
    if stage not in stages:
        hint = f"its stages are {', '.join(stages)}" if stages else "its workflow has no stages"
        raise NotFound(f"Run {row.key} has no stage [{stage}]", hint=hint)
    found = tuple(step.id for step in workflow.steps if step.stage == stage and step.id in covered)
    if not found:
        raise WrongState(f"Run {row.key} is a restart that covers no step of the stage [{stage}]")
    return found
