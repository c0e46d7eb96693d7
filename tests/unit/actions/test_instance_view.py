"""What a run was asked for, and the properties it goes by, as readers see them."""

from typing import Any

import msgspec
import pytest
from tests.unit.actions.world import ANN, NOOP, WORK, World, flow, going_on

from stretto.actions.reading.instance_view import InstanceViews
from stretto.actions.reading.instances import get_instance, get_run
from stretto.actions.reading.run_properties import alerting_of
from stretto.actions.restart import restart
from stretto.actions.update_properties import update_properties
from stretto.engine.records import RunKey, RunRecord
from stretto.model.alerting import Alerting, TargetCompletionTime
from stretto.model.artifact import DefaultArtifact
from stretto.model.initiator import ManualInitiator
from stretto.model.instance import WorkflowInstance
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.properties import PropertiesUpdate
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.ports.run_snapshot import NewestRun
from stretto.ports.workflows import read_workflow

DAY = ParamDefinition(type=ParamType.STRING, value="20240102")
DAILY = "  tags: [daily]\n  params: {day: {value: '20240101', type: STRING}}\n"
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)


def shown(world: World, workflow_id: str = "flow", instance_id: int = 1) -> WorkflowInstance:
    return world.do(get_instance(world.store, ANN, workflow_id, instance_id))


def made(*steps: str, script: Any = None, **start: Any) -> World:
    world = World() if script is None else World(script)
    world.publish(flow(*(steps or (NOOP,)), more=DAILY))
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(step_concurrency=7)))
    world.start(**start)
    return world.settle()


def test_what_was_asked_for_is_shown() -> None:
    world = made(
        params={"day": DAY},
        runtime_tags=(Tag(name="adhoc"),),
        artifacts={"from": DefaultArtifact(data={"ticket": 5})},
        request_time=12_345,
    )
    view = shown(world)
    assert view.run_params == {"day": DAY}
    assert view.run_config is not None
    assert view.run_config.runtime_tags == (Tag(name="adhoc"),)
    assert view.artifacts == {"from": DefaultArtifact(data={"ticket": 5})}
    assert view.request_time == 12_345
    assert view.create_time != 12_345
    assert view.runtime_workflow is not None
    assert [tag.name for tag in view.runtime_workflow.tags or ()] == ["daily", "adhoc"]


def test_who_gave_nothing_has_nothing_kept() -> None:
    world = made()
    view = shown(world)
    assert (view.run_params, view.artifacts) == ({}, {})
    assert view.run_config is not None
    assert view.run_config.runtime_tags is None
    assert view.request_time == view.create_time
    record = world.row().record
    assert (record.run_params, record.runtime_tags, record.artifacts, record.request_time) == (
        {},
        (),
        {},
        None,
    )


def test_a_run_goes_by_the_properties_of_its_time() -> None:
    world = made()
    held = world.do(read_workflow(world.store, "flow"))
    world.advance(1_000)
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(step_concurrency=9)))
    properties = shown(world).run_properties
    assert properties is not None
    assert held is not None
    assert (properties.create_time, properties.step_concurrency) == (held.properties.create_time, 7)
    assert properties.owner is not None
    assert properties.owner.name == "ann"
    world.start()
    newer = shown(world, instance_id=2).run_properties
    assert newer is not None
    assert newer.step_concurrency == 9


def test_properties_that_are_gone_leave_the_owner() -> None:
    world = made()

    db = world.store._db
    with db.transaction():
        for key in list(db.snapshots_of["flow"]):
            db.snapshots.pop(key)
    properties = shown(world).run_properties
    assert properties is not None
    assert (properties.owner is not None, properties.create_time) == (True, None)


def test_a_run_that_does_not_say_goes_by_nothing() -> None:
    world = made()
    snapshot = world.do(world.store.read_runs(NewestRun("flow", 1)))
    (row,) = snapshot.page.elements
    row.record.properties_at = None
    properties = world.do(InstanceViews(snapshot).of(row)).run_properties
    assert properties is not None
    assert (properties.create_time, properties.step_concurrency) == (None, None)


def test_an_iteration_goes_by_the_properties_around_it() -> None:
    world = made(LOOP, script=going_on)
    (loop,) = world.do(world.store.loops(RunKey("flow", 1, 1)))
    view = shown(world, loop.inline_id)
    assert view.run_properties is not None
    assert view.run_properties.step_concurrency == 7


def test_a_child_was_given_what_its_parent_handed_down() -> None:
    world = World()
    world.publish(flow(WORK, name="child"))
    step = (
        "subworkflow: {id: s, params: {subworkflow_id: {value: child, type: STRING},"
        " x: {value: 5, type: LONG}}}"
    )
    world.publish(flow(step, name="parent"))
    world.start("parent")
    world.settle()
    given = shown(world, "child").run_params or {}
    assert given["x"].value == 5
    assert type(given["x"]) is ParamDefinition
    assert world.row("child").record.run_params == {}  # it is in `params` already


def test_a_restart_keeps_what_belongs_to_the_instance() -> None:
    world = made(params={"day": DAY}, artifacts={"from": DefaultArtifact(data={"ticket": 5})})
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(step_concurrency=9)))
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING, request_time=99)
    world.do(restart(world.store, ANN, "flow", 1, request))
    view = world.do(get_run(world.store, ANN, "flow", 1, "2"))
    assert view.run_properties is not None
    assert view.run_properties.step_concurrency == 7
    assert view.artifacts == {"from": DefaultArtifact(data={"ticket": 5})}
    assert view.run_params == {}  # those of a restart are in its config
    assert view.request_time == 99


# -------------------------------------------------------------------------------------------------- alerting
def run(**params: Any) -> RunRecord:
    made = {
        name: Parameter(type=ParamType.STRING, value=value, evaluated_result=value)
        for name, value in params.items()
    }
    return RunRecord(
        key=RunKey("flow", 1, 1),
        uuid="u",
        version_id=1,
        initiator=ManualInitiator(),
        correlation_id="c",
        params=made,
    )


TOKYO = {"TARGET_RUN_DATE": "20240101", "WORKFLOW_CRON_TIMEZONE": "Asia/Tokyo", "RUN_TS": 1_000}


@pytest.mark.parametrize(
    ("given", "at"),
    [
        (TargetCompletionTime(duration_minutes=2), 121_000),
        (TargetCompletionTime(completed_by_hour=9), 1_704_067_199_000),  # 8:59:59 there is midnight in London
        (TargetCompletionTime(completed_by_hour=0, tz="UTC"), 1_704_067_199_000),
        (TargetCompletionTime(completed_by_ts=5), 5),
        (TargetCompletionTime(completed_by_hour=1, tz="Nowhere/Land"), None),
    ],
)
def test_a_time_of_completion_is_a_moment(given: TargetCompletionTime, at: int | None) -> None:
    tct = alerting_of(Alerting(tct=given), run(**TOKYO)).tct
    assert tct is not None
    assert tct == msgspec.structs.replace(given, completed_by_ts=at)  # beside what the owner has written


def test_what_can_not_be_worked_out_stays_as_it_is() -> None:
    given = TargetCompletionTime(duration_minutes=2)
    assert alerting_of(Alerting(tct=given), run()).tct == given
    alerting = Alerting(emails=("${who}@x.org", "${nobody}@x.org"))
    assert alerting_of(alerting, run(who="ann")).emails == ("ann@x.org", "${nobody}@x.org")
    assert alerting_of(Alerting(), run()) == Alerting()


def test_alerting_is_shown_with_its_values() -> None:
    world = World()
    world.publish(flow(NOOP, more=DAILY))
    update = PropertiesUpdate(alerting=Alerting(emails=("${day}@x.org",)))
    world.do(update_properties(world.store, ANN, "flow", update))
    world.start()
    properties = shown(world).run_properties
    assert properties is not None
    assert properties.alerting == Alerting(emails=("20240101@x.org",))
