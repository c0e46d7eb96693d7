"""Runs of a workflow beside each other: one column of letters for each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_run, find_workflow
from stretto.actions.parts.offload import offload
from stretto.actions.reading.definitions import instance_definition
from stretto.actions.reading.listing import Number, cursor_of, key_in
from stretto.actions.reading.run_steps import code_of, covered_by, needs_earlier, runs_up_to
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.page import PageInfo
from stretto.model.status import RunStatus, StepStatus
from stretto.model.status_codes import ABSENT, STEP_CODES
from stretto.model.workflow import Workflow
from stretto.ports.paging import Cut
from stretto.ports.rows import RunGlance, RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store
from stretto.ports.views import RunsByNumber

MOST_CELLS: Final = 100_000  # that are read for one answer; of wide workflows it has fewer runs


class GridRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and a letter for each step of the grid; `-`: it is not part of the run."""

    workflow_instance_id: int
    workflow_run_id: int
    workflow_version_id: int
    status: RunStatus
    create_time: int
    start_time: int | None = None
    end_time: int | None = None
    codes: str


class GridView(msgspec.Struct, frozen=True, kw_only=True):
    """Runs, newest first. The steps are those of the newest version among them, then those that only older
    ones have.
    """

    workflow_id: str
    steps: tuple[str, ...]
    runs: tuple[GridRun, ...]
    page_info: PageInfo


async def get_grid(
    store: Store, caller: Caller, workflow_id: str, *, runs: int = 25, cursor: str | None = None
) -> GridView:
    """The newest runs of a workflow, or those behind a cursor; of a loop: its iterations."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    if not is_inline(workflow_id):
        await find_workflow(store, workflow_id)
    below = key_in(cursor, tuple[Number, Number]) if cursor else None
    page = await store.glances(RunsByNumber(workflow_id, Cut(most=runs, below=below)))
    versions = await _versions(store, page.elements)
    heads = _bounded(page.elements, versions)
    steps = _order(versions[version] for version in sorted({each.version_id for each in heads}, reverse=True))
    rows = await _rows(store, heads, versions)
    cells = len(steps) * len(heads)
    return GridView(
        workflow_id=workflow_id,
        steps=tuple(steps),
        runs=await offload(cells, _runs, heads, steps, rows, versions),
        page_info=PageInfo(
            start_cursor=cursor_of(heads[0].key[1:]) if heads else None,
            end_cursor=cursor_of(heads[-1].key[1:]) if heads else None,
            has_previous_page=page.before,
            has_next_page=page.after or len(heads) < len(page.elements),
        ),
    )


async def _versions(store: Store, heads: Iterable[RunGlance]) -> dict[int, Workflow]:
    """The definitions that these runs follow."""
    some = {each.version_id: each.key for each in heads}
    rows = {version: await find_run(store, *key[:2], str(key.run_id)) for version, key in some.items()}
    return {version: await instance_definition(store, row) for version, row in rows.items()}


def _bounded(heads: Sequence[RunGlance], versions: Mapping[int, Workflow]) -> list[RunGlance]:
    """The first of these runs, as many as can be shown at once."""
    shown: list[RunGlance] = []
    cells = 0
    for each in heads:
        workflow = versions[each.version_id]
        cells += 0 if _all_succeeded(each, workflow) else len(workflow.steps)
        if shown and cells > MOST_CELLS:
            break
        shown.append(each)
    return shown


def _all_succeeded(head: RunGlance, workflow: Workflow) -> bool:
    """Of such a run the steps need not be read, as there is nothing else to say of them."""
    return dict(head.counts) == {StepStatus.SUCCEEDED: len(workflow.steps)}


def _order(workflows: Iterable[Workflow]) -> dict[str, None]:
    return {step.id: None for workflow in workflows for step in workflow.steps}


class _Rows(NamedTuple):
    """What is read of the runs that have not simply succeeded: the runs before each, and their steps."""

    earlier: Mapping[RunKey, list[RunRow]]
    made: Mapping[RunKey, Mapping[str, StepStatus]]


async def _rows(store: Store, heads: Sequence[RunGlance], versions: Mapping[int, Workflow]) -> _Rows:
    """From one look at the steps of all of them."""
    others = [each for each in heads if not _all_succeeded(each, versions[each.version_id])]
    earlier = {each.key: await _earlier(store, each.key) for each in others}
    wanted = {row.key for rows in earlier.values() for row in rows}
    made = await store.step_times(wanted | earlier.keys()) if others else {}
    statuses = {run: {each.step_id: each.status for each in steps} for run, steps in made.items()}
    return _Rows(earlier, statuses)


def _runs(
    heads: Sequence[RunGlance], steps: Collection[str], rows: _Rows, versions: Mapping[int, Workflow]
) -> tuple[GridRun, ...]:
    found: list[GridRun] = []
    for head in heads:
        codes = _codes(head, rows, versions[head.version_id])
        found.append(_run(head, "".join(codes.get(step, ABSENT) for step in steps)))
    return tuple(found)


def _codes(head: RunGlance, rows: _Rows, workflow: Workflow) -> dict[str, str]:
    """The letters of the steps of a run."""
    if head.key not in rows.earlier:
        return dict.fromkeys((step.id for step in workflow.steps), STEP_CODES[StepStatus.SUCCEEDED])
    before, own = rows.earlier[head.key], rows.made.get(head.key, {})
    covered = covered_by(workflow, before, rows.made) if before else None
    return {step.id: code_of(step.id, own.get(step.id), covered) for step in workflow.steps}


async def _earlier(store: Store, key: RunKey) -> list[RunRow]:
    """The runs up to this one that say what it covers; none: it covers everything."""
    row = await read_run(store, key) if key.run_id > 1 else None
    if row is None:
        return []
    return await runs_up_to(store, row) if needs_earlier(row) else [row]


def _run(head: RunGlance, codes: str) -> GridRun:
    return GridRun(
        workflow_instance_id=head.key.instance_id,
        workflow_run_id=head.key.run_id,
        workflow_version_id=head.version_id,
        status=head.status,
        create_time=head.create_time,
        start_time=head.start_time,
        end_time=head.end_time,
        codes=codes,
    )
