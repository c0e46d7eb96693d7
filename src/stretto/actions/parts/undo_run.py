"""Undo an instance that has ended: a new run of it, which the step that undoes its parent waits for."""

from collections.abc import Sequence

from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.start_response import response_of
from stretto.engine.records import RunKey, RunRecord
from stretto.model.response import StartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.timeline import LogEvent
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.strategies import Undo


async def start_undo(
    store: Store, row: RunRow, steps: Sequence[str], sender: Sender, request_id: str, *, hints: Hints = SILENT
) -> StartResponse:
    """`row`: the newest run of the instance; `steps`: what undoes it, in order. The run strategy of the
    workflow has no say: the undo begins at once.
    """
    candidate = Candidate(
        request=Undo(request_id, row.key.instance_id),
        record=lambda key, now: _record(row.record, tuple(steps), sender, request_id, key, now),
        parent=sender.parent,
        lease=sender.lease,
    )
    done = await admit_all(store, row.key.workflow_id, [candidate], hints=hints)
    return response_of(done, row.key.workflow_id, row.record.version_id, own_id=False)


def _record(
    before: RunRecord, steps: tuple[str, ...], sender: Sender, request_id: str, key: RunKey, now: int
) -> RunRecord:
    """It stands where the run stood that it undoes, with the same parameters."""
    return RunRecord(
        key=key,
        uuid=request_id,
        version_id=before.version_id,
        policy=RunPolicy.UNDO,
        initiator=before.initiator,
        correlation_id=before.correlation_id,
        tree_limit=sender.tree_limit,
        criticality=sender.criticality,
        owner=before.owner,
        params=before.params,
        tags=before.tags,
        artifacts=before.artifacts,
        properties_at=before.properties_at,
        covers=steps,
        create_time=now,
        timeline=(LogEvent(timestamp=now, message=f"Undoes run {before.key} for step {sender.attempt}"),),
        **sender.hold,
    )
