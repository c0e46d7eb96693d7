"""Breakpoints and held attempts."""

from collections.abc import Sequence
from typing import Any, Final

from stretto.engine.breakpoints import key_of
from stretto.engine.inline_ids import is_inline
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.breakpoints import (
    BreakpointPage,
    BreakpointsAt,
    BreakpointSelection,
    PausedAt,
    PausedPage,
    PausedSelection,
)
from stretto.ports.paging import Cut, Slice
from stretto.store.sql.codec import ATTEMPT, BREAKPOINT
from stretto.store.sql.database import Transaction
from stretto.store.sql.large import filled
from stretto.store.sql.lengths import ID_LENGTH, fitting
from stretto.store.sql.paging import Listing, Page
from stretto.store.sql.part import Part
from stretto.store.sql.statement import Row, Statement, ints, texts
from stretto.store.sql.workflow_lists import LAST

FIELDS: Final = (
    *texts("workflow_id", "step_id"),
    *ints("version_id", "instance_id", "run_id", "attempt_no"),
    *texts("doc"),
)
KEY: Final = [field.name for field in FIELDS[:-1]]
AT: Final = " AND ".join(f"{name} = :{name}" for name in KEY)
SET: Final = Statement(lambda d: d.missing("breakpoint", FIELDS))
ONE: Final = Statement(lambda d: f"SELECT doc FROM breakpoint WHERE {AT} {d.exclusive}")
DELETE: Final = Statement(f"DELETE FROM breakpoint WHERE {AT}")
OF_WORKFLOW: Final = Statement(
    f"SELECT doc FROM breakpoint WHERE workflow_id = :workflow_id ORDER BY {', '.join(KEY)}"
)
OF_STEP: Final = Statement(
    "SELECT doc FROM breakpoint WHERE workflow_id = :workflow_id AND step_id = :step_id "
    f"ORDER BY {', '.join(KEY)}"
)
ALL: Final = Listing(f"{', '.join(KEY)}, doc", "breakpoint", KEY)

WITH_RUN: Final = (
    "attempt JOIN run ON run.workflow_id = attempt.workflow_id AND run.instance_id = attempt.instance_id "
    "AND run.run_id = attempt.run_id WHERE"
)
HELD: Final = f"{WITH_RUN} attempt.held = :step_id"
HELD_COLUMNS: Final = (
    "attempt.workflow_id, attempt.instance_id, attempt.run_id, attempt.step_id, attempt.attempt_no, "
    "attempt.doc, run.version_id"
)
HELD_ORDER: Final = ["attempt.workflow_id", "attempt.instance_id", "attempt.run_id", "attempt.attempt_no"]
HELD_THERE: Final = Listing(HELD_COLUMNS, f"{HELD} AND attempt.workflow_id = :workflow_id", HELD_ORDER)
HELD_BELOW: Final = Listing(
    HELD_COLUMNS,
    f"{HELD} AND attempt.workflow_id >= :workflow_id AND attempt.workflow_id < :workflow_end",
    HELD_ORDER,
)
HELD_ANYWHERE: Final = Listing(
    HELD_COLUMNS, f"{WITH_RUN} attempt.held IS NOT NULL", ["attempt.held", *HELD_ORDER]
)


class SqlBreakpoints(Part):
    """See `ports.breakpoints`."""

    async def set_breakpoint(self, breakpoint_: StepBreakpoint) -> StepBreakpoint:
        at, doc = _at(breakpoint_), BREAKPOINT.write(breakpoint_)

        async def work(tx: Transaction) -> StepBreakpoint:
            if await tx.run(SET, **at, doc=doc):
                return breakpoint_
            standing = await tx.one(ONE, **at)
            return breakpoint_ if standing is None else BREAKPOINT.read(standing[0])

        return await self._db.write(work)

    async def delete_breakpoint(self, breakpoint_: StepBreakpoint) -> bool:
        at = _at(breakpoint_)

        async def work(tx: Transaction) -> bool:
            return await tx.run(DELETE, **at) > 0

        return await self._db.write(work)

    async def breakpoints(self, selection: BreakpointSelection) -> Slice[StepBreakpoint]:
        async def work(tx: Transaction) -> Slice[StepBreakpoint]:
            match selection:
                case BreakpointsAt(workflow_id, None):
                    return _all(await tx.all(OF_WORKFLOW, workflow_id=workflow_id))
                case BreakpointsAt(workflow_id, step_id):
                    return _all(await tx.all(OF_STEP, workflow_id=workflow_id, step_id=step_id))
                case BreakpointPage(cut):
                    return (await ALL.page(tx, cut)).of(_breakpoint)

        match selection:
            case BreakpointsAt() | BreakpointPage(Cut(above=None, below=None)):
                return await self._look(work)  # one statement
            case BreakpointPage():
                return await self._read(work)

    async def paused(self, selection: PausedSelection) -> Slice[PausedStepAttempt]:
        async def work(tx: Transaction) -> Slice[PausedStepAttempt]:
            page = await _paused_page(tx, selection)
            return page._replace(rows=await filled(tx, "attempt", page.rows)).of(_held)

        return await self._db.read(work)


async def _paused_page(tx: Transaction, selection: PausedSelection) -> Page:
    match selection:
        case PausedPage(cut):
            return await HELD_ANYWHERE.page(tx, cut)
        case PausedAt(workflow_id, step_id, cut):
            values = {"workflow_id": workflow_id, "step_id": step_id}
            if is_inline(workflow_id):
                return await HELD_BELOW.page(tx, cut, **values, workflow_end=workflow_id + LAST)
            return await HELD_THERE.page(tx, cut, **values)


def _all(rows: Sequence[Row]) -> Slice[StepBreakpoint]:
    """A list that is not cut."""
    return Slice(elements=tuple(map(_breakpoint, rows)))


def _breakpoint(columns: Row) -> StepBreakpoint:
    return BREAKPOINT.read(columns[-1])


def _at(breakpoint_: StepBreakpoint) -> dict[str, Any]:
    workflow_id, step_id, where = key_of(breakpoint_)
    return {
        "workflow_id": fitting(workflow_id, ID_LENGTH, "a workflow id"),
        "step_id": fitting(step_id, ID_LENGTH, "a step id"),
        "version_id": where.version,
        "instance_id": where.instance,
        "run_id": where.run,
        "attempt_no": where.attempt,
    }


def _held(columns: Row) -> PausedStepAttempt:
    workflow_id, instance_id, run_id, step_id, number, doc, version_id = columns
    return PausedStepAttempt(
        workflow_id=workflow_id,
        workflow_version_id=version_id,
        workflow_instance_id=instance_id,
        workflow_run_id=run_id,
        step_id=step_id,
        step_attempt_id=number,
        create_time=ATTEMPT.read(doc).pause_time,
    )
