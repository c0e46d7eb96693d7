"""The next run of an instance, opened as whoever opens runs does it: from the rows of the runs before."""

from msgspec.structs import replace
from tests.engine.driver import Driver

from stretto.engine.compensation import undo_plan
from stretto.engine.context import step_facts
from stretto.engine.earlier import EarlierRun
from stretto.engine.effects import StartChild
from stretto.engine.opening import plan_of_run
from stretto.engine.records import LoopRecord
from stretto.model.errors import WrongState
from stretto.model.initiator import Initiator
from stretto.model.param import Params, ParamSource
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import StepStatus
from stretto.params import Evaluated, Moment, RunFacts, Scope, evaluate, restarted_params
from stretto.params.context import Alone

P = RunPolicy


def restarted(
    before: Driver,
    policy: RunPolicy,
    step: str | None = None,
    *,
    path: tuple[RestartNode, ...] = (),
    inner: RunPolicy | None = None,
    downstream: RunPolicy | None = None,
    params: Params | None = None,
    step_params: dict[str, Params] | None = None,
    skip: tuple[str, ...] = (),
) -> Driver:
    """Run n+1 of the same instance. `path`: from the place that is meant up to here; `inner`: its policy."""
    key = before.flow.run.key
    node = RestartNode(workflow_id=key.workflow_id, instance_id=key.instance_id, step_id=step)
    config = RestartConfig(
        restart_path=(*path, node),
        restart_policy=inner or policy,
        downstream_policy=downstream or (None if policy is P.RESTART_FROM_SPECIFIC else policy),
        restart_params=params,
        step_restart_params=step_params,
        skip_steps=skip or None,
    )
    return next_run(before, policy, config)


def next_run(
    before: Driver,
    policy: RunPolicy,
    config: RestartConfig | None,
    handed_down: Params | None = None,
    initiator: Initiator | None = None,
) -> Driver:
    key = before.flow.run.key
    earlier = facts_of(before)
    plan = plan_of_run(before.workflow, policy, earlier.statuses, config)
    facts = RunFacts(workflow_id=key.workflow_id, owner="tester", runner="tester")
    at_end = config is not None and len(config.restart_path) == 1
    changed = (config.restart_params or {}) if at_end and config is not None else {}
    source = ParamSource.RESTART if handed_down is None else ParamSource.SUBWORKFLOW
    merged = restarted_params(before.flow.run.params, handed_down or {}, source, restart=changed)
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
        initiator=initiator,
    )
    driver.past = {**before.past, **before.records}
    driver.flow.earlier = earlier
    return driver


def facts_of(before: Driver) -> EarlierRun:
    """What the next run may know of the ones before it."""
    key = before.flow.run.key
    found = before.earlier_run(key.workflow_id, key.instance_id, None)
    assert found is not None
    known = before.flow.earlier
    complete = [record for record in before.flow.attempts if record is not None and record.status.is_complete]
    steps = {record.key.step_id: step_facts(before.flow, record) for record in complete}
    statuses = {
        name: StepStatus.NOT_CREATED if name in before.flow.run.undone else StepStatus(value)
        for name, value in before.statuses().items()
    }
    return replace(
        found,
        steps={**(known.steps if known is not None else {}), **steps},
        statuses={**(known.statuses if known is not None else {}), **statuses},
    )


def next_child(parent: Driver, effect: StartChild, initiator: Initiator) -> Driver:
    """The next run of the child that a subworkflow step has had."""
    again = effect.again
    assert again is not None
    runs = {key: child for key, child in parent.world.children.items() if key[:2] == again.child[:2]}
    before = runs[max(runs)]
    before.runtime = parent.runtime
    given = dict(effect.params)
    try:
        return next_run(before, again.policy, again.config, given, initiator)
    except WrongState:
        return next_run(before, P.RESTART_FROM_BEGINNING, again.config, given, initiator)


def undo_run(parent: Driver, effect: StartChild, _initiator: Initiator) -> Driver:
    """The run that undoes a child."""
    child = effect.undo
    assert child is not None
    runs = {key: each for key, each in parent.world.children.items() if key[:2] == child[:2]}
    before = runs[max(runs)]
    found = before.earlier_run(child.workflow_id, child.instance_id, None)
    assert found is not None
    given = {
        "key": child._replace(run_id=max(runs).run_id + 1),
        "policy": P.UNDO,
        "covers": found.undo,
        "params": before.flow.run.params,
    }
    driver = Driver(
        before.workflow,
        runtime=parent.runtime,
        settings=before.tree.settings,
        library=before.library,
        world=before.world,
        run=given,
        plan=undo_plan(before.workflow.steps, found.undo),
        initiator=before.initiator,
    )
    driver.past = {**before.past, **before.records}
    return driver


def node_of(driver: Driver, loop: str, iteration: int, step: str | None = None) -> RestartNode:
    """An iteration, or a step in it, as a restart path names it."""
    inline = {each.inline_id for each in driver.rows(LoopRecord) if each.key.step_id == loop}
    (name,) = inline
    return RestartNode(workflow_id=name, instance_id=iteration, step_id=step)
