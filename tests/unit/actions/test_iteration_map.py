"""All iterations of a loop at a glance."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.unit.actions.test_nesting import OUTER, WHILE, foreach, inline, made
from tests.unit.actions.world import ANN, World, failing, flow

from stretto.actions.reading.iteration_map import IterationMap, map_iterations
from stretto.actions.restart import restart
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.ports.views import BucketCount
from stretto.store.sql.views import ALL_IN_BUCKETS, RUN_IN_BUCKETS
from stretto.store.sqlite import dialect

RUN = RunKey("flow", 1, 1)
FIVE = foreach("each", "i", [1, 2, 3, 4, 5], "step: {id: leaf, type: Python}").replace(
    "steps:", "concurrency: 9, steps:"
)


def map_of(world: World, step_id: str, buckets: int = 2_000, run: RunKey = RUN) -> IterationMap:
    return world.do(map_iterations(world.store, ANN, run, step_id, buckets=buckets))


def test_one_bucket_for_each_iteration_if_there_are_few() -> None:
    world = made(FIVE)  # the second fails
    found = map_of(world, "each")
    assert (found.total, found.width, found.workflow_id) == (5, 1, inline(world, "each"))
    assert found.counts == {"s": (1, 0, 1, 1, 1), "F": (0, 1, 0, 0, 0)}
    assert map_of(world, "leaf") == found
    assert map_of(world, "each", 2).counts == {"s": (2, 2), "F": (1, 0)}
    assert map_of(world, "each", 2).width == 3


def test_an_iteration_that_ran_again_counts_once() -> None:
    world = made(FIVE)
    world.runtime = failing()
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    assert map_of(world, "each", 1, RunKey("flow", 1, 2)).counts == {"s": (5,)}


def test_a_while_does_not_know_how_many_there_will_be() -> None:
    world = made(WHILE)
    found = map_of(world, "again")
    assert (found.total, found.counts) == (2, {"s": (1, 1)})


def test_what_comes_while_we_count_is_in_the_next_map() -> None:
    world = made(FIVE)

    async def more(*_args: Any, **_more: Any) -> list[BucketCount]:
        return [BucketCount(1, RunStatus.SUCCEEDED, 5), BucketCount(6, RunStatus.IN_PROGRESS, 1)]

    world.swap("iteration_counts", more)
    assert map_of(world, "each", 1).counts == {"s": (5,)}


def test_a_loop_that_has_not_begun() -> None:
    world = World()
    world.publish(flow(FIVE))
    world.start()
    assert map_of(world, "each") == IterationMap(step_id="each")


@pytest.mark.parametrize(
    ("step_id", "error", "said"),
    [
        ("plain", InvalidRequest, "is neither a loop nor inside one"),
        ("nothing", NotFound, r"has no step \[nothing\]"),
        ("leaf", InvalidRequest, r"inside several loops.*"),
    ],
)
def test_what_has_no_map(step_id: str, error: type[Exception], said: str) -> None:
    world = made(OUTER, "{id: plain, type: NoOp}")
    with pytest.raises(error, match=said):
        map_of(world, step_id)


@pytest.mark.parametrize("statement", [ALL_IN_BUCKETS, RUN_IN_BUCKETS])
def test_a_hundred_thousand_iterations_are_counted_where_they_are(statement: Any) -> None:
    """They come as one row for each bucket and status, and are found in an index."""
    many, buckets = 100_000, 2_000
    connection = sqlite3.connect(":memory:")
    connection.executescript(Path(dialect.__file__).with_name("schema.sql").read_text(encoding="utf-8"))
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO run (workflow_id, instance_id, run_id, uuid, group_id, phase, status, paused,"
        " version_id, initiator, nested, correlation_id, create_time, modify_time, doc) "
        "SELECT 'loop', i, 1, i, 1, 'ENDED', CASE WHEN i % 10 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 0, 1,"
        " 'FOREACH', 1, 'c', 1, 1, '{}' FROM n",
        [many],
    )
    text = statement.of(dialect.DIALECT)
    values = {"workflow_id": "loop", "width": many // buckets, "run_id": 1}
    rows = connection.execute(text, values).fetchall()
    assert len(rows) == 2 * buckets
    assert sum(count for _first, _status, count in rows) == many
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    assert any("USING COVERING INDEX run_status (workflow_id=?" in line for line in plan), plan
    connection.close()
