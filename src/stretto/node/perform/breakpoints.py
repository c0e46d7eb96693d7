"""Breakpoints: at which steps a run may have to stop, and whether one of them stands."""

from collections.abc import Iterable
from typing import Final
from weakref import WeakValueDictionary

from stretto.engine.breakpoints import holds, stored_id
from stretto.engine.effects import LookForBreakpoint
from stretto.engine.events import BreakpointGone
from stretto.engine.inline_ids import Loop
from stretto.engine.records import RunRecord
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.breakpoints import BreakpointPage, BreakpointsAt
from stretto.ports.paging import Cut
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow, read_workflow

PAGE: Final = 500
PLACES: Final = (None, Loop.FOREACH, Loop.WHILE)  # what a step with a breakpoint may stand in


class Steps(set[str]):
    """Ids of the steps of a workflow that may have a breakpoint: one set for all its runs, and kept fresh."""


class Breakpoints:
    """What a node knows of breakpoints. It may be old, so a step that one may concern pauses first, and then
    a look decides. A breakpoint that is set while a run is in memory is known with the next refresh.
    """

    def __init__(self, store: Store, page: int = PAGE) -> None:
        self._store = store
        self._page = page
        self._known: WeakValueDictionary[tuple[str, int], Steps] = WeakValueDictionary()

    async def of(self, workflows: Iterable[WorkflowRow]) -> dict[str, Steps]:
        """For each workflow its steps that may have one. Runs that are in memory already share the set."""
        keys = [(each.workflow_id, each.internal_id) for each in workflows]
        steps = {key[0]: self._known.setdefault(key, Steps()) for key in keys}
        await self.refresh()
        return steps

    async def refresh(self) -> None:
        """Look at all breakpoints, for the workflows that have runs in memory: there are few, so this is
        cheaper than to look for those of each workflow.
        """
        stored: dict[str, list[str]] = {}
        cut = Cut(most=self._page)
        while True:
            page = await self._store.breakpoints(BreakpointPage(cut))
            for each in page.elements:
                stored.setdefault(each.workflow_id, []).append(each.step_id)
            if not page.after:
                break
            cut = Cut(most=self._page, above=_place_of(page.elements[-1]))
        for key, steps in list(self._known.items()):
            now = {step for place in _places(*key) for step in stored.get(place, ())}
            if steps != now:  # in place, and only if it is news: runs look at it all the time
                steps.clear()
                steps.update(now)

    async def check(
        self, effect: LookForBreakpoint, run: RunRecord, workflow_id: str
    ) -> tuple[BreakpointGone, ...]:
        """Whether a breakpoint holds a paused attempt; if none does, it goes on. `workflow_id`: of its root,
        whose breakpoints are gone with it.
        """
        attempt = effect.attempt
        row = await read_workflow(self._store, workflow_id)
        places = () if row is None else _places(workflow_id, row.internal_id)
        paused = PausedStepAttempt(
            workflow_id=run.key.workflow_id,
            workflow_version_id=run.version_id,
            workflow_instance_id=run.key.instance_id,
            workflow_run_id=run.key.run_id,
            step_id=attempt.step_id,
            step_attempt_id=attempt.number,
        )
        for place in places:
            kept = await self._store.breakpoints(BreakpointsAt(place, attempt.step_id))
            if any(holds(each, paused) for each in kept.elements):
                return ()
        return (BreakpointGone(attempt=attempt),)


def _places(workflow_id: str, internal_id: int) -> tuple[str, ...]:
    """The ids under which the breakpoints of a workflow are kept."""
    return tuple(stored_id(workflow_id, internal_id, loop) for loop in PLACES)


def _place_of(last: StepBreakpoint) -> tuple[str, str, int, int, int, int]:
    return (
        last.workflow_id,
        last.step_id,
        last.workflow_version_id or 0,
        last.workflow_instance_id or 0,
        last.workflow_run_id or 0,
        last.step_attempt_id or 0,
    )
