"""The definition of a run as surfaces show it: with the tags of its start. The inline workflow of a loop
has the names that Maestro gives to it.
"""

from typing import Final

import msgspec

from stretto.actions.reading.aggregation import runs_below
from stretto.engine.context import step_uuid
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.kinds.reruns import in_rows
from stretto.engine.records import AttemptKey, LoopRecord, RunRecord, attempt_above
from stretto.model.initiator import Ancestor, UpstreamFields
from stretto.model.properties import PropertiesSnapshot
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag, merge_tags
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import RunReader, read_attempt, read_run

DESCRIPTIONS: Final = {
    Loop.FOREACH: "Maestro foreach inline workflow including steps within foreach created by",
    Loop.WHILE: "Maestro while loop inline workflow including steps created by",
}
DESCRIPTION: Final = "Inline workflow created by"


def runtime_tags_of(record: RunRecord) -> tuple[Tag, ...]:
    """The tags that the request for a run had: a step gives one that says what kind of step it is. The
    request for a restart has none.
    """
    if not isinstance(record.initiator, UpstreamFields):
        return record.runtime_tags if record.policy.is_fresh else ()
    kind = _loop_of(record.key.workflow_id)
    return (Tag(name="maestro_subworkflow" if kind is None else kind.tag),)


async def runtime_workflow(
    reader: RunReader, row: RunRow, workflow: Workflow, snapshot: PropertiesSnapshot | None
) -> Workflow:
    """The definition that a run follows, with the tags of the requests for it, and without those of the
    properties.
    """
    record = row.record
    aside = frozenset(tag.name for tag in (None if snapshot is None else snapshot.tags) or ())
    given = (tag for tag in record.tags if tag.name not in aside)
    tags = merge_tags(workflow.tags, given, record.runtime_tags, runtime_tags_of(record))
    shown = msgspec.structs.replace(workflow, tags=tags or None)
    kind = _loop_of(record.key.workflow_id)
    if kind is None or not isinstance(record.initiator, UpstreamFields):
        return shown
    name = await _loop_identity(reader, row, record.initiator.parent)
    description = f"{DESCRIPTIONS.get(kind, DESCRIPTION)} {name}"
    return msgspec.structs.replace(shown, name=name, description=description, params={})


def _loop_of(workflow_id: str) -> Loop | None:
    """What an inline workflow is made for; None of other workflows."""
    if not is_inline(workflow_id):
        return None
    return next(loop for loop in Loop if workflow_id.startswith(loop.tag))


async def _loop_identity(reader: RunReader, row: RunRow, parent: Ancestor) -> str:
    """The attempt of the loop step that created an iteration. An iteration that is restarted keeps it."""
    attempt = attempt_above(parent)
    around = await read_run(reader, attempt.run)
    if not row.record.policy.is_fresh and await _is_restarted(reader, row, attempt, around):
        before = (await runs_below(reader, *row.key))[-1:]
        for each in before:
            if isinstance(each.record.initiator, UpstreamFields):
                return await _loop_identity(reader, each, each.record.initiator.parent)
    uuid = "" if around is None else step_uuid(around.record.uuid, attempt)
    return f"{attempt}[{uuid}]"


async def _is_restarted(reader: RunReader, row: RunRow, attempt: AttemptKey, around: RunRow | None) -> bool:
    """Whether an iteration goes on with the one of an earlier run, instead of taking its place."""
    loops = [each for each in await reader.loops(attempt.run) if each.inline_id == row.key.workflow_id]
    loop = next((each for each in loops if each.key == attempt), None)
    if loop is None or row.key.run_id > loop.run_id:
        return True  # a user has restarted this iteration alone
    if row.key.workflow_id.startswith(Loop.WHILE.tag):
        return row.key.instance_id == _first_iteration(loop)
    made = await read_attempt(reader, attempt)
    restart = None if made is None else made.record.restart
    policy = (None if restart is None else restart.restart_policy) or (around and around.record.policy)
    return policy is not RunPolicy.RESTART_FROM_BEGINNING and in_rows(loop.again, row.key.instance_id)


def _first_iteration(loop: LoopRecord) -> int:
    return loop.again[0][0] if loop.again else 1
