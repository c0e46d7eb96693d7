"""Start what a subworkflow step asks for: a new instance, or the next run of one that the step has had."""

from functools import partial
from typing import Final, Protocol

from stretto.actions.caller import Caller
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.decisions import SYSTEM
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.restarting import Again, next_run
from stretto.actions.parts.start_response import response_of
from stretto.actions.reading.aggregation import aggregate_runs
from stretto.actions.reading.definitions import instance_definition
from stretto.actions.start import start
from stretto.definition.graph import Graph
from stretto.definition.restart import incomplete_steps
from stretto.engine.effects import ChildRestart, StartChild
from stretto.engine.records import RunKey
from stretto.model.errors import Conflict
from stretto.model.initiator import SubworkflowInitiator
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_newest_run, read_run
from stretto.ports.store import Store

P = RunPolicy
NOBODY: Final = Caller(user=User(name=SYSTEM))


class BeginRun(Protocol):
    """Starts a run for a step: see `actions.start`."""

    async def __call__(
        self,
        caller: Caller,
        workflow_id: str,
        version: str,
        request: StartRequest,
        /,
        *,
        sender: Sender | None = None,
        evaluate: Evaluator = evaluate_here,
    ) -> StartResponse: ...


async def start_child(  # noqa: PLR0913 - as `start`
    store: Store,
    effect: StartChild,
    initiator: SubworkflowInitiator,
    sender: Sender,
    request_id: str,
    *,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
    begin: BeginRun | None = None,
) -> StartResponse:
    """The request id is made from the attempt: asked again, the answer is DUPLICATED, with the ids of what
    the first one made. `begin` starts a new instance, if it is not to be done at once and alone.
    """
    known = await store.run_of_request(effect.workflow_id, request_id)
    if known is not None:
        return await _repeated(store, known, request_id)
    row = await _newest(store, effect)
    if row is not None and row.record.uuid == request_id:  # made since it was looked for, by a try before
        return await _repeated(store, row.key, request_id)
    row = _restartable(row, sender)
    if effect.again is None or row is None:
        request = StartRequest(initiator=initiator, request_id=request_id, run_params=dict(effect.params))
        place = (effect.workflow_id, effect.version)
        begin = begin or partial(start, store, hints=hints)
        return await begin(NOBODY, *place, request, sender=sender, evaluate=evaluate)
    again = Again(
        row=row,
        policy=await _policy(store, row, effect.again),
        config=effect.again.config or _config(row, effect.again),
        caller=NOBODY,
        request_id=request_id,
        hints=hints,
        sender=sender,
        initiator=initiator,
        handed_down=dict(effect.params),
        evaluate=evaluate,
    )
    done = await next_run(store, again)
    return response_of(done, effect.workflow_id, row.record.version_id, own_id=False)


async def _repeated(store: Store, run: RunKey, request_id: str) -> StartResponse:
    row = await read_run(store, run)
    assert row is not None  # noqa: S101 - a request is known as long as its run
    return StartResponse(
        workflow_id=run.workflow_id,
        workflow_version_id=row.record.version_id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        workflow_uuid=request_id,
        status=StartStatus.DUPLICATED,
        timeline_event=LogEvent(timestamp=await store.now(), message=f"Run {run}: duplicated"),
    )


async def _newest(store: Store, effect: StartChild) -> RunRow | None:
    """The newest run of the instance that the step goes on with. None: it has none, or it is gone."""
    if effect.again is None:
        return None
    child = effect.again.child
    return await read_newest_run(store, child.workflow_id, child.instance_id)


def _restartable(row: RunRow | None, sender: Sender) -> RunRow | None:
    """The run, if it is over. None: it goes on by itself, and the step lets it."""
    if row is None or row.record.status.is_terminal:
        return row
    if not sender.waits:
        return None
    raise Conflict(f"Cannot restart the subworkflow run {row.key}: it is {row.record.status}")


async def _policy(store: Store, row: RunRow, again: ChildRestart) -> RunPolicy:
    """That of the restart. Where nothing is incomplete the whole child runs again: its step was restarted."""
    if again.policy is not P.RESTART_FROM_INCOMPLETE:
        return again.policy
    workflow = await instance_definition(store, row)
    state = await aggregate_runs(store, workflow, row)
    incomplete = incomplete_steps(Graph.of(workflow.steps), state.statuses)
    return again.policy if incomplete else P.RESTART_FROM_BEGINNING


def _config(row: RunRow, again: ChildRestart) -> RestartConfig:
    """Of a child that is not on the path of the restart: all of it, and all below it in the same way."""
    node = RestartNode(workflow_id=row.key.workflow_id, instance_id=row.key.instance_id)
    return RestartConfig(restart_path=(node,), restart_policy=again.policy, downstream_policy=again.policy)
