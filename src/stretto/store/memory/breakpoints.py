"""Breakpoints and held attempts."""

from stretto.engine.breakpoints import key_of
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.breakpoints import (
    BreakpointPage,
    BreakpointsAt,
    BreakpointSelection,
    PausedAt,
    PausedPage,
    PausedSelection,
)
from stretto.ports.paging import Slice
from stretto.store.memory.database import Part
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.schema import ALL, BreakpointKey


class MemoryBreakpoints(Part):
    """See `ports.breakpoints`."""

    async def set_breakpoint(self, breakpoint_: StepBreakpoint) -> StepBreakpoint:
        with self._db.transaction():
            at = _flat(breakpoint_)
            standing = self._db.breakpoints.get(at)
            if standing is None:
                self._db.breakpoints.put(at, breakpoint_)
            return standing or breakpoint_

    async def delete_breakpoint(self, breakpoint_: StepBreakpoint) -> bool:
        with self._db.transaction():
            return self._db.breakpoints.pop(_flat(breakpoint_)) is not None

    async def breakpoints(self, selection: BreakpointSelection) -> Slice[StepBreakpoint]:
        keys = self._db.all_breakpoints[ALL]
        with self._db.transaction():
            match selection:
                case BreakpointsAt(workflow_id, step_id):
                    kept = [key for key in keys if key[0] == workflow_id and step_id in {None, key[1]}]
                    return Slice(elements=tuple(self._db.breakpoints[key] for key in kept))
                case BreakpointPage(cut):
                    return slice_of(select(keys, cut), self._db.breakpoints.__getitem__)

    async def paused(self, selection: PausedSelection) -> Slice[PausedStepAttempt]:
        steps = self._db.paused
        with self._db.transaction():
            match selection:
                case PausedAt(workflow_id, step_id, cut):
                    below = workflow_id if is_inline(workflow_id) else None
                    page = select(
                        steps[step_id],
                        cut,
                        lambda at: at[0] == workflow_id or (below is not None and at[0].startswith(below)),
                    )
                    return slice_of(page, lambda entry: self._held(step_id, entry))
                case PausedPage(cut):
                    keys = sorted(
                        (step_id, *entry) for step_id in steps.buckets() for entry in steps[step_id]
                    )
                    return slice_of(select(keys, cut), lambda key: self._held(key[0], key[1:]))

    def _held(self, step_id: str, entry: tuple[str, int, int, int]) -> PausedStepAttempt:
        workflow_id, instance_id, run_id, number = entry
        run = RunKey(workflow_id, instance_id, run_id)
        record = self._db.attempts[AttemptKey(run, step_id, number)].record
        return PausedStepAttempt(
            workflow_id=workflow_id,
            workflow_version_id=self._db.runs[run].record.version_id,
            workflow_instance_id=instance_id,
            workflow_run_id=run_id,
            step_id=step_id,
            step_attempt_id=number,
            create_time=record.pause_time,
        )


def _flat(breakpoint_: StepBreakpoint) -> BreakpointKey:
    workflow_id, step_id, where = key_of(breakpoint_)
    return workflow_id, step_id, where.version, where.instance, where.run, where.attempt
