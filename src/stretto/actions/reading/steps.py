"""Steps and their attempts, for readers."""

from collections.abc import Mapping, Sequence

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_attempt, find_newest_attempt, find_run, step_in
from stretto.actions.parts.numbers import number_in
from stretto.actions.parts.offload import offload
from stretto.actions.reading.artifacts_view import STARTING_RUNS, Alive, artifacts_of, loops_of
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields, only, wants
from stretto.actions.reading.flows import LoadedRun, load_run
from stretto.actions.reading.lines import AttemptLine, attempt_line
from stretto.actions.reading.step_view import step_view
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import StepStatus
from stretto.model.step_instance import StepInstance
from stretto.ports.rows import AttemptRow
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
        return await _views(store, rows, enriched=False, fields=fields)
    row = await find_run(store, workflow_id, instance_id, run)
    return await views_in_run(store, await load_run(store, await definition_of(store, row), row), fields)


async def views_in_run(store: Store, loaded: LoadedRun, fields: Fields = None) -> list[StepInstance]:
    """The newest attempt of each step in a run."""
    runs = {loaded.state.row.key: loaded}
    return await _views_of(store, loaded.state.attempts, runs, enriched=False, fields=fields)


async def _views(
    store: Store, rows: list[AttemptRow], *, enriched: bool, fields: Fields
) -> list[StepInstance]:
    """Each with its run, which is loaded once for all of them."""
    runs = {run: await _loaded(store, run) for run in dict.fromkeys(row.key.run for row in rows)}
    return await _views_of(store, rows, runs, enriched=enriched, fields=fields)


async def _loaded(store: Store, key: RunKey) -> LoadedRun:
    row = await store.run(key)
    assert row is not None  # noqa: S101 - an attempt is deleted with its run
    return await load_run(store, await definition_of(store, row), row)


async def _views_of(
    store: Store,
    rows: Sequence[AttemptRow],
    runs: Mapping[RunKey, LoadedRun],
    *,
    enriched: bool,
    fields: Fields,
) -> list[StepInstance]:
    views = await offload(
        len(rows), lambda: [step_view(row, runs[row.key.run], enriched=enriched) for row in rows]
    )
    if wants(fields, "artifacts"):
        starting = [
            each for each in zip(rows, views, strict=True) if isinstance(each[1].definition, STARTING_RUNS)
        ]
        loops = await loops_of(store, (view for _row, view in starting), runs)
        alive = Alive(store)
        for row, view in starting:
            view.artifacts = await artifacts_of(store, row, view.definition, runs[row.key.run], loops, alive)
    return await offload(len(rows), lambda: [only(view, fields) for view in views])
