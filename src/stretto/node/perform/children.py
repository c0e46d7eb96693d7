"""Children of steps: runs of other workflows, which a step starts once, and may have to find again."""

from typing import Final

from stretto.actions.parts.new_run import Sender
from stretto.actions.start_child import start_child
from stretto.engine.effects import StartChild, StopChild
from stretto.engine.events import ChildRefused, ChildStarted
from stretto.engine.inline_ids import subworkflow_uuid
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.errors import Conflict, InvalidRequest, NotFound, Unavailable, Unprocessable
from stretto.model.initiator import Ancestor, SubworkflowInitiator, UpstreamFields
from stretto.ports.failures import Fenced, Stale
from stretto.ports.hints import Hints
from stretto.ports.rows import Lease
from stretto.ports.store import Store

REFUSALS: Final = (Conflict, InvalidRequest, NotFound, Unprocessable)  # it would be refused again


class Children:
    """Starts children under the lease of their parent's group: whoever has lost it starts none."""

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints

    async def start(
        self, effect: StartChild, run: RunRecord, lease: Lease
    ) -> tuple[ChildStarted | ChildRefused, ...]:
        """The child of an attempt: new, a new run of one that the step had, or what an earlier try made."""
        request_id = request_id_of(effect.attempt, run)
        initiator = SubworkflowInitiator(ancestors=_ancestors(effect.attempt, run, sync=effect.sync))
        sender = Sender(
            attempt=effect.attempt, lease=lease, correlation_id=run.correlation_id, waits=effect.sync
        )
        try:
            made = await start_child(self._store, effect, initiator, sender, request_id, hints=self._hints)
        except Fenced:
            return ()  # the next owner asks again
        except Stale as error:  # races, lost again and again: it may go better later
            raise Unavailable(error.message) from error
        except REFUSALS as error:
            return (ChildRefused(attempt=effect.attempt, message=error.message),)
        child = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        return (await self._found(effect.attempt, child),)

    async def look_up(self, effect: StopChild, run: RunRecord) -> tuple[ChildStarted | ChildRefused, ...]:
        """Whether the child of an attempt that is to end exists. Nobody before us can start it any more, and
        we have not: so if it is not there, it never will be.
        """
        row = await self._store.attempt(effect.attempt)
        named = None if row is None else (row.record.params or {}).get("subworkflow_id")
        child = None
        if named is not None:
            workflow_id = str(named.evaluated_result)
            child = await self._store.run_of_request(workflow_id, request_id_of(effect.attempt, run))
        if child is None:
            return (ChildRefused(attempt=effect.attempt, message="it was ended before its child began"),)
        return (await self._found(effect.attempt, child),)

    async def _found(self, attempt: AttemptKey, child: RunKey) -> ChildStarted:
        row = await self._store.run(child)
        if row is None:
            raise NotFound(f"Cannot find workflow instance run {child}, the child of {attempt}")
        record = row.record
        return ChildStarted(attempt=attempt, child=child, version_id=record.version_id, uuid=record.uuid)


def request_id_of(attempt: AttemptKey, run: RunRecord) -> str:
    """The same for the same attempt, whoever asks."""
    return subworkflow_uuid(_own(attempt, sync=None), run.uuid)


def _ancestors(attempt: AttemptKey, run: RunRecord, *, sync: bool) -> tuple[Ancestor, ...]:
    """The attempt and everything above it, from the root down."""
    above = run.initiator.ancestors if isinstance(run.initiator, UpstreamFields) else ()
    return (*above, _own(attempt, sync=sync))


def _own(attempt: AttemptKey, *, sync: bool | None) -> Ancestor:
    return Ancestor(
        workflow_id=attempt.run.workflow_id,
        instance_id=attempt.run.instance_id,
        run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        sync=sync,
    )
