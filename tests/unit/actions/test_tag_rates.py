"""Rates that users set on tags."""

import pytest
from tests.unit.actions.world import ANN, WORK, World, flow, going_on

from stretto.actions.tag_permits import get_tag_permit, set_tag_permit
from stretto.model.errors import InvalidRequest
from stretto.model.permit import TagPermit, TagPermitRequest

TAGGED = "{id: a, type: Python, tags: [slow]}"


def set_rate(world: World, **given: object) -> TagPermit:
    request = TagPermitRequest(tag="slow", **given)  # type: ignore[arg-type]
    return world.do(set_tag_permit(world.store, ANN, request))


def test_a_tag_with_a_rate_holds_steps_back() -> None:
    world = World(going_on)
    made = set_rate(world, rate="2/hour")
    assert (made.max_allowed, made.rate) == (None, "2/hour")
    assert world.do(get_tag_permit(world.store, ANN, "slow")).rate == "2/hour"
    world.publish(flow(TAGGED))
    for _ in range(3):
        world.start()
    world.settle()
    waiting, running = "WAITING_FOR_PERMITS", "RUNNING"
    assert [world.steps(instance_id=n)["a"] for n in (1, 2, 3)] == [running, running, waiting]
    set_rate(world, rate="3/hour")  # whoever may go now is told
    world.settle()
    assert world.steps(instance_id=3)["a"] == running


def test_a_step_without_the_tag_does_not_wait() -> None:
    world = World(going_on)
    set_rate(world, rate="1/day")
    world.publish(flow(WORK))
    for _ in range(3):
        world.start()
    world.settle()
    assert {world.steps(instance_id=n)["a"] for n in (1, 2, 3)} == {"RUNNING"}


def test_what_makes_no_sense_is_refused() -> None:
    world = World()
    with pytest.raises(InvalidRequest, match="needs `max_allowed`, a `rate`, or both"):
        set_rate(world)
    with pytest.raises(InvalidRequest, match=r"can not be \[often\]") as caught:
        set_rate(world, rate="often")
    assert "10/minute" in str(caught.value.hint)
    with pytest.raises(InvalidRequest, match="can not be negative"):
        set_rate(world, max_allowed=-1)
