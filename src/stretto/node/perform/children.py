"""Children of steps: runs of other workflows, which a step starts once, and may have to find again."""

from typing import Final

from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.evaluation import Evaluator
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.undo_run import start_undo
from stretto.actions.reading.definitions import instance_definition
from stretto.actions.start_child import BeginRun, start_child
from stretto.engine.earlier import NO_EARLIER
from stretto.engine.effects import StartChild, StopChild
from stretto.engine.events import ChildEnded, ChildRefused, ChildStarted
from stretto.engine.inline_ids import subworkflow_uuid
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.model.errors import Conflict, InvalidRequest, NotFound, Unavailable, Unprocessable
from stretto.model.initiator import Ancestor, SubworkflowInitiator, UpstreamFields
from stretto.model.status import RunStatus
from stretto.node.perform.earlier import Earlier
from stretto.ports.failures import Fenced, Stale
from stretto.ports.hints import Hints
from stretto.ports.rows import Lease
from stretto.ports.run_snapshot import read_attempt, read_run
from stretto.ports.store import Store

REFUSALS: Final = (Conflict, InvalidRequest, NotFound, Unprocessable)  # it would be refused again


class Children:
    """Starts children under the lease of their parent's group: whoever has lost it starts none."""

    def __init__(
        self,
        store: Store,
        hints: Hints,
        earlier: Earlier,
        evaluate: Evaluator,
        begin: BeginRun | None = None,
    ) -> None:
        self._store = store
        self._hints = hints
        self._earlier = earlier
        self._evaluate = evaluate
        self._begin = begin

    async def start(
        self, effect: StartChild, run: RunRecord, lease: Lease
    ) -> tuple[ChildStarted | ChildRefused | ChildEnded, ...]:
        """The child of an attempt: new, a new run of one that the step had, or what an earlier try made."""
        request_id = request_id_of(effect.attempt, run)
        initiator = SubworkflowInitiator(ancestors=_ancestors(effect.attempt, run, sync=effect.sync))
        sender = Sender(
            attempt=effect.attempt,
            lease=lease,
            correlation_id=run.correlation_id,
            tree_limit=effect.tree_limit,
            criticality=effect.criticality,
            waits=effect.sync,
            held=effect.held,
        )
        try:
            if effect.undo is not None:
                return await self._undo(effect, effect.undo, sender, request_id)
            made = await start_child(
                self._store,
                effect,
                initiator,
                sender,
                request_id,
                hints=self._hints,
                evaluate=self._evaluate,
                begin=self._begin,
            )
        except Fenced:
            return ()  # the next owner asks again
        except Stale as error:  # races, lost again and again: it may go better later
            raise Unavailable(error.message) from error
        except REFUSALS as error:
            return (ChildRefused(attempt=effect.attempt, message=error.message),)
        child = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        return (await self._found(effect.attempt, child),)

    async def _undo(
        self, effect: StartChild, child: RunKey, sender: Sender, request_id: str
    ) -> tuple[ChildStarted | ChildEnded, ...]:
        """The run that undoes a child, once for this attempt; it is done at once if nothing can be undone."""
        known = await self._store.run_of_request(child.workflow_id, request_id)
        if known is not None:
            return (await self._found(effect.attempt, known),)
        row = await find_newest_run(self._store, child.workflow_id, child.instance_id)
        workflow = await instance_definition(self._store, row)
        earlier = await self._earlier.run(workflow, child.workflow_id, child.instance_id) or NO_EARLIER
        if earlier.compensation is not None or not earlier.undo:
            return (ChildEnded(attempt=effect.attempt, child=child, status=RunStatus.SUCCEEDED),)
        made = await start_undo(self._store, row, earlier.undo, sender, request_id, hints=self._hints)
        started = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        return (await self._found(effect.attempt, started),)

    async def find(self, effect: StopChild, run: RunRecord) -> tuple[ChildStarted | ChildRefused, ...]:
        """Whether the child of an attempt that is to end exists. Nobody before us can start it any more, and
        we have not: so if it is not there, it never will be.
        """
        row = await read_attempt(self._store, effect.attempt)
        named = None if row is None else _workflow_named(row.record)
        child = None
        if named is not None:
            child = await self._store.run_of_request(named, request_id_of(effect.attempt, run))
        if child is None:
            return (ChildRefused(attempt=effect.attempt, message="it was ended before its child began"),)
        return (await self._found(effect.attempt, child),)

    async def _found(self, attempt: AttemptKey, child: RunKey) -> ChildStarted:
        row = await read_run(self._store, child)
        if row is None:
            raise NotFound(f"Cannot find workflow instance run {child}, the child of {attempt}")
        record = row.record
        return ChildStarted(
            attempt=attempt,
            child=child,
            version_id=record.version_id,
            uuid=record.uuid,
            held=record.held,
        )


def _workflow_named(record: AttemptRecord) -> str | None:
    """The workflow of the child that an attempt has asked for, or of the one that it undoes."""
    named = (record.params or {}).get("subworkflow_id")
    if named is not None:
        return str(named.evaluated_result)
    return None if record.earlier_child is None else record.earlier_child.workflow_id


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
