"""The next run of an instance, opened as whoever opens runs does it: from the rows of the runs before."""

from tests.engine.driver import Driver
from tests.engine.reading import GOOD

from stretto.engine.context import step_facts
from stretto.engine.opening import plan_of_run
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.model.param import Params
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.params import Evaluated, Moment, RunFacts, Scope, evaluate, restarted_params
from stretto.params.context import Alone


def restarted(
    before: Driver,
    policy: RunPolicy,
    step: str | None = None,
    *,
    keep: frozenset[RunStatus] = GOOD,
    iteration: int | None = None,
    params: Params | None = None,
    step_params: dict[str, Params] | None = None,
    skip: tuple[str, ...] = (),
) -> Driver:
    """Run n+1 of the same instance. `iteration`: the one of a loop that is not kept, whatever it was."""
    key = before.flow.run.key
    node = RestartNode(workflow_id=key.workflow_id, instance_id=key.instance_id, step_id=step)
    config = RestartConfig(
        restart_path=(node,),
        restart_policy=policy,
        restart_params=params,
        step_restart_params=step_params,
        skip_steps=skip or None,
    )
    statuses = {name: StepStatus(value) for name, value in before.statuses().items()}
    plan = plan_of_run(before.workflow, policy, statuses, config)
    facts = RunFacts(workflow_id=key.workflow_id, owner="tester", runner="tester")
    merged = restarted_params(before.flow.run.params, restart=params or {})
    found = evaluate(merged, Scope(context=Alone(facts), moment=Moment(before.now)))
    assert isinstance(found, Evaluated)
    given = {
        "key": key._replace(run_id=key.run_id + 1),
        "policy": policy,
        "restart": config,
        "params": found,
    }
    driver = Driver(
        before.workflow,
        runtime=before.runtime,
        settings=before.tree.settings,
        library=before.library,
        world=before.world,
        run=given,
        plan=plan,
    )
    complete = [record for record in before.flow.attempts if record is not None and record.status.is_complete]
    driver.flow.earlier = {
        **before.flow.earlier,
        **{record.key.step_id: step_facts(before.flow, record) for record in complete},
    }
    loops = {loop.key.step_id for loop in before.of(LoopRecord) if loop.key.run == key}
    driver.flow.earlier_loops = {name: earlier(before, name, keep, iteration) for name in loops}
    return driver


def earlier(before: Driver, step_id: str, keep: frozenset[RunStatus], iteration: int | None):
    found = before.earlier_loop(step_id, keep)
    newest = {run.key.instance_id: run for run in before.iterations(step_id)}
    kept = tuple(row for row in found.kept if row[0] != iteration)
    ended: dict[RunStatus, int] = {}
    for first, _ in kept:
        ended[newest[first].status] = ended.get(newest[first].status, 0) + 1
    loop = [each for each in before.of(LoopRecord) if each.key.step_id == step_id][-1]
    last = max(newest)
    carried = {name: newest[last].params[name] for name in loop.carried}
    return type(found)(run_id=found.run_id, kept=kept, ended=ended, first=last - 1, carried=carried)


def newest_of(driver: Driver, step_id: str) -> AttemptRecord:
    return driver.attempt(step_id)
