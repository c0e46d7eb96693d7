"""Activation, properties, tags, ownership and deletion."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, NOOP, WORK, World, author, flow, viewer

from stretto.actions.activate import activate, decide_activation
from stretto.actions.add_tag import add_tag
from stretto.actions.claim_ownership import claim_ownership
from stretto.actions.deactivate import deactivate, decide_deactivation
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.parts.changing import change_properties, decide_change
from stretto.actions.reading.workflows import get_properties, get_timeline, get_version
from stretto.actions.remove_tag import remove_tag
from stretto.actions.update_properties import update_properties
from stretto.model.errors import (
    Forbidden,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    Unprocessable,
    WrongState,
)
from stretto.model.properties import Properties, PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.runs import RunCounts
from stretto.model.tag import Tag, TagNamespace
from stretto.model.user import User
from stretto.ports.failures import Stale
from stretto.ports.workflows import Found, read_workflow

CRON = "  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n  signal_triggers: [{definitions: {go: {}}}]\n"
NOBODY = Found(now=1, row=None, internal_id=1, counts=RunCounts(0, 0, 0))


def made(text: str = "") -> World:
    world = World()
    world.publish(text or flow(NOOP))
    return world


# ------------------------------------------------------------------------------------------------ activation
def test_activation_chooses_a_version() -> None:
    world = made()
    world.publish(flow(NOOP))
    answer = world.do(activate(world.store, ANN, "flow", "1"))
    assert answer.workflow_version_id == 1
    row = world.do(read_workflow(world.store, "flow"))
    assert row is not None
    assert row.active_version == 1
    again = world.do(activate(world.store, ANN, "flow", "1"))
    assert again.workflow_version_id == 0
    assert "already active" in str(again.timeline_event)


def test_activation_of_what_is_not_there() -> None:
    world = made()
    with pytest.raises(NotFound, match=r"\[flow\]\[7\]"):
        world.do(activate(world.store, ANN, "flow", "7"))
    with pytest.raises(NotFound, match=r"\[other\]"):
        world.do(activate(world.store, ANN, "other", "1"))
    version = world.do(get_version(world.store, ANN, "flow", "1"))
    with pytest.raises(NotFound):
        decide_activation(NOBODY, ANN, version.workflow, 1)


def test_deactivation_stops_triggers() -> None:
    world = made(flow(NOOP, more=CRON))
    assert world.do(deactivate(world.store, ANN, "flow")).workflow_version_id == 0
    assert world.do(world.store.triggers_of("flow")) == ([], [])
    with pytest.raises(NotFound, match="active version"):
        world.start(version="active")
    assert world.start(version="latest").workflow_version_id == 1
    again = world.do(deactivate(world.store, ANN, "flow"))
    assert "already inactive" in str(again.timeline_event)
    logs = [each.log for each in world.do(get_timeline(world.store, ANN, "flow")).timeline_events]
    assert logs[-1] == "Created a new active workflow version [1]"
    assert len(logs) == 3
    world.do(activate(world.store, ANN, "flow", "latest"))
    times, signals = world.do(world.store.triggers_of("flow"))
    assert len(times) == len(signals) == 1


def test_deactivation_of_what_is_not_there() -> None:
    world = World()
    with pytest.raises(NotFound):
        world.do(deactivate(world.store, ANN, "flow"))
    with pytest.raises(NotFound):
        decide_deactivation(NOBODY, ANN, "flow")


# ------------------------------------------------------------------------------------------------ properties
def update(world: World, caller: Any = ANN, **changes: Any) -> Any:
    return world.do(update_properties(world.store, caller, "flow", PropertiesUpdate(**changes)))


def test_an_update_sets_what_it_names() -> None:
    world = made()
    before = world.do(get_properties(world.store, ANN, "flow"))
    after = update(world, description="new", step_concurrency=5)
    assert (after.description, after.step_concurrency) == ("new", 5)
    assert after.run_strategy == before.run_strategy
    assert after.author == ANN.user
    assert (after.create_time or 0) > (before.create_time or 0)


def test_resets() -> None:
    world = made()
    update(world, run_strategy=RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=3))
    update(world, step_concurrency=5)
    assert update(world, reset_workflow_concurrency=True).run_strategy.workflow_concurrency == 20
    assert update(world, reset_step_concurrency=True).step_concurrency is None
    assert update(world, reset_run_strategy_rule=True).run_strategy is None
    assert update(world, reset_workflow_concurrency=True).run_strategy is None


@pytest.mark.parametrize(
    "changes",
    [
        {"reset_step_concurrency": True, "step_concurrency": 1},
        {"reset_run_strategy_rule": True, "run_strategy": RunStrategy(rule=RunStrategyRule.PARALLEL)},
        {"reset_workflow_concurrency": True, "run_strategy": RunStrategy(rule=RunStrategyRule.PARALLEL)},
        {"tags": (Tag(name="x"),)},
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any]) -> None:
    world = made()
    before = world.do(get_properties(world.store, ANN, "flow"))
    with pytest.raises(InvalidRequest):
        update(world, **changes)
    assert world.do(get_properties(world.store, ANN, "flow")) == before


def test_properties_of_what_is_not_there() -> None:
    with pytest.raises(NotFound, match=r"\[flow\]"):
        update(World(), description="x")


def test_a_strategy_switch_waits_for_what_blocks_it() -> None:
    world = made(flow(WORK))
    world.start()
    world.start()
    strategy = RunStrategy(rule=RunStrategyRule.LAST_ONLY)
    with pytest.raises(PreconditionFailed, match="LAST_ONLY"):
        update(world, run_strategy=strategy)


def test_a_wider_strategy_admits_what_is_queued() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    world.start()
    assert world.row(instance_id=2).phase == "QUEUED"
    update(world, run_strategy=RunStrategy(rule=RunStrategyRule.PARALLEL))
    assert world.row(instance_id=2).phase == "ADMITTED"


def test_triggers_are_switched_off_and_on() -> None:
    world = made(flow(NOOP, more=CRON))
    update(world, time_trigger_disabled=True, signal_trigger_disabled=True)
    assert world.do(world.store.triggers_of("flow")) == ([], [])
    update(world, time_trigger_disabled=False, signal_trigger_disabled=False)
    assert [len(each) for each in world.do(world.store.triggers_of("flow"))] == [1, 1]
    world.do(deactivate(world.store, ANN, "flow"))
    update(world, time_trigger_disabled=False)
    assert world.do(world.store.triggers_of("flow")) == ([], [])


def test_an_activation_in_between_is_seen() -> None:
    world = made()
    row = world.do(read_workflow(world.store, "flow"))
    assert row is not None

    def same(_found: Found, _before: Any) -> Properties:
        return Properties()

    with pytest.raises(NotFound):
        decide_change(NOBODY, ANN, (row, None), "log", same)
    world.do(deactivate(world.store, ANN, "flow"))
    now = world.do(read_workflow(world.store, "flow"))
    found = Found(now=1, row=now, internal_id=1, counts=RunCounts(0, 0, 0))
    with pytest.raises(Stale):
        decide_change(found, ANN, (row, None), "log", same)


# ------------------------------------------------------------------------------------------------------ tags
def test_tags_say_who_put_them_there() -> None:
    world = made()
    world.do(add_tag(world.store, ANN, "flow", Tag(name="daily")))
    after = world.do(add_tag(world.store, ANN, "flow", Tag(name="daily", attributes={"x": 1})))
    (tag,) = after.tags or ()
    assert tag.namespace is TagNamespace.PLATFORM
    assert tag.attributes["creator"] == "ann"
    assert tag.attributes["x"] == 1
    assert world.do(remove_tag(world.store, ANN, "flow", "daily")).tags is None
    with pytest.raises(NotFound, match=r"\[daily\].*\[flow\]"):
        world.do(remove_tag(world.store, ANN, "flow", "daily"))


@pytest.mark.parametrize("name", ["", " ", "maestro_x", "x_maestro", "a\nb", "x" * 300])
def test_bad_tags_are_refused(name: str) -> None:
    world = made()
    with pytest.raises(InvalidRequest):
        world.do(add_tag(world.store, ANN, "flow", Tag(name=name)))


# ------------------------------------------------------------------------------------------------- ownership
def test_ownership() -> None:
    world = made()
    with pytest.raises(Forbidden, match=r"bob.*hand over.*flow") as caught:
        world.do(claim_ownership(world.store, author("bob"), "flow"))
    assert caught.value.hint == "ask the owner [ann] or an admin"
    given = world.do(claim_ownership(world.store, author("ann"), "flow", User(name="bob")))
    assert given.owner == User(name="bob")
    assert world.do(claim_ownership(world.store, ANN, "flow")).owner == ANN.user


def test_a_workflow_without_an_owner_is_claimed_by_an_author() -> None:
    world = made()

    def ownerless(_found: Found, _before: Any) -> Properties:
        return Properties()

    world.do(change_properties(world.store, ANN, "flow", "log", ownerless))
    with pytest.raises(Forbidden, match=r"eve.*AUTHOR"):
        world.do(claim_ownership(world.store, viewer("eve"), "flow"))
    assert world.do(claim_ownership(world.store, author("bob"), "flow")).owner == User(name="bob")


# -------------------------------------------------------------------------------------------------- deletion
def test_deletion_waits_for_runs() -> None:
    world = made(flow(WORK))
    world.start()
    with pytest.raises(WrongState, match="flow"):
        world.do(delete_workflow(world.store, ANN, "flow"))
    world.settle()
    event = world.do(delete_workflow(world.store, ANN, "flow"))
    assert "[flow]" in event.message
    with pytest.raises(NotFound):
        world.do(get_version(world.store, ANN, "flow", "1"))
    with pytest.raises(NotFound):
        world.do(delete_workflow(world.store, ANN, "flow"))


def test_inline_workflows_can_not_be_deleted() -> None:
    with pytest.raises(Unprocessable, match="maestro_foreach_x"):
        World().do(delete_workflow(World().store, ANN, "maestro_foreach_x"))
