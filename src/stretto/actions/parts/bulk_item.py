"""One item of a bulk job."""

from stretto.actions.act_on_step import kill_step, stop_step
from stretto.actions.caller import Caller
from stretto.actions.parts.dry_store import DryStore
from stretto.actions.parts.evaluation import Evaluator
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.once import remembered
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.actions.stop import kill, stop
from stretto.actions.unblock import unblock
from stretto.model.errors import InvalidRequest
from stretto.model.request import InstanceRestartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.words import Word
from stretto.ports.bulk import BulkItem, BulkJob, BulkTarget
from stretto.ports.hints import Hints
from stretto.ports.store import Store


class BulkAction(Word):
    """What can be done to many."""

    STOP = "STOP"
    KILL = "KILL"
    RESTART = "RESTART"
    UNBLOCK = "UNBLOCK"
    SKIP = "SKIP"


RUN_ACTIONS = {BulkAction.STOP: stop, BulkAction.KILL: kill, BulkAction.UNBLOCK: unblock}
STEP_ACTIONS = {BulkAction.STOP: stop_step, BulkAction.KILL: kill_step, BulkAction.SKIP: skip_step}


async def act_on_item(
    store: Store, caller: Caller, job: BulkJob, item: BulkItem, *, evaluate: Evaluator, hints: Hints
) -> str:
    """Do it, unless it has been done; what came of it, for people. Nobody waits for owners of runs."""
    target, request_id = item.target, f"{job.job_id}:{item.number}"
    is_new_run = BulkAction(job.action) is BulkAction.RESTART and target.step_id is None

    async def work() -> str:
        do = _restarted if is_new_run else _acted
        return await do(store, caller, job, target, request_id, evaluate=evaluate, hints=hints)

    if isinstance(store, DryStore):
        return await work()
    return await remembered(store, ("bulk", request_id), str, work)


async def _restarted(
    store: Store,
    caller: Caller,
    job: BulkJob,
    target: BulkTarget,
    request_id: str,
    *,
    evaluate: Evaluator,
    hints: Hints,
) -> str:
    """A new run knows the request that made it: who asks again finds it. One further up, with which the
    restart of a run inside of it begins, is known by the answer alone.
    """
    known = await store.run_of_request(target.workflow_id, request_id)
    if known is not None:
        return f"Run {known}: created"
    await _check_newest(store, target)
    request = InstanceRestartRequest(
        restart_policy=job.restart_policy or RunPolicy.RESTART_FROM_INCOMPLETE, request_id=request_id
    )
    done = await restart(
        store,
        caller,
        target.workflow_id,
        target.workflow_instance_id,
        request,
        hints=hints,
        evaluate=evaluate,
    )
    return getattr(done.timeline_event, "message", "")


async def _acted(
    store: Store,
    caller: Caller,
    job: BulkJob,
    target: BulkTarget,
    request_id: str,
    *,
    evaluate: Evaluator,
    hints: Hints,
) -> str:
    action, place = BulkAction(job.action), (target.workflow_id, target.workflow_instance_id)
    if target.step_id is None:
        run = await RUN_ACTIONS[action](store, caller, *place, target.workflow_run_id, hints=hints)
        return run.info or ""
    await _check_newest(store, target)
    if action is BulkAction.RESTART:
        policy = job.restart_policy or RunPolicy.RESTART_FROM_INCOMPLETE
        request = StepRestartRequest(restart_policy=policy, request_id=request_id)
        made = await restart_step(
            store, caller, *place, target.step_id, request, hints=hints, evaluate=evaluate
        )
        return getattr(made.timeline_event, "message", "")
    step = await STEP_ACTIONS[action](store, caller, *place, target.step_id, hints=hints)
    return getattr(step.timeline_event, "message", "")


async def _check_newest(store: Store, target: BulkTarget) -> None:
    """Who names a run means what it saw."""
    if target.workflow_run_id is None:
        return
    row = await find_newest_run(store, target.workflow_id, target.workflow_instance_id)
    if row.key.run_id != target.workflow_run_id:
        raise InvalidRequest(
            f"Run [{target.workflow_id}][{target.workflow_instance_id}][{target.workflow_run_id}]"
            f" is not the newest: that is [{row.key.run_id}]"
        )
