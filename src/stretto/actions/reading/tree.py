"""The runs below a run: iterations of its loops, runs of its subworkflows, and what is below these.

They come one after another, each before what is below it. A cursor is the way to a run: the place of a step
and the number of its iteration, level by level.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_run, find_workflow
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.listing import Number, Sight, cursor_of, key_in
from stretto.actions.reading.paging import size_of, total_of
from stretto.actions.reading.run_steps import runs_up_to, steps_in_instance
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page, PageInfo
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus, StepStatus
from stretto.model.status_codes import step_counts
from stretto.model.step import AnyStep, ForeachStep, TemplateStep, WhileStep
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunGlance, StepState
from stretto.ports.run_snapshot import InstancePage, NamedRuns
from stretto.ports.store import Store

BATCH: Final = 50
MOST_LEVELS: Final = 10
SUBWORKFLOW: Final = "subworkflow"
ONLY: Final = 1  # the number of what is below a step but is not an iteration of a loop

Way = tuple[int, ...]


class TreeRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run below another one, and the step that started it.

    depth    1: right below it.
    path     As `resolve` reads it.
    kind     What the run is to the step: `foreach`, `while`, `template`, `substeps` or `subworkflow`.
    counts   How many of its steps stand where, by letter.
    """

    depth: int
    path: str
    step_id: str
    kind: str
    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    workflow_version_id: int
    status: RunStatus
    create_time: int
    start_time: int | None = None
    end_time: int | None = None
    counts: dict[str, int]


class _Found(NamedTuple):
    """A run on the way, and how we came there."""

    path: tuple[str, ...]
    step_id: str
    kind: str
    glance: RunGlance


class _Level(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and how its steps stand, in the newest run of its instance that has something to say of them."""

    run: RunKey
    steps: Sequence[AnyStep]
    states: Mapping[str, StepState]
    internal_id: int
    around: int  # the instance of the workflow that is no iteration


async def list_tree(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str,
    request: PageRequest,
    *,
    depth: int = 1,
) -> Page[TreeRun]:
    """A page of the runs below a run, as far down as `depth` says."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    most = size_of(request)
    if request.last is not None:
        raise InvalidRequest(
            "A tree is read from its beginning on", hint="use first, and end_cursor to go on"
        )
    beyond: Way = key_in(request.cursor, tuple[Number, ...]) if request.cursor else ()
    row = await find_run(store, workflow_id, instance_id, run)
    walker = _Walker(store, Sight(store, caller))
    kept: list[tuple[Way, _Found]] = []
    more = False
    async for each in walker.below(await walker.level(row.key), beyond, depth, ()):
        if len(kept) == most:
            more = True
            break
        kept.append(each)
    info = PageInfo(
        start_cursor=cursor_of(kept[0][0]) if kept else None,
        end_cursor=cursor_of(kept[-1][0]) if kept else None,
        has_previous_page=bool(beyond),
        has_next_page=more,
    )
    # Of iterations nobody keeps counts: there may be a million of them.
    uncounted = [found.glance.key for _way, found in kept if not found.glance.counts]
    counted = await store.status_counts(uncounted) if uncounted else {}
    elements = tuple(_shown(found, counted.get(found.glance.key, {})) for _way, found in kept)
    return Page(page_info=info, total_count=total_of(kept, request, more=more), elements=elements)


class _Walker:
    """Goes down, and looks at many runs at once."""

    def __init__(self, store: Store, sight: Sight) -> None:
        self._store = store
        self._sight = sight

    async def level(self, run: RunKey) -> _Level:
        """A run by its rows."""
        row = await find_run(self._store, run.workflow_id, run.instance_id, str(run.run_id))
        workflow = await definition_of(self._store, row)
        runs = await runs_up_to(self._store, row)
        states = await self._store.step_states([each.key for each in runs])
        return _Level(
            run=row.key,
            steps=workflow.steps,
            states=steps_in_instance(workflow, runs, states).states,
            internal_id=(await find_workflow(self._store, row.root.workflow_id)).internal_id,
            around=row.root.instance_id,
        )

    async def below(
        self, level: _Level, beyond: Way, depth: int, path: tuple[str, ...]
    ) -> AsyncIterator[tuple[Way, _Found]]:
        """What is below a run, behind a place."""
        for place, step in enumerate(level.steps):
            state = level.states.get(step.id)
            if state is None or not (state.is_loop or state.child) or (beyond and place < beyond[0]):
                continue
            inner = beyond[1:] if beyond and place == beyond[0] else ()
            async for way, found in self._below_step(level, step, state, inner, depth, path):
                yield (place, *way), found

    async def _below_step(
        self, level: _Level, step: AnyStep, state: StepState, beyond: Way, depth: int, path: tuple[str, ...]
    ) -> AsyncIterator[tuple[Way, _Found]]:
        kind = _kind(step, state)
        after = max(beyond[0] - 1, 0) if beyond else 0  # its descendants may still be missing
        async for number, glance, states in self._runs(level, step, state, kind, after, deep=depth > 1):
            way = step.id if kind == SUBWORKFLOW else f"{step.id}[{number}]"
            own = (*path, way)
            known = bool(beyond) and number == beyond[0]
            if not known:
                yield (number,), _Found(own, step.id, kind, glance)
            if depth > 1:
                inner = await self._inner(level, step, glance, states)
                begin = beyond[1:] if known else ()
                async for rest, found in self.below(inner, begin, depth - 1, own):
                    yield (number, *rest), found

    async def _runs(
        self, level: _Level, step: AnyStep, state: StepState, kind: str, after: int, *, deep: bool
    ) -> AsyncIterator[tuple[int, RunGlance, Mapping[RunKey, list[StepState]]]]:
        """What a step has started, by number; `deep`: with how the steps of each stand."""
        if state.child is not None:
            seen = await self._sight.of([state.child.workflow_id])
            found = await self._store.glances(NamedRuns((state.child,))) if seen else Slice()
            for glance in found.elements:
                yield ONLY, glance, {}
            return
        run, more = level.run, True
        inline_id = inline_workflow_id(
            Loop(kind), level.internal_id, run.workflow_id, run.instance_id, step.id, level.around
        )
        while more:
            page = await self._store.glances(InstancePage(inline_id, Cut(most=BATCH, above=after)))
            states = await self._store.step_states([each.key for each in page.elements]) if deep else {}
            for glance in page.elements[::-1]:
                yield glance.key.instance_id, glance, states
            more = page.before
            after = page.elements[0].key.instance_id if page.elements else after

    async def _inner(
        self,
        level: _Level,
        step: AnyStep,
        glance: RunGlance,
        states: Mapping[RunKey, list[StepState]],
    ) -> _Level:
        """The first run of an iteration is known by its loop; others are looked up."""
        if not isinstance(step, ForeachStep | WhileStep) or glance.key.run_id > 1:
            return await self.level(glance.key)
        return msgspec.structs.replace(
            level,
            run=glance.key,
            steps=step.steps,
            states={each.key.step_id: each for each in states.get(glance.key, ())},
        )


def _kind(step: AnyStep, state: StepState) -> str:
    if state.child is not None:
        return SUBWORKFLOW
    if isinstance(step, ForeachStep):
        return Loop.FOREACH
    if isinstance(step, WhileStep):
        return Loop.WHILE
    return Loop.TEMPLATE if isinstance(step, TemplateStep) else Loop.SUBSTEPS


def _shown(found: _Found, counts: Mapping[StepStatus, int]) -> TreeRun:
    glance = found.glance
    return TreeRun(
        depth=len(found.path),
        path=".".join(found.path),
        step_id=found.step_id,
        kind=found.kind,
        workflow_id=glance.key.workflow_id,
        workflow_instance_id=glance.key.instance_id,
        workflow_run_id=glance.key.run_id,
        workflow_version_id=glance.version_id,
        status=glance.status,
        create_time=glance.create_time,
        start_time=glance.start_time,
        end_time=glance.end_time,
        counts=step_counts(glance.counts or counts),
    )
