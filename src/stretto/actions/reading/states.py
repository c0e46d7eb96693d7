"""The state of a run as live views read it: columns, by the places of its steps in the graph."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_run, find_workflow
from stretto.actions.parts.offload import offload
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.graph_view import GraphView, graph_of
from stretto.actions.reading.run_steps import (
    RunSteps,
    code_of,
    needs_earlier,
    runs_up_to,
    steps_in_instance,
    steps_in_run,
)
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import LoopRecord, RunKey, RunRecord
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.status import RunStatus
from stretto.model.status_codes import STEP_CODES, run_counts, step_counts
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.words import Word
from stretto.model.workflow import Workflow
from stretto.ports.events import Cursor, Trimmed
from stretto.ports.rows import RunRow, StepState
from stretto.ports.run_snapshot import NamedRuns
from stretto.ports.store import Store
from stretto.ports.views import StepMark

UNKNOWN: Final = -1
CODES: Final = {status.value: code for status, code in STEP_CODES.items()}
MOST_COMMITS: Final = 200  # that are looked through for changes; behind more of them all is told anew


class Scope(Word):
    """Which steps a state is about."""

    RUN = "run"  # what this run made of them
    AGGREGATED = "aggregated"  # the newest state of each, over all runs up to this one


class Children(msgspec.Struct, frozen=True, kw_only=True):
    """What loops and subworkflows have below them, in columns.

    places   Of the steps.
    refs     Of a loop: the inline workflow of its iterations; of a subworkflow: `workflow/instance/run`.
    totals   How many iterations a loop has; -1: that is not known, or it is a subworkflow.
    counts   By letter: how the iterations ended that have, or where the steps of the subworkflow stand.
    """

    places: tuple[int, ...] = ()
    refs: tuple[str, ...] = ()
    totals: tuple[int, ...] = ()
    counts: tuple[dict[str, int], ...] = ()


class AddedSteps(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that a step brought along while it ran, and where they stand, by their places in that graph."""

    place: int
    graph: GraphView
    codes: str


class StateView(msgspec.Struct, frozen=True, kw_only=True):
    """Where the steps of a run stand. The first columns of its version's graph are those of its own steps.

    places      Of the steps that are told here; none: all, in their order.
    codes       A letter for each; `-`: the run does not cover it.
    starts      Milliseconds from `origin` on; -1: it has not begun.
    durations   Milliseconds; -1: it has not ended, or never began.
    attempts    Numbers; 0: there is none.
    runs        With `scope=aggregated`: the run of each attempt; 0: there is none.
    """

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    workflow_version_id: int
    status: RunStatus
    create_time: int
    start_time: int | None = None
    end_time: int | None = None
    origin: int
    places: tuple[int, ...] | None = None
    codes: str
    starts: tuple[int, ...]
    durations: tuple[int, ...]
    attempts: tuple[int, ...]
    runs: tuple[int, ...] | None = None
    children: Children
    added: tuple[AddedSteps, ...]


async def get_state(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str,
    *,
    scope: Scope = Scope.RUN,
    since: Cursor | None = None,
) -> StateView:
    """The state of a run; `since`: of the steps that have changed behind that place of the change log."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    workflow = await definition_of(store, row)
    over_all = scope is Scope.AGGREGATED
    changed = None if since is None else await _changed(store, row, since, over_all=over_all)
    steps, first = await _seen(store, row, workflow, over_all=over_all)
    places = _places(workflow.steps, steps, changed)
    ids = [workflow.steps[place].id for place in places]
    origin = first.create_time if first.start_time is None else first.start_time
    codes, starts, durations, attempts = await offload(len(ids), _columns, ids, steps, origin)
    told = [place for place in places if workflow.steps[place].id in steps.below] if steps.below else []
    below = [_Below(place, workflow.steps[place], steps.below[workflow.steps[place].id]) for place in told]
    return StateView(
        workflow_id=workflow_id,
        workflow_instance_id=instance_id,
        workflow_run_id=row.key.run_id,
        workflow_version_id=row.record.version_id,
        status=row.record.status,
        create_time=row.record.create_time,
        start_time=row.record.start_time,
        end_time=row.record.end_time,
        origin=origin,
        places=None if changed is None else tuple(places),
        codes=codes,
        starts=starts,
        durations=durations,
        attempts=attempts,
        runs=None if steps.runs is None else tuple(steps.runs.get(step_id, 0) for step_id in ids),
        children=await _children(store, row, below),
        added=await _added(store, below),
    )


class _Seen(NamedTuple):
    """The newest attempts, more of those that have something below them, and which steps are covered."""

    newest: Mapping[str, StepMark]
    below: Mapping[str, StepState]
    covered: Collection[str] | None
    runs: Mapping[str, int] | None = None  # of the attempts, if they are of several


class _Below(NamedTuple):
    place: int
    step: AnyStep
    state: StepState


async def _seen(store: Store, row: RunRow, workflow: Workflow, *, over_all: bool) -> tuple[_Seen, RunRecord]:
    """The steps, and the record of the run from whose begin times are counted."""
    if not over_all and not needs_earlier(row):
        return _Seen(*await store.step_marks(row.key), row.record.covers), row.record
    runs = await runs_up_to(store, row)
    states = await store.step_states([each.key for each in runs])
    fold = steps_in_instance if over_all else steps_in_run
    steps = await offload(len(workflow.steps), fold, workflow, runs, states)
    newest = {step_id: _mark(state) for step_id, state in steps.states.items()}
    below = {
        step_id: state for step_id, state in steps.states.items() if state.is_loop or state.child is not None
    }
    of_runs = {step_id: state.key.run.run_id for step_id, state in steps.states.items()}
    first = (runs[0] if over_all else row).record
    return _Seen(newest, below, steps.covered, of_runs if over_all else None), first


def _mark(state: StepState) -> StepMark:
    return state.key.step_id, state.key.number, state.status.value, state.start_time, state.end_time, None


def _places(steps: Sequence[AnyStep], known: _Seen, changed: Collection[str] | None) -> Sequence[int]:
    """Of the steps that are told. What is below a step goes on without a word of the step itself: one that
    has not ended is always told.
    """
    if changed is None:
        return range(len(steps))
    going = {step_id for step_id, state in known.below.items() if not state.status.is_terminal}
    return [place for place, step in enumerate(steps) if step.id in changed or step.id in going]


def _columns(
    ids: Sequence[str], known: _Seen, origin: int
) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Codes, starts, durations and attempts: in one go, as there may be thousands."""
    codes: list[str] = []
    starts: list[int] = []
    durations: list[int] = []
    attempts: list[int] = []
    for step_id in ids:
        mark = known.newest.get(step_id)
        if mark is None:
            codes.append(code_of(step_id, None, known.covered))
            number, start, end = 0, None, None
        else:
            _id, number, status, start, end, _child = mark
            codes.append(CODES[status])
        attempts.append(number)
        starts.append(UNKNOWN if start is None else max(start - origin, 0))
        durations.append(UNKNOWN if start is None or end is None else max(end - start, 0))
    return "".join(codes), tuple(starts), tuple(durations), tuple(attempts)


# ---------------------------------------------------------------------------------------------------- changes
async def _changed(store: Store, row: RunRow, since: Cursor, *, over_all: bool) -> Collection[str] | None:
    """The steps that have changed; None: all must be told, as nobody knows, or as the run has begun anew."""
    try:
        commits = await store.read_log({row.group: since.get(row.group, 0)}, most=MOST_COMMITS)
    except Trimmed:
        return None
    if len(commits) >= MOST_COMMITS:
        return None
    events = [event for commit in commits for event in commit.events if _is_about(event, row.key)]
    if over_all and any(isinstance(event, InstanceStatusChanged) for event in events):
        return None
    return {event.step_id for event in events if isinstance(event, StepStatusChanged)}


def _is_about(event: ChangeEvent, run: RunKey) -> bool:
    return isinstance(event, StepStatusChanged | InstanceStatusChanged) and run == (
        event.workflow_id,
        event.workflow_instance_id,
        event.workflow_run_id,
    )


# ---------------------------------------------------------------------------------------------- what is below
async def _children(store: Store, row: RunRow, found: Sequence[_Below]) -> Children:
    below = [
        each
        for each in found
        if each.state.child is not None or isinstance(each.step, ForeachStep | WhileStep)
    ]
    if not below:
        return Children()
    started = NamedRuns(tuple(state.child for _place, _step, state in below if state.child is not None))
    runs = {each.key: each for each in (await store.glances(started)).elements}
    internal_id = (await find_workflow(store, row.root.workflow_id)).internal_id
    return Children(
        places=tuple(place for place, _step, _state in below),
        refs=tuple(_ref(row, step, state, internal_id) for _place, step, state in below),
        totals=tuple(UNKNOWN if state.total is None else state.total for _place, _step, state in below),
        counts=tuple(
            run_counts(state.ended)
            if state.child is None
            else step_counts(runs[state.child].counts if state.child in runs else {})
            for _place, _step, state in below
        ),
    )


def _ref(row: RunRow, step: AnyStep, state: StepState, internal_id: int) -> str:
    if state.child is not None:
        return "/".join(map(str, state.child))
    loop = Loop.FOREACH if isinstance(step, ForeachStep) else Loop.WHILE
    key = row.key
    return inline_workflow_id(
        loop, internal_id, key.workflow_id, key.instance_id, step.id, row.root.instance_id
    )


async def _added(store: Store, below: Sequence[_Below]) -> tuple[AddedSteps, ...]:
    """Steps of templates, and those that the work of a step asked for. Few steps have some: only for these a
    record is read.
    """
    batches = {
        state.key: place
        for place, step, state in below
        if state.is_loop and not isinstance(step, ForeachStep | WhileStep)
    }
    found: list[LoopRecord] = []
    for run in sorted({key.run for key in batches}):
        found += [each for each in await store.loops(run) if each.key in batches]
    runs = {each.key: RunKey(each.inline_id, 1, each.run_id) for each in found}
    states = await store.step_states(runs.values()) if runs else {}
    return tuple(_batch(batches[each.key], each, states.get(runs[each.key], ())) for each in found)


def _batch(place: int, loop: LoopRecord, states: Sequence[StepState]) -> AddedSteps:
    inside: Mapping[str, StepState] = {each.key.step_id: each for each in states}
    known = RunSteps(states=inside)
    graph = graph_of(Workflow(id=loop.inline_id, steps=loop.steps))
    return AddedSteps(place=place, graph=graph, codes="".join(known.code(step.id) for step in loop.steps))
