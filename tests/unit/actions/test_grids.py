"""Runs of a workflow beside each other."""

from typing import Any

import pytest
from tests.unit.actions.test_nesting import inline, made
from tests.unit.actions.test_states import restarted
from tests.unit.actions.world import ANN, CHAIN, World, failing, flow

from stretto.actions.reading import grids
from stretto.actions.reading.grids import GridView, get_grid
from stretto.engine.records import RunKey
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.ports.paging import Slice
from stretto.ports.rows import RunGlance, RunSummary
from stretto.ports.run_snapshot import NamedRuns


def grid_of(world: World, workflow_id: str = "flow", **more: Any) -> GridView:
    return world.do(get_grid(world.store, ANN, workflow_id, **more))


def shown(grid: GridView) -> dict[tuple[int, int], str]:
    return {(run.workflow_instance_id, run.workflow_run_id): run.codes for run in grid.runs}


def test_a_workflow_that_never_ran_has_no_columns() -> None:
    world = World()
    world.publish(flow(*CHAIN))
    found = grid_of(world)
    assert (found.steps, found.runs, found.page_info.end_cursor) == ((), (), None)


def test_a_restart_has_a_column_of_its_own() -> None:
    found = grid_of(restarted())
    assert found.steps == ("a", "b", "c")
    assert shown(found) == {(1, 2): "-ss", (1, 1): "sF."}
    whole = grid_of(restarted(RunPolicy.RESTART_FROM_BEGINNING))
    assert shown(whole)[1, 2] == "sss"


def test_iterations_beside_each_other() -> None:
    world = made()
    outer = inline(world, "outer")
    assert shown(grid_of(world, outer)) == {(2, 1): "Fs", (1, 1): "Fs"}


def test_wide_workflows_have_fewer_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(failing("b"))
    world.publish(flow(*CHAIN))
    for _ in range(3):
        world.start()
    world.settle()
    monkeypatch.setattr(grids, "MOST_CELLS", 7)
    first = grid_of(world)
    assert [run.workflow_instance_id for run in first.runs] == [3, 2]
    assert first.page_info.has_next_page
    rest = grid_of(world, cursor=first.page_info.end_cursor)
    assert shown(rest) == {(1, 1): "sF."}
    monkeypatch.setattr(grids, "MOST_CELLS", 1)
    assert [run.workflow_instance_id for run in grid_of(world).runs] == [3]


def test_steps_of_all_runs_are_read_at_once_and_none_of_those_that_went_well() -> None:
    world = World(failing("b"))
    world.publish(flow(*CHAIN))
    for _ in range(3):
        world.start()
    world.settle()
    glances = {
        each.key: each
        for each in world.do(
            world.store.glances(NamedRuns(tuple(RunKey("flow", number, 1) for number in (3, 2, 1))))
        ).elements
    }
    asked: list[set[RunKey]] = []
    read = world.store.step_times

    async def some(*_args: Any) -> Slice[RunGlance]:
        well = RunGlance(
            key=RunKey("flow", 2, 1),
            version_id=1,
            status=glances[RunKey("flow", 2, 1)].status,
            create_time=1,
            summary=RunSummary(counts={StepStatus.SUCCEEDED: 3}),
        )
        return Slice(elements=(glances[RunKey("flow", 3, 1)], well, glances[RunKey("flow", 1, 1)]))

    async def counted(runs: Any) -> Any:
        asked.append(set(runs))
        return await read(runs)

    world.swap("glances", some)
    world.swap("step_times", counted)
    assert shown(grid_of(world)) == {(3, 1): "sF.", (2, 1): "sss", (1, 1): "sF."}
    assert asked == [{RunKey("flow", 3, 1), RunKey("flow", 1, 1)}]
