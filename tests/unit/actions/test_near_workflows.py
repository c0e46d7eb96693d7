"""Did you mean ...? for ids of workflows, also among more of them than are looked at."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.unit.actions.world import ANN, World

from stretto.actions.activate import activate
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.parts import near_workflows
from stretto.actions.parts.near_workflows import LONGEST, near_workflow
from stretto.actions.reading.instances import get_run
from stretto.actions.reading.steps import get_step
from stretto.actions.reading.workflows import get_overview, get_properties, get_version
from stretto.actions.restart import restart
from stretto.actions.start import start
from stretto.actions.stop import stop
from stretto.actions.stop_workflow import stop_workflow
from stretto.actions.unblock import unblock_workflow
from stretto.actions.update_properties import update_properties
from stretto.model.errors import NotFound
from stretto.model.initiator import ManualInitiator
from stretto.model.properties import AccessControl, PropertiesUpdate
from stretto.model.request import InstanceRestartRequest, StartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.paging import Cut, Slice
from stretto.ports.workflows import WorkflowFilter, WorkflowRow

DEFINITION = "properties: {owner: ann}\nworkflow: {id: %s, steps: [{step: {id: a, type: NoOp}}]}"
FEW = 3  # ids on each side that the test looks at
START = StartRequest(initiator=ManualInitiator())
AGAIN = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)


def published(*workflow_ids: str) -> World:
    world = World()
    for each in workflow_ids:
        world.publish(DEFINITION % each)
    return world


WAYS: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
    "start": lambda store: start(store, ANN, "nihgtly", "latest", START),
    "version": lambda store: get_version(store, ANN, "nihgtly", "latest"),
    "overview": lambda store: get_overview(store, ANN, "nihgtly"),
    "properties": lambda store: get_properties(store, ANN, "nihgtly"),
    "update": lambda store: update_properties(store, ANN, "nihgtly", PropertiesUpdate(description="d")),
    "activate": lambda store: activate(store, ANN, "nihgtly", "1"),
    "deactivate": lambda store: deactivate(store, ANN, "nihgtly"),
    "delete": lambda store: delete_workflow(store, ANN, "nihgtly"),
    "run": lambda store: get_run(store, ANN, "nihgtly", 1, "1"),
    "newest run": lambda store: get_run(store, ANN, "nihgtly", 1, "latest"),
    "step": lambda store: get_step(store, ANN, "nihgtly", 1, "a"),
    "restart": lambda store: restart(store, ANN, "nihgtly", 1, AGAIN),
    "stop": lambda store: stop(store, ANN, "nihgtly", 1),
    "stop all": lambda store: stop_workflow(store, ANN, "nihgtly"),
    "unblock": lambda store: unblock_workflow(store, ANN, "nihgtly"),
}


def refused(world: World, work: Coroutine[Any, Any, Any]) -> NotFound:
    with pytest.raises(NotFound) as raised:
        world.do(work)
    return raised.value


@pytest.mark.parametrize("way", WAYS)
def test_every_action_offers_the_nearest_workflow(way: str) -> None:
    world = published("nightly", "weekly")
    error = refused(world, WAYS[way](world.store))
    assert "nihgtly" in error.message
    assert (error.hint or "").endswith("did you mean `nightly`?")


@pytest.mark.parametrize("way", WAYS)
def test_that_there_is_no_such_workflow_is_said_once(way: str) -> None:
    world = published("nightly", "weekly")
    error = refused(world, WAYS[way](world.store))
    is_said = error.message.startswith("Cannot find workflow [nihgtly]")
    assert str(error.hint).count("nihgtly") == (0 if is_said else 1)


@pytest.mark.parametrize("way", ["stop", "stop all", "unblock"])
def test_nothing_is_added_where_no_id_is_close(way: str) -> None:
    error = refused(published("zzz"), WAYS[way](published("zzz").store))
    assert (error.message, error.hint) == ("Cannot find workflow [nihgtly]", None)


def test_a_run_that_an_existing_workflow_does_not_have_has_no_such_hint() -> None:
    world = published("nightly", "nightly2")
    assert refused(world, get_run(world.store, ANN, "nightly", 7, "1")).hint is None
    assert refused(world, stop(world.store, ANN, "nightly", 7)).hint is None


def test_an_id_that_resembles_none_is_said_to_be_unknown() -> None:
    world = published("nightly")
    assert refused(world, get_run(world.store, ANN, "zzz", 7, "1")).hint == "there is no workflow [zzz]"


@pytest.mark.parametrize("wrong", ["xnightly", "ightly", "nihgtly", "nightlyx", "NIGHTLY", "mightly"])
def test_a_typing_error_is_found_among_many_and_at_a_bounded_cost(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others lie between the wrong id and the right one, in the order of ids."""
    monkeypatch.setattr(near_workflows, "SIDE", FEW)
    crowd = [
        f"{letter}{number}" for letter in ("N", "a", "i", "m", "nigz", "o", "x") for number in range(3 * FEW)
    ]
    world = published("nightly", *crowd)
    pages: list[int] = []
    ask = world.store.workflows

    async def counted(cut: Cut, wanted: WorkflowFilter) -> Slice[WorkflowRow]:
        page = await ask(cut, wanted)
        pages.append(len(page.elements))
        return page

    world.swap("workflows", counted)
    assert world.do(near_workflow(world.store, wrong)) == "did you mean `nightly`?"
    assert len(pages) == 2
    assert sum(pages) <= 2 * FEW


def test_a_workflow_with_restricted_access_is_offered_to_nobody() -> None:
    world = published("nightly")
    before = world.do(near_workflow(world.store, "nihgtly"))
    kept = PropertiesUpdate(access_control=AccessControl(viewers=("bob",)))
    world.do(update_properties(world.store, ANN, "nightly", kept))
    assert [before, world.do(near_workflow(world.store, "nihgtly"))] == ["did you mean `nightly`?", None]


@pytest.mark.parametrize("wrong", ["", "n" * (LONGEST + 1), "maestro_foreach_x"])
def test_for_some_ids_nothing_is_looked_for(wrong: str) -> None:
    world = published("nightly", "n" * 100)
    assert world.do(near_workflow(world.store, wrong)) is None
