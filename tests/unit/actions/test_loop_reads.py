"""What it costs to tell how far loops are: what has ended in them is not read, however much that is."""

from collections import Counter
from typing import Any

from tests.unit.actions.world import ANN, World, flow

from stretto.actions.reading.steps import list_steps
from stretto.engine.effects import StartWork
from stretto.engine.events import ResultState
from stretto.model.artifact import ForeachArtifact
from stretto.ports.run_snapshot import RunSnapshot

READS = ("read_runs", "load_flows", "attempts", "runs", "loops")


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
            if isinstance(found, RunSnapshot):
                flows = found.flows.values()
                rows.extend(len(each.iterations) + len(each.attempts) + len(each.loops) for each in flows)
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
    assert (narrow, few) == ({"read_runs": 1}, 6)


def test_many_loops_are_read_together() -> None:
    counts, rows, alive = reads(4, *"abcdefgh")
    assert alive == [2] * 8
    assert (counts, rows) == ({"read_runs": 1}, 48)
