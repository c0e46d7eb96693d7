"""Children of steps: started once, found again, and restarted with the step that had them."""

from typing import Any

import pytest
from tests.unit.node.bench import ANN, NODE, Bench

from stretto.actions.delete_workflow import delete_workflow
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import StepAction
from stretto.model.errors import NotFound, Unavailable
from stretto.model.initiator import SubworkflowInitiator
from stretto.model.param import ParamMode
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.node import asks
from stretto.node.perform.children import request_id_of
from stretto.ports.failures import Stale
from stretto.ports.history import RunList
from stretto.ports.places import group_of_run
from stretto.ports.run_snapshot import NewestRun, read_newest_run
from stretto.testing.shapes import noop, number, step, subworkflow, text, workflow

CHILD = workflow(step("c", "d"), step("d"), id="child", params={"given": number(0)})


def parent(bench: Bench, **more: Any) -> tuple[RunKey, todo.StartChild]:
    """A run whose step is about to start a child."""
    bench.publish(workflow(subworkflow("s", "child", **more)))
    bench.holding = (todo.StartChild,)
    run = bench.start()
    bench.launch(run)
    bench.settle()
    (effect,) = bench.held
    assert isinstance(effect, todo.StartChild)
    bench.held.clear()
    bench.holding = ()
    return run, effect


def test_a_child_stands_under_its_step() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench, params={"given": number(5)})
    (event,) = bench.carry(run, effect)
    child = RunKey("child", 1, 1)
    record = bench.row(child).record
    assert event == happened.ChildStarted(attempt=effect.attempt, child=child, version_id=1, uuid=record.uuid)
    assert isinstance(record.initiator, SubworkflowInitiator)
    assert record.initiator.depth == 1
    assert record.initiator.parent.step_id == "s"
    assert record.initiator.parent.sync is True
    assert record.correlation_id == bench.row(run).record.correlation_id
    assert record.params["given"].evaluated_result == 5
    row = bench.row(child)
    assert row.parent is not None
    assert row.parent.attempt == effect.attempt
    assert row.parent.group == bench.row(run).group
    assert group_of_run(child) in bench.hints.groups


def test_asked_twice_it_is_the_same_child() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench)
    first = bench.carry(run, effect)
    bench.publish(CHILD)  # a newer version changes nothing for what was made
    assert bench.carry(run, effect) == first
    assert bench.do(read_newest_run(bench.store, "child", 2)) is None


def test_nobody_waits_for_an_async_child() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench, sync=False)
    bench.events += [(run, event) for event in bench.carry(run, effect)]
    bench.settle()
    row = bench.row(RunKey("child", 1, 1))
    assert row.parent is None
    assert isinstance(row.record.initiator, SubworkflowInitiator)
    assert row.record.initiator.parent.sync is False
    assert bench.row(run).record.status.value == "SUCCEEDED"


def test_ancestors_are_listed_from_the_root_down() -> None:
    bench = Bench()
    bench.publish(workflow(noop("x"), id="grandchild"))
    bench.publish(workflow(subworkflow("t", "grandchild"), id="child"))
    bench.publish(workflow(subworkflow("s", "child")))
    assert bench.run(bench.start()) == "SUCCEEDED"
    initiator = bench.row(RunKey("grandchild", 1, 1)).record.initiator
    assert isinstance(initiator, SubworkflowInitiator)
    assert [(each.workflow_id, each.step_id) for each in initiator.ancestors] == [("w", "s"), ("child", "t")]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, r"Cannot find workflow \[child\]"),
        ({"params": {"subworkflow_version": text("7")}}, r"Cannot find workflow version \[child\]\[7\]"),
        ({"params": {"subworkflow_version": text("newest")}}, r"Invalid workflow version"),
        ({"params": {"given": text("many")}}, r"given"),
    ],
)
def test_what_a_user_got_wrong_is_refused_with_the_reason(more: dict[str, Any], message: str) -> None:
    bench = Bench()
    if more:
        bench.publish(CHILD)
    run, effect = parent(bench, **more)
    (event,) = bench.carry(run, effect)
    assert isinstance(event, happened.ChildRefused)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(event.message)


def test_who_has_lost_the_group_starts_nothing() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench)
    lease = bench.lease_of(run)
    (newer,) = bench.ask(asks.ClaimAgain(node=NODE, leases=(lease,)))
    assert bench.carry(run, effect, lease) == ()
    assert bench.do(read_newest_run(bench.store, "child", 1)) is None
    assert bench.carry(run, effect, newer) != ()


@pytest.mark.parametrize("error", [Unavailable("no connection"), Stale("somebody was faster")])
def test_what_may_go_better_later_is_raised(error: Exception) -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench)

    async def fails(*_arguments: object) -> None:
        raise error

    bench.swap("transact", fails)
    with pytest.raises(Unavailable, match=str(error)):
        bench.carry(run, effect)


# ------------------------------------------------------------------------------------------------- finding
def test_a_step_that_is_to_end_finds_its_child() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench)
    stop = todo.StopChild(attempt=effect.attempt, child=None, user="ann")
    (event,) = bench.carry(run, stop)
    assert event == happened.ChildRefused(
        attempt=effect.attempt, message="it was ended before its child began"
    )
    started = bench.carry(run, effect)
    assert bench.carry(run, stop) == started


def test_an_attempt_without_params_never_had_a_child() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, _effect = parent(bench)
    unknown = todo.StopChild(attempt=AttemptKey(run, "s", 9), child=None, user="ann")
    (event,) = bench.carry(run, unknown)
    assert isinstance(event, happened.ChildRefused)


def test_a_child_that_is_forgotten_can_not_be_told_of() -> None:
    bench = Bench()
    bench.publish(CHILD)
    run, effect = parent(bench)

    async def forgotten(_workflow_id: str, _request_id: str) -> RunKey:
        return RunKey("child", 77, 1)

    bench.swap("run_of_request", forgotten)
    with pytest.raises(NotFound, match=r"\[child\]\[77\]\[1\], the child of \[w\]\[1\]\[1\]\[s\]\[1\]"):
        bench.carry(run, todo.StopChild(attempt=effect.attempt, child=None, user="ann"))


# ------------------------------------------------------------------------------------------------ restarts
def again(
    run: RunKey, child: RunKey, policy: RunPolicy, config: RestartConfig | None = None, **more: Any
) -> todo.StartChild:
    """A later attempt of the step wants the child that an earlier one had."""
    return todo.StartChild(
        attempt=AttemptKey(run, "s", 2),
        workflow_id="child",
        version="latest",
        sync=more.pop("sync", True),
        params=more.pop("params", {}),
        again=todo.ChildRestart(child=child, policy=policy, config=config),
    )


def with_failed_child(bench: Bench, **more: Any) -> tuple[RunKey, RunKey]:
    """A run that goes on, and its child, which failed at `d`."""
    bench.publish(CHILD)
    bench.publish(workflow(subworkflow("s", "child", **more), step("z")))
    bench.worker.failing = {"d"}
    run = bench.start()
    bench.holding = (todo.StartWork,)
    bench.launch(run)
    (z,) = (each for each in bench.held if isinstance(each, todo.StartWork))
    bench.holding = ()
    bench.settle()
    bench.held = [z]
    child = RunKey("child", 1, 1)
    assert bench.row(child).record.status.value == "FAILED"
    bench.worker.failing = set()
    bench.worker.started.clear()
    return run, child


def test_a_restarted_step_goes_on_with_its_child() -> None:
    bench = Bench()
    run, child = with_failed_child(bench)
    acted = happened.StepActed(attempt=AttemptKey(run, "s", 0), action=StepAction.RESTART, user="ann")
    bench.events.append((run, acted))
    bench.settle()
    assert bench.statuses(run)["s"] == "SUCCEEDED"
    assert bench.worker.started == ["d"]
    newest = bench.do(read_newest_run(bench.store, "child", child.instance_id))
    assert newest is not None
    assert newest.key.run_id == 2
    assert newest.parent is not None
    assert newest.parent.attempt == AttemptKey(run, "s", 2)
    record, before = newest.record, bench.row(child).record
    assert record.policy is RunPolicy.RESTART_FROM_INCOMPLETE
    assert (record.correlation_id, record.owner, record.tags) == (
        before.correlation_id,
        before.owner,
        before.tags,
    )
    assert bench.attempt(run, "s").child == newest.key


def test_the_restart_of_a_child_is_made_once() -> None:
    bench = Bench()
    run, child = with_failed_child(bench)
    effect = again(run, child, RunPolicy.RESTART_FROM_INCOMPLETE)
    first = bench.carry(run, effect)
    assert isinstance(first[0], happened.ChildStarted)
    assert first[0].child == child._replace(run_id=2)
    assert bench.carry(run, effect) == first
    assert bench.row(child._replace(run_id=2)).record.uuid == request_id_of(
        effect.attempt, bench.row(run).record
    )


def test_where_nothing_is_incomplete_all_of_it_runs_again() -> None:
    bench = Bench()
    bench.publish(CHILD)
    bench.publish(workflow(subworkflow("s", "child"), step("z")))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    bench.holding = ()
    bench.settle()
    child = RunKey("child", 1, 1)
    assert bench.row(child).record.status.value == "SUCCEEDED"
    (event,) = bench.carry(run, again(run, child, RunPolicy.RESTART_FROM_INCOMPLETE))
    assert isinstance(event, happened.ChildStarted)
    assert bench.row(event.child).record.policy is RunPolicy.RESTART_FROM_BEGINNING


def test_the_request_changes_the_run_that_it_means() -> None:
    free = number(0)
    mutable = type(free)(type=free.type, value=0, mode=ParamMode.MUTABLE)
    bench = Bench()
    bench.publish(workflow(step("c", "d"), step("d"), id="child", params={"given": mutable}))
    bench.publish(workflow(subworkflow("s", "child"), step("z")))
    bench.worker.failing = {"d"}
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    bench.holding = ()
    bench.settle()
    child = RunKey("child", 1, 1)
    here = RestartNode(workflow_id="child", instance_id=1, step_id="c")
    config = RestartConfig(restart_path=(here,), restart_params={"given": number(8)})
    specific = RunPolicy.RESTART_FROM_SPECIFIC
    (event,) = bench.carry(run, again(run, child, specific, config, params={"other": number(3)}))
    assert isinstance(event, happened.ChildStarted)
    record = bench.row(event.child).record
    assert record.params["given"].evaluated_result == 8
    assert record.params["other"].evaluated_result == 3
    assert record.restart == config


def test_a_place_that_is_not_there_is_refused() -> None:
    bench = Bench()
    run, child = with_failed_child(bench)
    nowhere = RestartConfig(restart_path=(RestartNode(workflow_id="child", instance_id=1, step_id="nobody"),))
    (event,) = bench.carry(run, again(run, child, RunPolicy.RESTART_FROM_SPECIFIC, nowhere))
    assert isinstance(event, happened.ChildRefused)
    assert "has no step nobody" in event.message


def test_an_instance_that_is_forgotten_is_replaced_by_a_new_one() -> None:
    bench = Bench()
    run, _child = with_failed_child(bench)
    (event,) = bench.carry(run, again(run, RunKey("child", 55, 1), RunPolicy.RESTART_FROM_INCOMPLETE))
    assert isinstance(event, happened.ChildStarted)
    assert event.child == RunKey("child", 2, 1)


def test_one_that_goes_on_is_not_restarted() -> None:
    bench = Bench()
    run, _child = with_failed_child(bench)
    going = bench.start("child")
    (event,) = bench.carry(run, again(run, going, RunPolicy.RESTART_FROM_INCOMPLETE))
    assert isinstance(event, happened.ChildRefused)
    assert "it is CREATED" in event.message


def test_of_two_restarts_at_once_the_second_is_refused() -> None:
    bench = Bench()
    run, child = with_failed_child(bench)
    runs = bench.store.runs

    async def late(selection: RunList):
        found = await runs(selection)
        if not isinstance(selection, NewestRun):
            return found
        bench.swap("runs", runs)
        effect = again(run, child, RunPolicy.RESTART_FROM_INCOMPLETE)
        other = todo.StartChild(
            attempt=AttemptKey(run, "s", 7),
            workflow_id="child",
            version="latest",
            sync=True,
            params={},
            again=effect.again,
        )
        record = bench.flows[run].run
        await bench.performer.answer(asks.StartChildRun(lease=lease, root=run, effect=other, run=record))
        return found

    lease = bench.lease_of(run)
    bench.swap("runs", late)
    (event,) = bench.carry(run, again(run, child, RunPolicy.RESTART_FROM_INCOMPLETE))
    assert isinstance(event, happened.ChildRefused)
    assert "already a workflow instance run [child][1][2]" in event.message


def test_a_workflow_that_is_gone_refuses_its_restart() -> None:
    bench = Bench()
    run, child = with_failed_child(bench)
    bench.do(delete_workflow(bench.store, ANN, "child"))
    (event,) = bench.carry(run, again(run, child, RunPolicy.RESTART_FROM_INCOMPLETE))
    assert isinstance(event, happened.ChildRefused)
