"""Changes of workflows, under their locks."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from stretto.model.errors import Conflict, NotFound
from stretto.model.event import ChangeEvent
from stretto.model.properties import RunStrategyRule
from stretto.model.tag import merge_tags
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import WorkflowVersion
from stretto.ports.messages import Letter, Log
from stretto.ports.places import group_of_workflow
from stretto.ports.workflows import Found, WorkflowRow, WorkflowWrites
from stretto.store.sql.codec import PROPERTIES, VERSION, WORKFLOW_CHANGE
from stretto.store.sql.counting import counts_of
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import ID_LENGTH, NAME_LENGTH, fitting
from stretto.store.sql.posting import post
from stretto.store.sql.rows.workflows import ROW, version_head, workflow_row, workflow_values
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts
from stretto.store.sql.triggers import replace_signal_triggers, replace_time_triggers

A = TypeVar("A")

FIRST_INTERNAL_ID: Final = 10_000

MAKE: Final = Statement(
    lambda d: d.missing(
        "workflow",
        (
            *texts("workflow_id", "state"),
            *ints("internal_id", "latest_version", "active_version"),
            *texts("rule"),
            *ints("slots", "next_instance_id", "queued", "home_group", "modify_time"),
            *texts("properties"),
        ),
    )
)
LOCK: Final = Statement(
    lambda d: f"SELECT {ROW}, state FROM workflow WHERE workflow_id = :workflow_id {d.exclusive}"
)
UPDATE: Final = Statement(
    "UPDATE workflow SET state = 'ALIVE', internal_id = :internal_id, latest_version = :latest_version, "
    "active_version = :active_version, activate_time = :activate_time, activated_by = :activated_by, "
    "properties = :properties, rule = :rule, slots = :slots, modify_time = :modify_time, owner = :owner "
    "WHERE workflow_id = :workflow_id"
)
DELETED: Final = Statement("UPDATE workflow SET state = 'DELETED' WHERE workflow_id = :workflow_id")
MAKE_COUNTER: Final = Statement(lambda d: d.missing("counter", (*texts("name"), *ints("next_value"))))
LOCK_COUNTER: Final = Statement(lambda d: f"SELECT next_value FROM counter WHERE name = :name {d.exclusive}")
COUNT_UP: Final = Statement("UPDATE counter SET next_value = :next_value WHERE name = :name")
INSERT_VERSION: Final = Statement(
    "INSERT INTO workflow_version (workflow_id, version_id, doc) VALUES (:workflow_id, :version_id, :doc)"
)
VERSION_DOC: Final = Statement(
    "SELECT doc FROM workflow_version WHERE workflow_id = :workflow_id AND version_id = :version_id"
)
INSERT_PROPERTIES: Final = Statement(
    "INSERT INTO properties (workflow_id, create_time, doc) VALUES (:workflow_id, :create_time, :doc)"
)
LAST_PLACE: Final = Statement("SELECT MAX(place) FROM workflow_change WHERE workflow_id = :workflow_id")
INSERT_CHANGE: Final = Bulk(
    way=Way.INSERT,
    table="workflow_change",
    key=2,
    fields=(*texts("workflow_id"), *ints("place"), *texts("doc")),
)
NO_TAGS: Final = Statement("DELETE FROM workflow_tag WHERE workflow_id = :workflow_id")
INSERT_TAG: Final = Bulk(way=Way.MISSING, table="workflow_tag", key=2, fields=texts("tag", "workflow_id"))


async def change(tx: Transaction, workflow_id: str, decide: Callable[[Found], WorkflowWrites[A]]) -> A:
    """Publish, change properties, activate or deactivate."""
    row, next_instance_id = await _lock(tx, workflow_id)
    now = await tx.now()
    found = Found(
        now=now if row is None else max(now, (row.properties.create_time or 0) + 1),
        row=row,
        internal_id=await _new_internal_id(tx) if row is None else row.internal_id,
        counts=await counts_of(tx, workflow_id),
        next_instance_id=next_instance_id,
    )
    wanted = decide(found)
    await tx.run(UPDATE, **workflow_values(wanted.row))
    await _write(tx, found, wanted)
    return wanted.answer


async def delete(tx: Transaction, workflow_id: str, decide: Callable[[Found], ChangeEvent]) -> WorkflowRow:
    """From now on nobody finds it."""
    found = await tx.one(LOCK, workflow_id=workflow_id)
    if found is None or found[-1] != "ALIVE":
        raise NotFound(f"Cannot find workflow [{workflow_id}]")
    row, now = workflow_row(found), await tx.now()
    counts = await counts_of(tx, workflow_id)
    event = decide(Found(now=now, row=row, internal_id=row.internal_id, counts=counts))
    await tx.run(DELETED, workflow_id=workflow_id)
    await replace_signal_triggers(tx, workflow_id, ())
    await replace_time_triggers(tx, workflow_id, ())
    await _tell(tx, workflow_id, (event,), now)
    return row


async def _lock(tx: Transaction, workflow_id: str) -> tuple[WorkflowRow | None, int]:
    """The workflow, if it is there, and the instance id that comes next; a new one gets a row to lock."""
    row = await tx.one(LOCK, workflow_id=workflow_id)
    if row is None:
        await tx.run(
            MAKE,
            workflow_id=fitting(workflow_id, ID_LENGTH, "a workflow id"),
            state="GONE",
            internal_id=0,
            latest_version=0,
            active_version=0,
            rule=RunStrategyRule.SEQUENTIAL,
            slots=1,
            next_instance_id=1,
            queued=0,
            home_group=group_of_workflow(workflow_id),
            modify_time=0,
            properties="{}",
        )
        row = await tx.one(LOCK, workflow_id=workflow_id)
    if row is None or row[-1] == "DELETED":
        hint = "publish it again in some seconds, when nothing is left of it"
        raise Conflict(f"the workflow [{workflow_id}] is being deleted", hint=hint)
    if row[-1] == "GONE":
        return None, workflow_row(row).next_instance_id
    found = workflow_row(row)
    return found, found.next_instance_id


async def _new_internal_id(tx: Transaction) -> int:
    await tx.run(MAKE_COUNTER, name="workflow", next_value=FIRST_INTERNAL_ID)
    row = await tx.one(LOCK_COUNTER, name="workflow")
    number: int = FIRST_INTERNAL_ID if row is None else row[0]
    await tx.run(COUNT_UP, name="workflow", next_value=number + 1)
    return number


async def _write(tx: Transaction, found: Found, wanted: WorkflowWrites[Any]) -> None:
    row = wanted.row
    workflow_id = row.workflow_id
    if wanted.version is not None:
        doc = VERSION.write(wanted.version)
        await tx.run(INSERT_VERSION, workflow_id=workflow_id, version_id=row.latest_version, doc=doc)
    if wanted.properties is not None:
        doc = PROPERTIES.write(row.properties)
        await tx.run(INSERT_PROPERTIES, workflow_id=workflow_id, create_time=found.now, doc=doc)
    before = None if found.row is None else found.row.default_version
    if wanted.version is not None or wanted.properties is not None or row.default_version != before:
        await _replace_tags(tx, row, wanted.version)
    if wanted.signal_triggers is not None:
        await replace_signal_triggers(tx, workflow_id, wanted.signal_triggers)
    if wanted.time_triggers is not None:
        await replace_time_triggers(tx, workflow_id, wanted.time_triggers)
    await add_to_timeline(tx, workflow_id, wanted.timeline)
    if wanted.events:
        await _tell(tx, workflow_id, wanted.events, found.now)


async def _replace_tags(tx: Transaction, row: WorkflowRow, new: WorkflowVersion | None) -> None:
    """The tags under which lists find a workflow: of its properties, and of its default version. `new`: the
    latest version, if this change has made it.
    """
    workflow_id, number = row.workflow_id, row.default_version
    if new is not None and number == row.latest_version:
        defined = new.workflow.tags or ()
    else:
        ((doc,),) = await tx.all(VERSION_DOC, workflow_id=workflow_id, version_id=number)
        defined = version_head(doc).tags
    tags = merge_tags(defined, row.properties.tags)
    names = {fitting(tag.name, NAME_LENGTH, "a tag") for tag in tags}
    await tx.run(NO_TAGS, workflow_id=workflow_id)
    await tx.bulk(INSERT_TAG, [(name, workflow_id) for name in sorted(names)])


async def add_to_timeline(tx: Transaction, workflow_id: str, lines: Sequence[WorkflowChange]) -> None:
    """Under the workflow's lock, so that places are not taken twice."""
    if not lines:
        return
    last = await tx.one(LAST_PLACE, workflow_id=workflow_id)
    first = 1 + ((last[0] if last else None) or 0)
    docs = [WORKFLOW_CHANGE.write(line) for line in lines]
    await tx.bulk(INSERT_CHANGE, [(workflow_id, first + place, doc) for place, doc in enumerate(docs)])


async def _tell(tx: Transaction, workflow_id: str, events: Sequence[ChangeEvent], now: int) -> None:
    home = group_of_workflow(workflow_id)
    letter = Letter(ref=f"{workflow_id}:{now}", to_group=home, body=Log(at=now, events=tuple(events)))
    await post(tx, [letter], now)
