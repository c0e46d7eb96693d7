"""What it costs to tell how far loops are: what has ended in them is not read, however much that is."""

from collections import Counter
from typing import Any

import pytest
from tests.unit.actions.world import ANN, World, flow

from stretto.actions.reading.steps import list_steps
from stretto.engine.effects import StartWork
from stretto.engine.events import ResultState
from stretto.model.artifact import ForeachArtifact
from stretto.ports.loading import FlowRows

READS = ("load_flows", "newest_attempts", "instances", "run", "loops")


def loops(width: int, *names: str) -> str:
    """Loops of so many iterations side by side, each with two at work at a time."""
    items = list(range(width))
    return flow(
        *(
            f"foreach: {{id: {name}, concurrency: 2, steps: [{{step: {{id: {name}-g, type: Python}}}}],"
            f" params: {{loop_params: {{value: {{i: {{value: {items}, type: LONG_ARRAY}}}}, type: MAP}}}}}}"
            for name in names
        )
    )


def all_but_the_last_two(width: int) -> Any:
    def play(effect: StartWork) -> ResultState | None:
        return None if effect.attempt.run.instance_id > width - 2 else ResultState.DONE

    return play


def reads(width: int, *names: str) -> tuple[Counter[str], int, list[int]]:
    """How often was read what, how many rows of live trees, and how many leaves are alive in each loop."""
    world = World(all_but_the_last_two(width))
    world.publish(loops(width, *names))
    world.start()
    world.settle()
    counts: Counter[str] = Counter()
    rows: list[int] = []

    def counted(name: str) -> None:
        read = getattr(world.store, name)

        async def count(*args: Any, **more: Any) -> Any:
            counts[name] += 1
            found = await read(*args, **more)
            for each in found if name == "load_flows" else ():
                assert isinstance(each, FlowRows)
                rows.append(len(each.iterations) + len(each.attempts) + len(each.loops))
            return found

        world.swap(name, count)

    for name in READS:
        counted(name)
    alive = []
    for view in world.do(list_steps(world.store, ANN, "flow", 1, "1")):
        artifact = next(iter((view.artifacts or {}).values()))
        assert isinstance(artifact, ForeachArtifact)
        assert artifact.foreach_overview is not None
        assert artifact.foreach_overview.running_rollup is not None
        alive.append(artifact.foreach_overview.running_rollup.total_leaf_count)
    return counts, sum(rows), alive


def test_wide_loops_cost_what_is_alive_in_them() -> None:
    narrow, few, alive = reads(4, "f")
    assert alive == [2]
    assert reads(100, "f") == (narrow, few, alive)
    assert (narrow["load_flows"], narrow["newest_attempts"], few) == (1, 1, 6)


def test_many_loops_are_read_together() -> None:
    counts, rows, alive = reads(4, *"abcdefgh")
    assert alive == [2] * 8
    assert (counts["load_flows"], counts["newest_attempts"], counts["loops"], rows) == (1, 1, 1, 48)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_run_that_ends_or_is_deleted_meanwhile_shows_its_loops_without_what_is_alive(deleted: bool) -> None:
    world = World(lambda _effect: None)
    world.publish(loops(4, "f"))
    world.start()
    world.settle()
    read = world.store.load_flows

    async def late(*args: Any) -> list[FlowRows]:
        if deleted:
            return []
        return [FlowRows(run=each.run) for each in await read(*args)]

    world.swap("load_flows", late)
    (view,) = world.do(list_steps(world.store, ANN, "flow", 1, "1"))
    artifact = next(iter((view.artifacts or {}).values()))
    assert isinstance(artifact, ForeachArtifact)
    assert artifact.foreach_overview is not None
    assert artifact.foreach_overview.running_stats == {}
