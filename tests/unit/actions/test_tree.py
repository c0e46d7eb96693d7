"""The runs below a run."""

from typing import Any

import pytest
from tests.unit.actions.test_nesting import OUTER, WHILE, inline, made
from tests.unit.actions.world import ANN, World, failing, flow, viewer

from stretto.actions.reading import tree
from stretto.actions.reading.tree import TreeRun, list_tree
from stretto.actions.restart import restart
from stretto.actions.update_properties import update_properties
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page
from stretto.model.properties import AccessControl, PropertiesUpdate
from stretto.model.request import InstanceRestartRequest, PageRequest
from stretto.model.run_config import RunPolicy

WHOLE = [
    "outer[1]",
    "outer[1].inner[1]",
    "outer[1].inner[2]",
    "outer[1].inner[3]",
    "outer[2]",
    "outer[2].inner[1]",
    "outer[2].inner[2]",
    "outer[2].inner[3]",
    "again[1]",
    "again[2]",
]


def page(
    world: World, depth: int = 1, *, run: str = "1", workflow_id: str = "flow", **request: Any
) -> Page[TreeRun]:
    asked = PageRequest(**{"first": 50, **request})
    return world.do(list_tree(world.store, ANN, workflow_id, 1, run, asked, depth=depth))


def paths(found: Page[TreeRun]) -> list[str]:
    return [each.path for each in found.elements]


def test_each_run_comes_before_what_is_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = made(OUTER, WHILE, "{id: plain, type: NoOp}")
    assert paths(page(world, 3)) == WHOLE
    assert paths(page(world, 2)) == WHOLE
    found = page(world)
    assert paths(found) == [path for path in WHOLE if "." not in path]
    first = found.elements[0]
    assert (first.depth, first.step_id, first.kind, first.status) == (1, "outer", "foreach", "FAILED")
    assert RunKey(first.workflow_id, 1, 1) == RunKey(inline(world, "outer"), 1, 1)
    assert found.elements[-1].kind == "while"
    monkeypatch.setattr(tree, "BATCH", 1)
    assert paths(page(world, 2)) == WHOLE


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("depth", [1, 2])
def test_pages_make_the_whole(size: int, depth: int) -> None:
    world = made(OUTER, WHILE)
    read: list[str] = []
    cursor: str | None = None
    while True:
        found = page(world, depth, first=size, cursor=cursor)
        assert found.page_info.has_previous_page is bool(cursor)
        read += paths(found)
        cursor = found.page_info.end_cursor
        if not found.page_info.has_next_page:
            break
    assert read == [path for path in WHOLE if depth == 2 or "." not in path]


def test_an_iteration_is_a_level_of_its_own() -> None:
    world = made()
    below = page(world, workflow_id=inline(world, "outer"))
    assert paths(below) == ["inner[1]", "inner[2]", "inner[3]"]
    assert page(world, workflow_id=below.elements[0].workflow_id).elements == ()


def test_an_iteration_that_ran_again_is_shown_by_its_newest_run() -> None:
    world = made()
    world.runtime = failing()
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    found = page(world, 2, run="2")
    assert paths(found) == WHOLE[:8]
    assert {each.workflow_run_id for each in found.elements if each.depth == 1} == {2}
    assert {each.status.value for each in found.elements} == {"SUCCEEDED"}


def test_runs_of_subworkflows_are_below_their_steps() -> None:
    world = World()
    world.publish(flow("{id: copy, type: Python}", name="leaf"))
    deeper = "subworkflow: {id: d, params: {subworkflow_id: {value: leaf, type: STRING}}}"
    world.publish(flow(deeper, name="clean"))
    world.publish(flow("subworkflow: {id: s, params: {subworkflow_id: {value: clean, type: STRING}}}"))
    world.start()
    world.settle()
    found = page(world, 5)
    assert paths(found) == ["s", "s.d"]
    assert [each.workflow_id for each in found.elements] == ["clean", "leaf"]
    assert {each.kind for each in found.elements} == {"subworkflow"}
    rest = page(world, 5, first=1, cursor=page(world, 5, first=1).page_info.end_cursor)
    assert paths(rest) == ["s.d"]
    only = AccessControl(viewers=("ann",))
    world.do(update_properties(world.store, ANN, "clean", PropertiesUpdate(access_control=only)))
    hidden = list_tree(world.store, viewer("bob"), "flow", 1, "1", PageRequest(first=5), depth=5)
    assert world.do(hidden).elements == ()


def test_a_tree_is_read_forwards() -> None:
    world = made()
    with pytest.raises(InvalidRequest, match="read from its beginning"):
        page(world, first=None, last=3)
    with pytest.raises(InvalidRequest, match="Invalid cursor"):
        page(world, cursor="WzE4NDQ2NzQ0MDczNzA5NTUxNjE2XQ")  # a number that no database has
    assert paths(page(world, cursor="WzBd")) == ["outer[1]", "outer[2]"]  # [0]: a step, and all below it
    assert paths(page(world, cursor="WzldXQ"[:4])) == []
