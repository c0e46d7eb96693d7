"""What the runs of a node share: room for iterations in memory, and turns at writing."""

from collections.abc import Sequence
from typing import Any

from tests.node.tank import GOING_ON, Fish, Tank, flow, work

from stretto.engine.settings import EngineSettings
from stretto.node.settings import NodeSettings
from stretto.ports.runtime import Done


def wide(name: str, count: int, kind: str = "Python") -> str:
    """One loop, whose iterations may all run at once."""
    numbers = f"{{type: LONG_ARRAY, value: {[*range(count)]}}}"
    loop = f"{{loop_params: {{type: MAP, value: {{i: {numbers}}}}}}}"
    steps = f"[step: {work('x', kind=kind)}]"
    return (
        f"properties: {{owner: ann, run_strategy: {{rule: PARALLEL}}}}\n"
        f"workflow:\n  id: {name}\n  steps:\n"
        f"    - foreach: {{id: l, concurrency: {min(count, 500)}, params: {loop}, steps: {steps}}}\n"
    )


def tank_of(**fields: Any) -> tuple[Tank, Fish]:
    tank = Tank(NodeSettings(**fields))
    fish = tank.fish()
    tank.settle()
    return tank, fish


def live(fish: Fish) -> int:
    """Iterations in the memory of a node."""
    return sum(
        len(entry.flow.tree.live) - 1
        for group in fish.node.groups.values()
        for entry in group.entries.values()
        if entry.flow is not None
    )


def finish_all(tank: Tank, fish: Fish) -> None:
    """Every work that goes on is done, until there is none."""
    while fish.runtime.contexts:
        contexts, fish.runtime.contexts = fish.runtime.contexts, {}
        for attempt, context in contexts.items():
            fish.runtime.contexts = {attempt: context}
            fish.report(attempt.run, "x", Done())
        fish.runtime.contexts = {}
        tank.advance(1_000)


def test_all_runs_of_a_node_share_its_room() -> None:
    tank, fish = tank_of(live_leaves=25, engine=EngineSettings(live_leaves=20))
    fish.runtime.answers["start x"] = [GOING_ON]
    runs = [tank.start(wide(name, 30)) for name in ("a", "b")]
    tank.advance(2_000)
    assert live(fish) == 25
    finish_all(tank, fish)
    assert [tank.status(run) for run in runs] == ["SUCCEEDED", "SUCCEEDED"]
    assert live(fish) == 0


def test_a_loop_that_waited_for_other_runs_gets_their_room_when_they_end() -> None:
    tank, fish = tank_of(live_leaves=10, engine=EngineSettings(live_leaves=10))
    fish.runtime.answers["start x"] = [GOING_ON]
    first = tank.start(wide("a", 10))
    tank.advance(2_000)
    second = tank.start(wide("b", 10))
    tank.advance(2_000)
    assert live(fish) == 11  # a loop without iterations has room for one
    mine = [each for each in fish.runtime.contexts if tank.row(each.run).root == first]
    for attempt in mine:
        fish.report(attempt.run, "x", Done())
        del fish.runtime.contexts[attempt]
    tank.advance(2_000)
    assert tank.status(first) == "SUCCEEDED"
    assert live(fish) == 10
    finish_all(tank, fish)
    assert tank.status(second) == "SUCCEEDED"


def test_a_run_that_leaves_memory_leaves_its_room() -> None:
    """A node that is told that it was buried has no run any more, and counts what it loads again."""
    tank, fish = tank_of(live_leaves=10)
    fish.runtime.answers["start x"] = [GOING_ON]
    run = tank.start(wide("a", 6))
    tank.advance(2_000)
    other = tank.fish()
    other.runtime.answers["start x"] = [GOING_ON]
    tank.crash(fish)
    tank.advance(120_000)
    assert live(other) == 6
    finish_all(tank, other)
    assert tank.status(run) == "SUCCEEDED"


def test_a_large_run_writes_small_portions_while_others_have_their_turns() -> None:
    tank, _fish = tank_of(rows_beside_others=50)
    portions: dict[str, list[int]] = {}
    commit = tank.store.commit

    async def noting(node: Any, parts: Sequence[Any]) -> Any:
        for part in parts:
            for each in part.decisions:
                if each.root is not None:
                    portions.setdefault(each.root.workflow_id, []).append(len(each.records))
        return await commit(node, parts)

    tank.store.commit = noting  # type: ignore[method-assign]
    tank.start(wide("alone", 2_000, kind="NoOp"))
    tank.advance(10_000)
    assert max(portions["alone"]) > 500, portions
    runs = [tank.start(wide("large", 2_000, kind="NoOp"))]
    runs += [tank.start(flow(work("a", "b"), work("b"), name=f"small{n}")) for n in range(3)]
    tank.advance(10_000)
    assert {tank.status(run) for run in runs} == {"SUCCEEDED"}
    assert max(portions["large"][1:]) < 120  # its first portion came before the others were there
