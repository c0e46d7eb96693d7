"""Steps and their attempts, for readers."""

from collections.abc import Mapping

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_attempt, find_newest_attempt, find_run, step_in
from stretto.actions.parts.numbers import number_in
from stretto.actions.reading.aggregation import RunInInstance, aggregate
from stretto.actions.reading.artifacts_view import artifacts_of
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields, only, wants
from stretto.actions.reading.lines import AttemptLine, attempt_line
from stretto.actions.reading.step_view import step_view
from stretto.engine.records import AttemptKey
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import StepStatus
from stretto.model.step_instance import StepInstance
from stretto.model.workflow import Workflow
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store


def step_action_map() -> Mapping[StepStatus, tuple[StepAction, ...]]:
    """What a user can do to a step in which status."""
    return STEP_ACTIONS


async def get_step(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    *,
    enriched: bool = True,
    fields: Fields = None,
) -> StepInstance:
    """The newest attempt of a step, in the newest run that has it."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_newest_attempt(store, workflow_id, instance_id, step_id)
    (view,) = await _views(store, [row], enriched=enriched, fields=fields)
    return view


async def get_attempt(  # noqa: PLR0913 - it takes five to name an attempt
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str,
    step_id: str,
    attempt: str,
    *,
    enriched: bool = True,
    fields: Fields = None,
) -> StepInstance:
    """One attempt: a number, or `latest`."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    run_row = await find_run(store, workflow_id, instance_id, run)
    text = attempt.strip().lower()
    if text == "latest":
        rows = await store.attempts(run_row.key, step_id)
        if not rows:
            raise NotFound(f"Cannot find a step attempt {run_row.key}[{step_id}]")
        row = rows[-1]
    elif (number := number_in(text)) is not None:
        row = await find_attempt(store, AttemptKey(run_row.key, step_id, number))
    else:
        raise InvalidRequest(f"Invalid attempt [{attempt}]", hint="write latest or a number")
    (view,) = await _views(store, [row], enriched=enriched, fields=fields)
    return view


async def list_attempts(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str, step_id: str
) -> list[AttemptLine]:
    """All attempts of a step in a run, by number: how each ended, and where."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    found = await store.attempts(row.key, step_id)
    if not found and step_in((await definition_of(store, row)).steps, step_id) is None:
        raise NotFound(f"Run {row.key} has no step [{step_id}]")
    return [attempt_line(each) for each in found]


async def list_steps(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str | None = None,
    *,
    fields: Fields = None,
) -> list[StepInstance]:
    """The newest attempt of each step: over all runs of the instance, or in one of them."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    if run is None:
        rows = await store.newest_in_instance(workflow_id, instance_id)
    else:
        rows = await store.newest_attempts((await find_run(store, workflow_id, instance_id, run)).key)
    return await _views(store, rows, enriched=False, fields=fields)


async def _views(
    store: Store, rows: list[AttemptRow], *, enriched: bool, fields: Fields
) -> list[StepInstance]:
    """Each with its run, which is folded once for all of them."""
    states: dict[int, tuple[RunInInstance, Workflow]] = {}
    views: list[StepInstance] = []
    for row in rows:
        run_id = row.key.run.run_id
        if run_id not in states:
            states[run_id] = await _state(store, await store.run(row.key.run))
        state, workflow = states[run_id]
        view = step_view(row, state, workflow, enriched=enriched)
        if wants(fields, "artifacts"):
            view.artifacts = await artifacts_of(store, row, view.definition, state, workflow)
        views.append(only(view, fields))
    return views


async def _state(store: Store, row: RunRow | None) -> tuple[RunInInstance, Workflow]:
    assert row is not None  # noqa: S101 - an attempt is deleted with its run
    workflow = await definition_of(store, row)
    return await aggregate(store, workflow, row), workflow
