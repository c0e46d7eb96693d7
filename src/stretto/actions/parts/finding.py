"""What an action is about, loaded; or a `NotFound` that names it."""

from typing import Final

from stretto.actions.parts.near_workflows import near_workflow, why_no_run
from stretto.actions.parts.numbers import number_in
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import WorkflowVersion
from stretto.ports.history import NewestInInstance
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import (
    NamedRuns,
    NewestRun,
    RunDetail,
    RunSnapshot,
    read_attempt,
    read_newest_run,
    read_run,
)
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow, read_workflow

LATEST: Final = "latest"
VERSION_WORDS: Final = frozenset({LATEST, "default", "active"})


async def find_workflow(store: Store, workflow_id: str) -> WorkflowRow:
    row = await read_workflow(store, workflow_id)
    if row is None:
        raise NotFound(f"Cannot find workflow [{workflow_id}]", hint=await near_workflow(store, workflow_id))
    return row


def choose_version(row: WorkflowRow, version: str) -> int:
    """`active`, `latest`, `default` (the active one, else the latest) or a number."""
    text = version.strip().lower()
    if text == LATEST:
        return row.latest_version
    if text == "default":
        return row.default_version
    if text == "active":
        if not row.active_version:
            raise NotFound(f"Cannot find an active version for workflow [{row.workflow_id}]")
        return row.active_version
    number = number_in(text)
    if not number:
        raise InvalidRequest(
            f"Invalid workflow version [{row.workflow_id}][{version}]",
            hint="write active, latest, default or a version number",
        )
    return number


async def find_version(store: Store, row: WorkflowRow, version: str) -> tuple[int, WorkflowVersion]:
    """The number of a version, and the version as it was published."""
    number = choose_version(row, version)
    found = await store.version(row.workflow_id, number)
    if found is None:
        raise NotFound(f"Cannot find workflow version [{row.workflow_id}][{number}]")
    return number, found


async def find_newest_run(store: Store, workflow_id: str, instance_id: int) -> RunRow:
    row = await read_newest_run(store, workflow_id, instance_id)
    if row is None:
        raise await _no_run(store, NewestRun(workflow_id, instance_id))
    return row


async def find_run(store: Store, workflow_id: str, instance_id: int, run: str) -> RunRow:
    """A run by its number; `latest` and `0` are the newest."""
    selection = _selected(workflow_id, instance_id, run)
    if isinstance(selection, NewestRun):
        return await find_newest_run(store, workflow_id, instance_id)
    row = await read_run(store, selection.keys[0])
    if row is None:
        raise await _no_run(store, selection)
    return row


async def find_run_snapshot(
    store: Store, workflow_id: str, instance_id: int, run: str, detail: RunDetail
) -> tuple[RunSnapshot, RunRow]:
    """The same with all that views of it need."""
    selection = _selected(workflow_id, instance_id, run)
    snapshot = await store.read_runs(selection, detail)
    if not snapshot.page.elements:
        raise await _no_run(store, selection)
    return snapshot, snapshot.page.elements[0]


def _selected(workflow_id: str, instance_id: int, run: str) -> NamedRuns | NewestRun:
    text = run.strip().lower()
    if text in {LATEST, "0"}:
        return NewestRun(workflow_id, instance_id)
    number = number_in(text)
    if number is None:
        raise InvalidRequest(
            f"Invalid run [{workflow_id}][{instance_id}][{run}]", hint="write latest or a number"
        )
    return NamedRuns((RunKey(workflow_id, instance_id, number),))


async def _no_run(store: Store, selection: NamedRuns | NewestRun) -> NotFound:
    if isinstance(selection, NewestRun):
        workflow_id = selection.workflow_id
        text = f"Cannot find workflow instance [{workflow_id}][{selection.instance_id}]"
    else:
        workflow_id = selection.keys[0].workflow_id
        text = f"Cannot find workflow instance run {selection.keys[0]}"
    return NotFound(text, hint=await why_no_run(store, workflow_id))


async def find_newest_attempt(store: Store, workflow_id: str, instance_id: int, step_id: str) -> AttemptRow:
    """The newest attempt of a step, in the newest run that has it."""
    rows = await store.attempts(NewestInInstance(workflow_id, instance_id, step_id))
    if not rows:
        hint = await why_no_run(store, workflow_id)
        raise NotFound(f"Cannot find step instance [{workflow_id}][{instance_id}][{step_id}]", hint=hint)
    return rows[0]


async def find_attempt(store: Store, key: AttemptKey) -> AttemptRow:
    row = await read_attempt(store, key)
    if row is None:
        hint = await why_no_run(store, key.run.workflow_id)
        raise NotFound(f"Cannot find step attempt {key}", hint=hint)
    return row


def step_in(steps: tuple[AnyStep, ...], step_id: str) -> AnyStep | None:
    """A step of a definition, however deep inside loops it is; ids are unique over all levels."""
    for step in steps:
        inner = step.steps if isinstance(step, ForeachStep | WhileStep) else ()
        found = step if step.id == step_id else step_in(inner, step_id)
        if found is not None:
            return found
    return None
