"""Workflows: versions, properties, activation, deletion."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeVar

from stretto.model.errors import Conflict, NotFound
from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot
from stretto.model.status import RunStatus
from stretto.model.tag import merge_tags
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import Workflow, WorkflowVersion
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut, Slice
from stretto.ports.places import group_of_workflow
from stretto.ports.rows import Phase
from stretto.ports.workflows import (
    TOTALS_EVERY,
    Found,
    Outcomes,
    Overview,
    Total,
    VersionHead,
    VersionKey,
    WorkflowFilter,
    WorkflowRow,
    WorkflowWrites,
)
from stretto.store.memory.database import Database, Part
from stretto.store.memory.paging import select, slice_of, under
from stretto.store.memory.post import post
from stretto.store.memory.run_rows import ALL_WORKFLOWS
from stretto.store.memory.runs import counts_of, workflow_row
from stretto.store.memory.schema import ALL, WorkflowEntry
from stretto.store.memory.triggers import replace_signal_triggers, replace_time_triggers

A = TypeVar("A")

FIRST_INTERNAL_ID: Final = 10_000


class MemoryWorkflows(Part):
    """See `ports.workflows`."""

    async def change_workflow(self, workflow_id: str, decide: Callable[[Found], WorkflowWrites[A]]) -> A:
        db = self._db
        with db.transaction() as now:
            entry = db.workflows.get(workflow_id) or WorkflowEntry(row=None)
            if entry.deleted:
                hint = "publish it again in some seconds, when nothing is left of it"
                raise Conflict(f"the workflow [{workflow_id}] is being deleted", hint=hint)
            row = entry.row
            found = Found(
                now=now if row is None else max(now, (row.properties.create_time or 0) + 1),
                row=row,
                internal_id=db.number("workflow", FIRST_INTERNAL_ID) if row is None else row.internal_id,
                counts=counts_of(db, workflow_id),
                next_instance_id=entry.next_instance_id,
            )
            change = decide(found)
            db.workflows.put(workflow_id, WorkflowEntry(row=change.row))
            self._write(found, change)
            return change.answer

    async def delete_workflow(self, workflow_id: str, decide: Callable[[Found], ChangeEvent]) -> WorkflowRow:
        db = self._db
        with db.transaction() as now:
            row = workflow_row(db, workflow_id)
            if row is None:
                raise NotFound(f"Cannot find workflow [{workflow_id}]")
            counts = counts_of(db, workflow_id)
            event = decide(Found(now=now, row=row, internal_id=row.internal_id, counts=counts))
            db.workflows.put(workflow_id, WorkflowEntry(row=row, deleted=True))
            replace_signal_triggers(db, workflow_id, ())
            replace_time_triggers(db, workflow_id, ())
            _tell(db, workflow_id, (event,), now)
            return row

    async def workflow_rows(self, workflow_ids: Collection[str]) -> dict[str, WorkflowRow]:
        with self._db.transaction():
            rows = {each: workflow_row(self._db, each) for each in workflow_ids}
            return {each: row for each, row in rows.items() if row is not None}

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        with self._db.transaction():
            alive = workflow_row(self._db, workflow_id) is not None
            return self._db.versions.get((workflow_id, version_id)) if alive else None

    async def versions(self, workflow_id: str, cut: Cut) -> Slice[WorkflowVersion]:
        with self._db.transaction():
            alive = workflow_row(self._db, workflow_id) is not None
            keys = self._db.versions_of[workflow_id] if alive else ()
            page = select(keys, under(cut, workflow_id), newest_first=True)
            return slice_of(page, self._db.versions.__getitem__)

    async def properties_history(self, workflow_id: str, cut: Cut) -> Slice[PropertiesSnapshot]:
        with self._db.transaction():
            alive = workflow_row(self._db, workflow_id) is not None
            keys = self._db.snapshots_of[workflow_id] if alive else ()
            page = select(keys, under(cut, workflow_id), newest_first=True)
            return slice_of(page, self._db.snapshots.__getitem__)

    async def workflow_timeline(self, workflow_id: str, *, most: int = 300) -> list[WorkflowChange]:
        with self._db.transaction():
            alive = workflow_row(self._db, workflow_id) is not None
            lines = self._db.timelines.get(workflow_id) if alive else None
            return list(reversed(lines or ()))[:most]

    async def workflow_overview(self, workflow_id: str) -> Overview | None:
        db = self._db
        with db.transaction():
            row = workflow_row(db, workflow_id)
            if row is None:
                return None
            instances = db.instances_of[workflow_id]
            return Overview(
                row=row,
                statuses=dict(_unended(db, workflow_id)),
                failed=len(db.standing_failures[workflow_id]),
                latest_instance_id=instances[-1][1] if instances else None,
            )

    async def workflows(self, cut: Cut, wanted: WorkflowFilter) -> Slice[WorkflowRow]:
        db = self._db

        def read(workflow_id: str) -> WorkflowRow:
            row = db.workflows[workflow_id].row
            assert row is not None  # noqa: S101 - it is listed because it has one
            return row

        with db.transaction():
            page = select(db.workflow_ids[ALL], cut, lambda each: _is_wanted(db, read(each), wanted))
            return slice_of(page, read)

    async def version_heads(self, versions: Collection[VersionKey]) -> dict[VersionKey, VersionHead]:
        with self._db.transaction():
            alive = [key for key in versions if workflow_row(self._db, key.workflow_id) is not None]
            found = {key: self._db.versions.get((key.workflow_id, key.version_id)) for key in alive}
            return {key: _head(version.workflow) for key, version in found.items() if version is not None}

    async def unended(self, workflow_ids: Collection[str]) -> dict[str, dict[RunStatus, int]]:
        with self._db.transaction():
            found = {each: dict(_unended(self._db, each)) for each in workflow_ids}
            return {each: counts for each, counts in found.items() if counts}

    async def outcomes(self, workflow_ids: Sequence[str], since: int) -> list[Outcomes]:
        with self._db.transaction():
            return [
                Outcomes(workflow_id=at[0], hour=at[1], statuses=self._db.outcomes[at])
                for at in sorted(self._db.outcomes)
                if at[0] in workflow_ids and at[1] >= since
            ]

    async def workflow_tags(self, prefix: str, *, most: int = 10) -> list[str]:
        with self._db.transaction():
            rows = (self._db.workflows[each].row for each in self._db.workflow_ids[ALL])
            names = {name for row in rows if row is not None for name in _tag_names(self._db, row)}
            return sorted(name for name in names if name.startswith(prefix))[:most]

    async def totals(self, since: int, until: int, width: int = TOTALS_EVERY) -> list[Total]:
        found: dict[int, Counter[RunStatus]] = {}
        with self._db.transaction():
            for workflow_id, begin in sorted(self._db.outcomes):
                if workflow_id == ALL_WORKFLOWS and since <= begin < until:
                    counts = found.setdefault(begin - (begin - since) % width, Counter())
                    counts.update(self._db.outcomes[workflow_id, begin])
        return [Total(begin=begin, statuses=dict(counts)) for begin, counts in found.items()]

    def _write(self, found: Found, change: WorkflowWrites[Any]) -> None:
        db, row = self._db, change.row
        workflow_id = row.workflow_id
        if change.version is not None:
            db.versions.put((workflow_id, row.latest_version), change.version)
        if change.properties is not None:
            db.snapshots.put((workflow_id, found.now), row.properties)
        if change.signal_triggers is not None:
            replace_signal_triggers(db, workflow_id, change.signal_triggers)
        if change.time_triggers is not None:
            replace_time_triggers(db, workflow_id, change.time_triggers)
        db.timelines.put(workflow_id, (*(db.timelines.get(workflow_id) or ()), *change.timeline))
        if change.events:
            _tell(db, workflow_id, change.events, found.now)


def _tell(db: Database, workflow_id: str, events: tuple[ChangeEvent, ...], now: int) -> None:
    home = group_of_workflow(workflow_id)
    post(db, Letter(ref=f"{workflow_id}:{now}", to_group=home, body=Log(at=now, events=events)), now)


def _unended(db: Database, workflow_id: str) -> Counter[RunStatus]:
    phases = (Phase.QUEUED, Phase.ADMITTED, Phase.LIVE)
    keys = (key for phase in phases for key in db.runs_by_phase[workflow_id, phase])
    return Counter(db.runs[key].record.status for key in keys)


def _head(workflow: Workflow) -> VersionHead:
    return VersionHead(
        name=workflow.name,
        criticality=workflow.criticality,
        tags=workflow.tags or (),
        time_triggers=len(workflow.time_triggers or ()),
        signal_triggers=len(workflow.signal_triggers or ()),
    )


def _is_wanted(db: Database, row: WorkflowRow, wanted: WorkflowFilter) -> bool:
    properties = row.properties
    return (
        row.workflow_id.startswith(wanted.prefix)
        and all(word.lower() in row.workflow_id.lower() for word in wanted.words)
        and (wanted.owner is None or (properties.owner is not None and properties.owner.name == wanted.owner))
        and (wanted.tag is None or wanted.tag in _tag_names(db, row))
        and wanted.active in {None, row.active_version > 0}
        and (wanted.has is None or _has(db, row.workflow_id, wanted.has, wanted.since))
    )


def _tag_names(db: Database, row: WorkflowRow) -> set[str]:
    """The tags under which lists find a workflow: of its properties, and of its default version."""
    defined = db.versions[row.workflow_id, row.default_version].workflow.tags
    return {tag.name for tag in merge_tags(defined, row.properties.tags)}


def _has(db: Database, workflow_id: str, status: RunStatus, since: int) -> bool:
    if not status.is_terminal:
        return status in _unended(db, workflow_id)
    hours = (at for at in db.outcomes if at[0] == workflow_id and at[1] >= since)
    return any(status in db.outcomes[at] for at in hours)
