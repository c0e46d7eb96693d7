"""The answer to a start says whether the run begins, and what keeps it from that."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, NOOP, WORK, World, failing, flow, going_on

from stretto.actions.parts.changing import change_properties
from stretto.actions.parts.property_rules import updated
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.start import PendingStart, start_batch
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.properties import PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.request import InstanceRestartRequest, StartRequest, StepRestartRequest
from stretto.model.response import Hold, Queued, StartResponse, StartStatus
from stretto.model.run_config import RunPolicy
from stretto.model.timeline import LogEvent

R = RunStrategyRule


def busy(rule: str) -> World:
    """A workflow with one run that goes on."""
    world = World(going_on)
    world.publish(flow(WORK, strategy=rule))
    assert world.start().detail is None
    return world.settle()


def test_a_run_that_begins_has_nothing_to_say() -> None:
    made = busy("PARALLEL").start()
    assert (made.detail, made.queued) == (None, None)
    assert isinstance(made.timeline_event, LogEvent)
    assert made.timeline_event.message == "Run [flow][2][1]: created"


@pytest.mark.parametrize("rule", ["SEQUENTIAL", "SERIAL_LATEST_ONLY", "STRICT_SEQUENTIAL"])
def test_a_run_waits_for_the_running_one(rule: str) -> None:
    made = busy(rule).start()
    assert made.status is StartStatus.CREATED
    assert made.detail == "queued, blocked by running flow/1"
    assert made.queued == Queued(hold=Hold.BUSY, blocked_by=("flow/1",))
    assert isinstance(made.timeline_event, LogEvent)
    assert made.timeline_event.message == "Run [flow][2][1]: created, queued, blocked by running flow/1"


def test_a_failed_run_blocks_a_strict_queue() -> None:
    world = World(failing("a"))
    world.publish(flow(WORK, strategy="STRICT_SEQUENTIAL"))
    world.start()
    world.settle()
    made = world.start()
    assert made.detail == "queued, blocked by failed flow/1"
    assert made.queued == Queued(hold=Hold.BLOCKED, blocked_by=("flow/1",))


def test_the_run_that_is_replaced_is_stopping() -> None:
    made = busy("LAST_ONLY").start()
    assert made.detail == "queued, blocked by stopping flow/1"
    assert made.queued == Queued(hold=Hold.REPLACING, blocked_by=("flow/1",))


def test_a_paused_workflow_says_so() -> None:
    world = busy("PARALLEL")
    set_strategy(world, RunStrategy(rule=R.PARALLEL, workflow_concurrency=0))
    made = world.start()
    assert made.detail == "queued, paused: the concurrency of the workflow is 0"
    assert made.queued == Queued(hold=Hold.PAUSED)


async def none() -> None:
    return None


def set_strategy(world: World, strategy: RunStrategy) -> None:
    """As it may stand in a database: 0, which pauses, is refused by an update."""
    changing = change_properties(
        world.store, ANN, "flow", "Changed", lambda _found, before: updated(before, update)
    )
    update = PropertiesUpdate(run_strategy=strategy)
    world.do(changing)


def test_many_runs_in_the_way_are_counted() -> None:
    world = World(going_on)
    world.publish(flow(WORK, strategy="PARALLEL, workflow_concurrency: 5"))
    for _ in range(5):
        world.start()
    made = world.start()
    assert made.detail == "queued, blocked by running flow/1, flow/2, flow/3 and 2 more"
    assert made.queued == Queued(hold=Hold.BUSY, blocked_by=("flow/1", "flow/2", "flow/3"))


def test_free_slots_go_to_the_front_of_the_queue() -> None:
    """One pass admits 50 runs; the look finds what it has left."""
    world = World(going_on)
    world.publish(flow(WORK, strategy="PARALLEL, workflow_concurrency: 70"))
    world.swap("look_at_queue", lambda _workflow_id: none())  # so that nobody admits the rest
    many = [PendingStart(ANN, "latest", StartRequest(initiator=ManualInitiator())) for _ in range(80)]
    answers = world.do(start_batch(world.store, "flow", many))
    holds = [
        each.queued.hold if isinstance(each, StartResponse) and each.queued else None for each in answers
    ]
    assert holds == [None] * 50 + [Hold.NOTHING] * 20 + [Hold.BEHIND] * 10
    last = answers[-1]
    assert isinstance(last, StartResponse)
    assert last.detail == "queued, blocked by queued flow/51, flow/52, flow/53 and 26 more"
    first = answers[50]
    assert isinstance(first, StartResponse)
    assert first.detail == "queued, admitted next"


def test_a_dropped_run_names_the_one_that_goes_on() -> None:
    made = busy("FIRST_ONLY").start()
    assert made.status is StartStatus.STOPPED
    assert made.queued is None
    assert made.detail == (
        "stopped, blocked by running flow/1: "
        "The run strategy FIRST_ONLY dropped it, because another run has not ended."
    )


def test_a_run_that_was_replaced_in_its_batch_says_by_which() -> None:
    world = World(going_on)
    world.publish(flow(WORK, strategy="LAST_ONLY"))
    many = [PendingStart(ANN, "latest", StartRequest(initiator=ManualInitiator())) for _ in range(2)]
    first, _second = world.do(start_batch(world.store, "flow", many))
    assert isinstance(first, StartResponse)
    assert first.status is StartStatus.STOPPED
    assert first.detail is not None
    assert first.detail.startswith("stopped: The run strategy LAST_ONLY ")
    assert "new instance 2" in first.detail


def test_a_run_that_failed_at_birth_says_why() -> None:
    world = World()
    world.publish(flow(NOOP, more="  params: {n: {value: 1, type: LONG}}\n"))
    bad = ParamDefinition(type=ParamType.LONG, expression="nowhere + 1")
    made = world.start(params={"n": bad}, persist_failed_run=True)
    assert made.detail is not None
    assert made.detail.startswith("failed: ")
    assert "nowhere" in made.detail


def test_a_restart_is_queued_like_a_start() -> None:
    world = World(failing("a"))
    world.publish(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    world.settle()
    world.runtime = going_on
    world.start()
    world.settle()
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    made = world.do(restart(world.store, ANN, "flow", 1, request))
    assert made.detail == "queued, blocked by running flow/2"


def test_the_restart_of_a_step_is_queued_like_a_start() -> None:
    world = World(failing("a"))
    world.publish(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    world.settle()
    world.runtime = going_on
    world.start()
    world.settle()
    request = StepRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    made = world.do(restart_step(world.store, ANN, "flow", 1, "a", request))
    assert made.detail == "queued, blocked by running flow/2"
    assert made.queued == Queued(hold=Hold.BUSY, blocked_by=("flow/2",))


def test_only_queued_runs_cost_a_look() -> None:
    world = World(going_on)
    world.publish(flow(WORK, strategy="PARALLEL, workflow_concurrency: 2"))
    transact, calls = world.store.transact, 0

    async def counted(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        return await transact(*given)

    world.swap("transact", counted)
    world.start()
    world.start()
    assert calls == 2
    many = [PendingStart(ANN, "latest", StartRequest(initiator=ManualInitiator())) for _ in range(10)]
    world.do(start_batch(world.store, "flow", many))
    assert calls == 4  # one for the ten requests, one look at their queue
