"""Steps and their attempts, for readers."""

from collections.abc import Mapping, Sequence

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import (
    LATEST,
    find_newest_attempt,
    find_run,
    find_run_snapshot,
    step_in,
)
from stretto.actions.parts.near_workflows import why_no_run
from stretto.actions.parts.numbers import number_in
from stretto.actions.parts.offload import free, offload
from stretto.actions.reading.aggregation import KnownInstances, runs_below
from stretto.actions.reading.artifacts_view import STARTING_RUNS, Below
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields, only, wants
from stretto.actions.reading.flows import LoadedRun, load_run
from stretto.actions.reading.lines import AttemptLine, attempt_line
from stretto.actions.reading.step_view import step_view
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.model.step_instance import StepInstance
from stretto.ports.history import AttemptsOfStep
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import (
    NamedRuns,
    NewestAttempts,
    NewestRun,
    RunDetail,
    RunSnapshot,
    read_attempt,
)
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
    newest = await find_newest_attempt(store, workflow_id, instance_id, step_id)
    snapshot = await store.read_runs(NamedRuns((newest.key.run,)), RunDetail(below=(step_id,)))
    for row in snapshot.page.elements:
        loaded = await _loaded(snapshot, row)
        found = next((each for each in loaded.state.attempts if each.key.step_id == step_id), None)
        if found is not None:
            view = await _view(store, snapshot, loaded, found, enriched=enriched, fields=fields)
            del loaded
            await free(snapshot.drain())
            return view
    raise NotFound(f"Cannot find step instance [{workflow_id}][{instance_id}][{step_id}]")  # just deleted


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
    number = _number_of(attempt)
    run_row = await find_run(store, workflow_id, instance_id, run)
    named = () if number is None else (AttemptKey(run_row.key, step_id, number),)
    detail = RunDetail(attempts=named, below=(step_id,))
    snapshot = await store.read_runs(NamedRuns((run_row.key,)), detail)
    for row in snapshot.page.elements:
        loaded = await _loaded(snapshot, row)
        newest = (each for each in loaded.state.attempts if each.key.step_id == step_id)
        found = await read_attempt(snapshot, named[0]) if named else next(newest, None)
        if found is not None:
            view = await _view(store, snapshot, loaded, found, enriched=enriched, fields=fields)
            del loaded
            await free(snapshot.drain())
            return view
    missing = named[0] if named else f"{run_row.key}[{step_id}]"
    raise NotFound(
        f"Cannot find step attempt {missing}" if named else f"Cannot find a step attempt {missing}",
        hint=await why_no_run(store, workflow_id),
    )


def _number_of(attempt: str) -> int | None:
    """None: the latest."""
    text = attempt.strip().lower()
    if text == LATEST:
        return None
    number = number_in(text)
    if number is None:
        raise InvalidRequest(f"Invalid attempt [{attempt}]", hint="write latest or a number")
    return number


async def list_attempts(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str, step_id: str
) -> list[AttemptLine]:
    """All attempts of a step in a run, by number: how each ended, and where."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    found = await store.attempts(AttemptsOfStep(row.key, step_id))
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
        return await _over_runs(store, workflow_id, instance_id, fields)
    snapshot, row = await find_run_snapshot(store, workflow_id, instance_id, run, RunDetail(below=None))
    views = await views_in_run(store, snapshot, await _loaded(snapshot, row), fields)
    await free(snapshot.drain())
    return views


async def views_in_run(
    store: Store, snapshot: RunSnapshot, loaded: LoadedRun, fields: Fields = None
) -> list[StepInstance]:
    """The newest attempt of each step in a run."""
    runs = {loaded.state.row.key: loaded}
    return await _views_of(store, snapshot, loaded.state.attempts, runs, enriched=False, fields=fields)


async def _over_runs(store: Store, workflow_id: str, instance_id: int, fields: Fields) -> list[StepInstance]:
    """The newest attempt of each step in the newest run that has it, by sequence."""
    detail = RunDetail(below=None, over_runs=True)
    snapshot = await store.read_runs(NewestRun(workflow_id, instance_id), detail)
    runs: dict[RunKey, LoadedRun] = {}
    found: dict[str, AttemptRow] = {}
    known = KnownInstances()
    for newest in snapshot.page.elements:
        for row in (
            newest,
            *reversed(await runs_below(snapshot, workflow_id, instance_id, newest.key.run_id)),
        ):
            shown = [
                each
                for each in await snapshot.attempts(NewestAttempts((row.key,)))
                if each.key.step_id not in found
            ]
            if shown:
                runs[row.key] = await _loaded(snapshot, row, known)
                found.update((each.key.step_id, each) for each in shown)
    rows = sorted(found.values(), key=lambda each: (each.record.sequence, each.key.step_id))
    return await _views_of(store, snapshot, rows, runs, enriched=False, fields=fields)


async def _loaded(snapshot: RunSnapshot, row: RunRow, known: KnownInstances | None = None) -> LoadedRun:
    return await load_run(snapshot, await definition_of(snapshot, row), row, known)


async def _view(
    store: Store,
    snapshot: RunSnapshot,
    loaded: LoadedRun,
    row: AttemptRow,
    *,
    enriched: bool,
    fields: Fields,
) -> StepInstance:
    runs = {row.key.run: loaded}
    (view,) = await _views_of(store, snapshot, [row], runs, enriched=enriched, fields=fields)
    return view


async def _views_of(
    store: Store,
    snapshot: RunSnapshot,
    rows: Sequence[AttemptRow],
    runs: Mapping[RunKey, LoadedRun],
    *,
    enriched: bool,
    fields: Fields,
) -> list[StepInstance]:
    """These attempts of runs that were loaded once for all of them."""

    def make() -> tuple[list[StepInstance], list[tuple[AttemptRow, StepInstance, AnyStep]]]:
        views = [step_view(row, runs[row.key.run], enriched=enriched) for row in rows]
        starting: list[tuple[AttemptRow, StepInstance, AnyStep]] = [
            (row, view, view.definition)
            for row, view in zip(rows, views, strict=True)
            if isinstance(view.definition, STARTING_RUNS)
        ]
        return views, starting

    views, starting = await offload(len(rows), make)
    if wants(fields, "artifacts"):
        below = Below(store, snapshot)
        for row, view, definition in starting:
            view.artifacts = await below.artifacts_of(row, definition, runs[row.key.run])
    if fields is None:
        return views
    return await offload(len(rows), lambda: [only(view, fields) for view in views])
