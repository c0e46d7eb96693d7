"""With a million attempts, no call looks at more rows than it returns, times a small number."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

pytest.register_assert_rewrite("stretto.testing.store_suite")

from tests.ports.postgresql_bench import Schema, connection_to  # noqa: E402 - after the suite's assertions are made readable
from tests.ports.postgresql_rows import EPOCH, fill  # noqa: E402
from tests.ports.postgresql_server import PostgresServer  # noqa: E402

from stretto.engine.records import AttemptKey, RunKey  # noqa: E402
from stretto.model.properties import PropertiesSnapshot  # noqa: E402
from stretto.model.status import RunStatus  # noqa: E402
from stretto.ports.breakpoints import PausedAt  # noqa: E402
from stretto.ports.history import AttemptsOfStep, FilteredRuns, InstancesIn, RunFilter  # noqa: E402
from stretto.ports.messages import Log  # noqa: E402
from stretto.ports.paging import Cut  # noqa: E402
from stretto.ports.permits import HoldersOf  # noqa: E402
from stretto.ports.places import GROUPS  # noqa: E402
from stretto.ports.rows import NodeId  # noqa: E402
from stretto.ports.run_snapshot import InstancePage, NewestAttempts, RunPage, read_attempt  # noqa: E402
from stretto.ports.store import Store  # noqa: E402
from stretto.ports.views import RecentRuns  # noqa: E402
from stretto.ports.work import FreeWork  # noqa: E402
from stretto.ports.workflows import WorkflowFilter  # noqa: E402
from stretto.store.postgresql import open_postgresql  # noqa: E402
from stretto.store.sql.codec import ATTEMPT, BODIES, PROPERTIES, RUN  # noqa: E402
from stretto.testing.store_suite.world import attempt_record, run_record  # noqa: E402

pytestmark = [pytest.mark.prove, pytest.mark.timeout(0)]

ATTEMPTS = 1_000_000
PAGE = 20
MOST = 20 * PAGE  # rows that a call may look at
SUM = (
    "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = $1) "
    "+ (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = $1)"
)
SOME = RunKey("wf-7", 500, 1)
FIRST = Cut(most=PAGE)
NODE = NodeId("node-of-test")
Call = Callable[[Store], Awaitable[Any]]


def middle(*key: Any) -> Cut:
    return Cut(most=PAGE, below=key if len(key) > 1 else key[0])


CALLS: dict[str, Call] = {
    "instances of a workflow": lambda store: store.runs(InstancePage("wf-7", middle(500))),
    "failed instances": lambda store: store.runs(InstancesIn("wf-7", [RunStatus.FAILED], FIRST)),
    "runs of an instance": lambda store: store.runs(RunPage("wf-7", 500, FIRST)),
    "all runs": lambda store: store.runs(FilteredRuns(RunFilter(), FIRST)),
    "all runs, further on": lambda store: store.runs(
        FilteredRuns(RunFilter(), middle(EPOCH + 50_000, *SOME))
    ),
    "runs by status": lambda store: store.runs(FilteredRuns(RunFilter(statuses=(RunStatus.FAILED,)), FIRST)),
    "runs by owner": lambda store: store.runs(FilteredRuns(RunFilter(owner="user-3"), FIRST)),
    "runs by workflow": lambda store: store.runs(FilteredRuns(RunFilter(workflow_id="wf-7"), FIRST)),
    "runs by tag": lambda store: store.runs(FilteredRuns(RunFilter(tag="tag-7"), FIRST)),
    "runs by correlation": lambda store: store.runs(
        FilteredRuns(RunFilter(correlation_id="correlation-77"), FIRST)
    ),
    "recent runs": lambda store: store.glances(RecentRuns(["wf-7", "wf-8"])),
    "workflows": lambda store: store.workflows(middle("wf-5"), WorkflowFilter()),
    "newest attempts of a run": lambda store: store.attempts(NewestAttempts((SOME,))),
    "attempts of a step": lambda store: store.attempts(AttemptsOfStep(SOME, "step-3")),
    "one attempt": lambda store: read_attempt(store, AttemptKey(SOME, "step-3", 1)),
    "paused attempts": lambda store: store.paused(PausedAt("wf-0", "step-0", FIRST)),
    "a run by its request": lambda store: store.run_of_request("wf-7", "uuid-50007"),
    "flows": lambda store: store.load_flows([SOME, RunKey("wf-8", 400, 1)]),
    "groups": lambda store: store.load_groups([126, 127]),
    "mail": lambda store: store.fetch(NODE, range(GROUPS), most=PAGE),
    "counts of a workflow": lambda store: store.look_at_queue("wf-0"),
    "queues": lambda store: store.queues_at_home(range(8)),
    "work that is free": lambda store: store.pool_work(FreeWork("pool-1", before=10**15, most=PAGE)),
    "work that is taken": lambda store: store.take_work(NODE, "pool-1"),
    "holders of a tag": lambda store: store.permits(HoldersOf("tag-7", FIRST)),
    "beat": lambda store: store.beat(NODE),
    "claim": lambda store: store.claim(NODE, GROUPS),
}


@pytest.fixture(scope="module")
def schema(own_postgresql: PostgresServer) -> Iterator[Schema]:
    made = Schema(own_postgresql.url())
    docs = {
        "run.doc": RUN.write(run_record(SOME, "uuid")),
        "attempt.doc": ATTEMPT.write(attempt_record(SOME, "step-3")),
        "outbox.doc": BODIES[Log.kind].write(Log(at=1)),
        "outbox.kind": Log.kind,
        "workflow.properties": PROPERTIES.write(PropertiesSnapshot()),
        "workflow.rule": "SEQUENTIAL",
    }
    asyncio.run(fill(made.url, ATTEMPTS // 10, ATTEMPTS, docs))
    yield made
    made.drop()


async def examined(store: Any, schema: Schema, call: Call) -> int:
    """How many rows the server looks at."""
    async with connection_to(schema.url) as connection:

        async def total() -> int:
            for backend, _since in store._db._pool._idle:
                await backend.execute("SELECT pg_stat_force_next_flush()")
            return int(await connection.fetchval(SUM, schema.name))

        await call(store)  # so that its statements are prepared: that reads the catalogue only
        before = await total()
        await call(store)
        return await total() - before


@pytest.mark.parametrize("name", CALLS)
def test_few_rows_are_examined(name: str, schema: Schema) -> None:
    async def run() -> int:
        store = await open_postgresql(schema.url)
        try:
            if name in {"beat", "claim", "work that is taken"}:
                await store.leave(NODE)
                await store.join(NODE)
            return await examined(store, schema, CALLS[name])
        finally:
            await store.close()

    count = asyncio.run(run())
    assert count <= MOST, f"{name}: {count} rows"
