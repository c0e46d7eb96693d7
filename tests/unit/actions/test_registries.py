"""Tag permits, job templates and signals."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, World, flow, going_on

from stretto.actions.announce import announce, get_signal
from stretto.actions.job_templates import (
    delete_job_template,
    get_job_template,
    list_job_templates,
    put_job_template,
)
from stretto.actions.tag_permits import delete_tag_permit, get_tag_permit, set_tag_permit
from stretto.model.errors import Conflict, InvalidDefinition, InvalidRequest, NotFound
from stretto.model.job_template import JobTemplateDefinition, JobTemplateRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.permit import TagPermitRequest
from stretto.model.request import SignalRequest


# --------------------------------------------------------------------------------------------------- permits
def limit(world: World, most: int, tag: str = "db") -> Any:
    return world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag=tag, max_allowed=most)))


def test_a_limit_is_set_changed_and_forgotten() -> None:
    world = World()
    limit(world, 2)
    changed = limit(world, 3)
    assert changed.max_allowed == 3
    assert [line.message for line in changed.timeline or ()] == [
        "User [ann] created the tag permit with limit [2]",
        "User [ann] updated the tag permit to the new limit [3]",
    ]
    assert world.do(get_tag_permit(world.store, ANN, "db")) == changed
    for _ in range(2):
        world.do(delete_tag_permit(world.store, ANN, "db"))
    with pytest.raises(NotFound, match=r"\[db\]"):
        world.do(get_tag_permit(world.store, ANN, "db"))


@pytest.mark.parametrize(("tag", "most"), [("db", -1), ("", 1), ("maestro_x", 1)])
def test_a_bad_limit_is_refused(tag: str, most: int) -> None:
    with pytest.raises(InvalidRequest):
        limit(World(), most, tag)


def test_a_higher_limit_lets_others_go() -> None:
    world = World(going_on)
    limit(world, 0)
    world.publish(flow("{id: a, type: Python, tags: [db]}", "{id: b, type: Python, tags: [db]}"))
    world.start()
    assert world.settle().steps() == dict.fromkeys("ab", "WAITING_FOR_PERMITS")
    limit(world, 1)
    assert world.settle().steps() == {"a": "RUNNING", "b": "WAITING_FOR_PERMITS"}
    world.do(delete_tag_permit(world.store, ANN, "db"))
    assert world.settle().steps() == dict.fromkeys("ab", "RUNNING")


# ------------------------------------------------------------------------------------------------- templates
def template(world: World, job_type: str = "copy", version: str = "default", **more: Any) -> Any:
    definition = JobTemplateDefinition(job_type=job_type, step_type="NoOp", version=version, **more)
    request = JobTemplateRequest(owner=ANN.user, status="ready", support="team", definition=definition)
    return world.do(put_job_template(world.store, ANN, request))


def test_templates_are_kept_by_type_and_version() -> None:
    world = World()
    first = template(world)
    assert first.metadata.version_author == ANN.user
    second = template(world, description="new")
    template(world, version="v2")
    assert world.do(get_job_template(world.store, ANN, "copy")) == second
    assert world.do(list_job_templates(world.store, ANN)) == [second]
    assert "[1]" in world.do(delete_job_template(world.store, ANN, "copy", "v2"))
    assert "[1]" in world.do(delete_job_template(world.store, ANN, "copy"))
    with pytest.raises(NotFound, match=r"\[copy\]\[default\]"):
        world.do(get_job_template(world.store, ANN, "copy"))


def test_a_long_list_of_templates_comes_whole() -> None:
    world = World()
    for number in range(101):
        template(world, f"job{number}")
    assert len(world.do(list_job_templates(world.store, ANN))) == 101


@pytest.mark.parametrize(
    ("job_type", "version"), [("", "default"), ("a__b", "default"), ("maestro_x", "v"), ("copy", "1 2")]
)
def test_bad_names_of_templates(job_type: str, version: str) -> None:
    with pytest.raises(InvalidRequest):
        template(World(), job_type, version)


def test_bad_parameters_of_templates() -> None:
    params = {"x": ParamDefinition(type=ParamType.LONG, expression="return (;")}
    with pytest.raises(InvalidDefinition, match="copy"):
        template(World(), params=params)


# --------------------------------------------------------------------------------------------------- signals
def test_signals_are_counted_by_name() -> None:
    world = World()
    first = world.do(announce(world.store, ANN, SignalRequest(name="go", params={"day": 1})))
    second = world.do(
        announce(world.store, ANN, SignalRequest(name="go", request_id="r", request_time=5, payload={"x": 1}))
    )
    assert (first.seq_id, second.seq_id) == (1, 2)
    assert (second.instance_id, second.request_time) == ("r", 5)
    assert world.do(get_signal(world.store, ANN, "go", "1")) == first
    assert world.do(get_signal(world.store, ANN, "go", "Latest")) == second
    assert world.do(get_signal(world.store, ANN, "go", "7")) is None
    with pytest.raises(InvalidRequest):
        world.do(get_signal(world.store, ANN, "go", "x"))


@pytest.mark.parametrize(
    "request_", [SignalRequest(name="go", request_id="r"), SignalRequest(name="go", params={"a": 1})]
)
def test_the_same_announcement_counts_once(request_: SignalRequest) -> None:
    world = World()
    world.do(announce(world.store, ANN, request_))
    with pytest.raises(Conflict, match=r"\[go\]"):
        world.do(announce(world.store, ANN, request_))


def test_bad_names_of_signals() -> None:
    world = World()
    with pytest.raises(InvalidRequest):
        world.do(announce(world.store, ANN, SignalRequest(name="maestro_go")))
