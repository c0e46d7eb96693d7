"""Behaviour cases that need the whole machine: each runs a workflow in virtual time."""

from typing import Any

import pytest
from tests.conformance import test_engine_step_cases
from tests.conformance.behaviour import Then
from tests.conformance.machine_cases import CASES, OF_ACTIONS, OF_PERMITS, Machine
from tests.conformance.rule_cases import NEEDS_MACHINE
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.shapes import (
    foreach,
    noop,
    number,
    numbers,
    result,
    step,
    subworkflow,
    tag,
    while_,
    workflow,
)

from stretto.engine.earlier import EarlierLoop, EarlierRun, earlier_key, iterations_key
from stretto.engine.effects import StartChild, StopChild, TerminateWork
from stretto.engine.events import ChildStarted, Fetched, RunActed, RunAction
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.loops import inline_id
from stretto.engine.records import LoopRecord, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.errors import WrongState
from stretto.model.retry import RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import SubworkflowStep
from stretto.model.wire import decode

pytestmark = pytest.mark.conformance
S = StepStatus
MACHINE = Machine()
case = MACHINE.case


# ------------------------------------------------------------------------------------ retries and timeouts
@case("retry-user-error-exhaustion", "retry-platform-error-exhaustion")
def _(given: Any, then: Then) -> None:
    state = given.pop("runtime_result")
    policy = RetryPolicy(**given)
    driver = Driver(workflow(step("a", retry_policy=policy)), runtime=scripted(a=[state])).finish()
    assert [each.status.value for each in attempts_of(driver, "a")] == then.take("statuses")
    if "note" in then:
        assert then.take("note") == "user failures do not count against the platform limit"
        both = RetryPolicy(error_retry_limit=1, platform_retry_limit=1)
        states: list[Work | str] = ["USER_ERROR", "PLATFORM_ERROR", "DONE"]
        driver = Driver(workflow(step("a", retry_policy=both)), runtime=scripted(a=states)).finish()
        assert driver.status == "SUCCEEDED"


@case("cancel-by-flow-timeout", "cancel-by-flow-running", "timeout-action-on-step")
def _(given: Any, then: Then) -> None:
    driver = Driver(workflow(step("a", timeout=60)), runtime=scripted(a=[FOREVER])).start()
    driver.stubborn = True
    if "pending_action" in given:
        driver.run(60_000)
    else:
        driver.act(RunAction.TIME_OUT if given["flow_status"] == "TIMED_OUT" else RunAction.STOP)
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("a").ending == then.take("terminate_called_with")


# --------------------------------------------------------------------------------------------------- loops
@case("foreach-restart-instance-row")
def _(given: Any, then: Then) -> None:
    iteration = given["iteration"]
    loop = foreach("l", {"i": numbers(*range(iteration))}, step("a"))
    policy = RunPolicy(given["artifact"]["run_policy"])
    driver = Driver(workflow(loop), runtime=scripted(a=[FOREVER]), run={"policy": policy})
    driver.flow.run.version_id = given["version"]
    driver.flow.earlier = EarlierRun(loop_runs={"l": given["artifact"]["foreach_run_id"] - 1})
    rows = {RunStatus.SUCCEEDED: ((1, iteration - 1),)}
    driver.earlier_loop = lambda inline: EarlierLoop(rows=rows)  # type: ignore[method-assign]  # noqa: ARG005
    driver.start().run(0)
    (run,) = driver.iterations("l")
    assert run.key.instance_id == then.take("instance_id")
    assert run.key.run_id == then.take("run_id")
    assert run.version_id == then.take("version_id")


def while_artifact(loop: LoopRecord) -> dict[str, int]:
    """A loop before its first round, in Maestro's words."""
    first = loop.next_index + 1
    run_id = loop.key.run.run_id
    return {
        "first_iteration": first,
        "last_iteration": first - 1,
        "loop_run_id": loop.run_id,
        "run_id": run_id,
    }


def while_driver(policy: RunPolicy = RunPolicy.START_FRESH_NEW_RUN, **settings: Any) -> Driver:
    made = while_("l", "count < 3", {"count": number(1)}, step("a"), tags=(tag("t"),))
    given = {"policy": policy}
    return Driver(workflow(made), settings=EngineSettings(**settings), limits={"t": 1}, run=given)


@case("while-fresh-start", "while-restart-from-incomplete")
def _(given: Any, then: Then) -> None:
    policy = RunPolicy(given.get("policy", "START_FRESH_NEW_RUN"))
    driver = while_driver(policy, records_per_decision=0)  # so that its first round does not begin with it
    before = given.get("previous_artifact")
    driver.start().send(driver.world.queue.popleft()[1])
    if before is not None:
        key = driver.attempt("l").key
        inline = inline_id(driver.flow, driver.attempt("l"), Loop.WHILE)
        loop = EarlierLoop(rows={RunStatus.SUCCEEDED: ((1, 4),), RunStatus.FAILED: ((5, 5),)})
        assert loop.highest == before["last_iteration"]
        driver.world.queue.clear()
        values: list[dict[object, Any]] = [
            {driver.flow.earlier_key: EarlierRun(loop_runs={"l": before["loop_run_id"]})},
            {iterations_key(inline, key): loop},
            {earlier_key(inline, loop.highest): EarlierRun(params={"count": result(2)})},
        ]
        for each in values:
            driver.send(Fetched(attempt=key, values=each))
        driver.world.queue.clear()
    found = while_artifact(driver.of(LoopRecord)[0])
    wanted = then.take("artifact")
    assert {key: found[key] for key in wanted} == wanted
    if "result" in then:
        assert then.take("result") == "DONE"  # of the start: it runs
        assert driver.attempt("l").status is S.RUNNING


@case("while-terminate-before-start")
def _(given: Any, then: Then) -> None:
    assert given == {"artifact": None}
    driver = while_driver()
    driver.world.limits["t"] = 0
    driver.start().run(0).step("l", StepAction.STOP)
    assert driver.attempt("l").status == then.take("result")
    assert driver.attempt("l").artifacts == then.take("artifacts")
    assert not driver.of(LoopRecord)


@case("leaf-limit-stops-workflow")
def _(given: Any, then: Then) -> None:
    assert given["total_leaf_count"] == "> 1000000"
    loop = foreach("l", {"i": numbers(*range(50))}, noop("a"), noop("b"), concurrency=5)
    driver = Driver(workflow(loop), settings=EngineSettings(leaves=10)).finish()
    assert then.take("effect") == "STOP action for the whole instance (1 call)"
    assert driver.status == "STOPPED"
    assert [line for line in driver.lines() if "more than 10 steps" in line] == driver.lines()[-1:]


# ------------------------------------------------------------------------------------------- subworkflows
@case("depth-limit")
def _(given: Any, then: Then) -> None:
    library = {"kid": workflow(subworkflow("again", "kid"), id="kid")}
    driver = Driver(workflow(subworkflow("s", "kid")), library=library).finish()
    assert len(driver.world.children) == given["ancestors"]
    depths = {child.flow.run.initiator.depth: child for child in driver.world.children.values()}
    deepest = depths[given["ancestors"]]
    assert then.take("error_contains") in str(deepest.attempt("again").reason)
    assert driver.status == "FAILED"


@case("sync-null-means-sync", "subworkflow-sync-flag")
def _(given: Any, then: Then) -> None:
    several = isinstance(given["sync"], list)
    found = []
    for sync in given["sync"] if several else [given["sync"]]:
        kid = subworkflow("s", "kid")
        params = {
            name: {"type": each.type.value, "value": each.value} for name, each in (kid.params or {}).items()
        }
        made, problems = decode(SubworkflowStep, {"id": "s", "sync": sync, "params": params})
        assert not problems
        driver = Driver(workflow(made), library={"kid": workflow(id="kid")}).finish()
        (effect,) = [each for each in driver.effects if isinstance(each, StartChild)]
        (child,) = driver.world.children.values()
        assert child.flow.run.initiator.ancestors[-1].sync is effect.sync  # type: ignore[union-attr]
        found.append(not effect.sync)
    (wanted,) = then.rest().values()
    assert found == (wanted if several else [wanted])


def with_child(child: RunKey, uuid: str, version: int = 1) -> Driver:
    driver = Driver(workflow(subworkflow("s", child.workflow_id)))
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.start()
    driver.send(ChildStarted(attempt=driver.attempt("s").key, child=child, version_id=version, uuid=uuid))
    return driver


@case("subworkflow-duplicate-start-reuses")
def _(given: Any, then: Then) -> None:
    there = given["existing"]
    child = RunKey(there["workflow_id"], there["instance_id"], there["run_id"])
    driver = with_child(child, given["start_response"].split()[-1], there["version"])
    assert then.take("result") == "CONTINUE"
    assert driver.attempt("s").status is S.RUNNING
    artifact = driver.attempt("s").artifacts["maestro_subworkflow"]
    for name, value in then.take("artifact").items():
        assert getattr(artifact, name) == value
    assert driver.lines("s") == [then.take("timeline")]


@case("subworkflow-terminate-waits")
def _(given: Any, then: Then) -> None:
    child = RunKey(given["child"]["workflow"], given["child"]["instance"], given["child"]["run"])
    driver = with_child(child, "u").step("s", StepAction.STOP)
    assert "is not done" in then.take("error")
    assert driver.attempt("s").status is S.RUNNING
    wake_up = then.take("side_effect")
    assert isinstance(driver.effects[-1], StopChild)
    assert driver.effects[-1].child == child
    assert child.workflow_id in wake_up
    assert f"instance {child.instance_id} run {child.run_id}" in wake_up


# ------------------------------------------------------------------------------------------------ instances
@case("stop-queued-vs-running")
def _(given: Any, then: Then) -> None:
    completed, effects = [], then.take("effect")
    for instance, effect in zip(given["instances"], effects, strict=True):
        ended = []
        for action, end in ((RunAction.STOP, RunStatus.STOPPED), (RunAction.KILL, RunStatus.FAILED)):
            driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER]))
            driver.stubborn = True
            if instance["status"] == "PAUSED":
                driver.act(RunAction.PAUSE)
            if instance["execution_id"] is not None:
                driver.start()
            assert driver.status == instance["status"]
            driver.act(action)
            assert driver.flow.is_over is ("at once" in effect)
            assert driver.flow.run.status is end or isinstance(driver.effects[-1], TerminateWork)
            ended.append(driver.flow.is_over)
        completed.append(all(ended))
    assert completed == then.take("completed")


@case("stop-terminal-instance", "stop-already-stopped-is-noop")
def _(given: Any, then: Then) -> None:
    ends = {"TIMED_OUT": "TIMED_OUT", "FAILED": "FATAL_ERROR", "SUCCEEDED": "DONE", "STOPPED": "STOPPED"}
    if "run_status" in given:
        driver = Driver(workflow(step("a")), runtime=scripted(a=[ends[given["run_status"]]])).finish()
        again = RunActed(run=driver.flow.run.key, action=RunAction.STOP, user="ann")
        assert len(driver.send(again).changes) == then.take("writes")
        assert driver.flow.is_over is then.take("completed")
        return
    wanted = then.take("error")
    for status in given["status"]:
        driver = Driver(workflow(step("a"), id="test-id"), runtime=scripted(a=[ends[status]])).finish()
        with pytest.raises(WrongState) as refused:
            driver.act(RunAction.STOP)
        assert wanted.replace("<status>", status) in str(refused.value)


@pytest.mark.parametrize("case_id", MACHINE.checks)
def test_case(case_id: str) -> None:
    MACHINE.run(case_id)


def test_every_case_of_the_machine_is_tested_or_somebody_elses() -> None:
    instances = [name for name, each in CASES.items() if each["area"] == "instance-action"]
    tested = [*MACHINE.checks, *test_engine_step_cases.MACHINE.checks, *OF_PERMITS, *OF_ACTIONS]
    assert sorted(tested) == sorted([*NEEDS_MACHINE, *instances])
