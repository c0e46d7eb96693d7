"""How long runs and steps usually take, and how often they fail."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.actions.test_nesting import inline, made
from tests.unit.actions.world import ANN, BEGIN, CHAIN, World, flow

from stretto.actions.reading import stats
from stretto.actions.reading.stats import RunStats, StepStats, WorkflowStats, get_stats, percentile
from stretto.engine.events import ResultState
from stretto.model.status import StepStatus
from stretto.ports.paging import Slice
from stretto.ports.rows import RunGlance, RunSummary
from stretto.ports.views import EndedSince


def stats_of(world: World, workflow_id: str = "flow", since: int = 0) -> WorkflowStats:
    return world.do(get_stats(world.store, ANN, workflow_id, since=since))


def ran(*fates: str) -> World:
    """A run for each: `b` takes ten times its number, and fails where it is `F`."""

    def script(effect: Any) -> ResultState:
        number = effect.attempt.run.instance_id
        if effect.attempt.step_id == "b":
            world.clock.time += 10 * number
            if fates[number - 1] == "F":
                return ResultState.FATAL_ERROR
        return ResultState.DONE

    world = World(script)
    world.publish(flow(*CHAIN))
    for _ in fates:
        world.start()
        world.settle()
    return world


def test_runs_and_steps_over_the_newest_runs() -> None:
    found = stats_of(ran("s", "F", "s", "s"))
    assert (found.most_runs, found.step_runs) == (200, 4)
    assert found.runs == RunStats(count=4, failed=1, failure_rate=Decimal("0.25"), p50=30, p95=40)
    assert found.steps == StepStats(
        ids=("a", "b", "c"),
        counts=(4, 4, 3),
        failed=(0, 1, 0),
        failure_rates=(Decimal(0), Decimal("0.25"), Decimal(0)),
        p50=(0, 30, 0),
        p95=(0, 40, 0),
    )


def test_only_runs_of_the_window_count() -> None:
    world = ran("F", "s")
    assert stats_of(world, since=BEGIN + 20).runs.count == 1
    nothing = stats_of(world, since=world.clock.time + 1)
    assert nothing.runs == RunStats(count=0, failed=0)
    assert (nothing.steps, nothing.step_runs) == (StepStats(), 0)


def test_where_nothing_succeeded_nobody_knows_how_long_it_takes() -> None:
    found = stats_of(ran("F"))
    assert (found.runs.p50, found.runs.failure_rate) == (None, Decimal(1))
    assert (found.steps.ids, found.steps.p50) == (("a", "b"), (0, -1))


def test_what_is_looked_at_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ran("s", "s", "s")
    monkeypatch.setattr(stats, "MOST_RUNS", 2)
    found = stats_of(world)
    assert (found.most_runs, found.runs.count, found.step_runs) == (2, 2, 2)


def test_of_wide_workflows_fewer_runs_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ran("s", "s", "s")
    read = world.store.glances

    async def wide(selection: EndedSince) -> Slice[RunGlance]:
        found = (await read(selection)).elements
        summary = RunSummary(counts={StepStatus.SUCCEEDED: 3})
        return Slice(elements=tuple(replace(each, summary=summary) for each in found))

    world.swap("glances", wide)
    monkeypatch.setattr(stats, "MOST_STEPS", 7)
    found = stats_of(world)
    assert (found.runs.count, found.step_runs, found.steps.counts) == (3, 2, (2, 2, 2))
    monkeypatch.setattr(stats, "MOST_STEPS", 1)
    assert stats_of(world).step_runs == 1


def test_iterations_of_a_loop() -> None:
    world = made()
    found = stats_of(world, inline(world, "outer"))
    assert (found.runs.count, found.runs.failed) == (2, 2)
    assert found.steps.ids == ("inner", "side")


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [([], 50, -1), ([7], 50, 7), ([7], 95, 7), ([1, 2], 50, 1), ([3, 1, 2], 50, 2), (range(1, 101), 95, 95)],
)
def test_percentiles(values: list[int], share: int, found: int) -> None:
    assert percentile(values, share) == found
