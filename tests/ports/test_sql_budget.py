"""How many rows are written: as few as were promised, however many steps a run has."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.ports.row_counts import Written, written
from tests.waiting import until

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.app import App, running
from stretto.config import Config
from stretto.definition import parse_all
from stretto.engine.records import RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.model.user import User
from stretto.node.group import GroupState
from stretto.node.settings import NodeSettings
from stretto.ports.admission import NewRun, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.commit import Decided
from stretto.ports.places import GROUPS, group_of_run
from stretto.ports.rows import RunSummary
from stretto.ports.run_snapshot import read_run
from stretto.ports.runtime import Done, Injected, StepContext, StepResult
from stretto.store.opening import open_store
from stretto.store.settings import DatabaseSettings
from stretto.store.sql import commits
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.world import World, attempt_record, ended, run_record

LEASES = {"node", "beat", "flow_group"}  # they are written whether or not anything happens


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    monkeypatch.setattr(commits, "RENEW_EVERY", 10**9)  # a commit renews the beat, now and then
    with written(request.param, request) as made:
        yield made


# ------------------------------------------------------------------------------------------------ the store
class Counted:
    """A world that counts the rows which its store writes."""

    def __init__(self, world: World, owner: Owner, database: Written) -> None:
        self.world = world
        self.owner = owner
        self._database = database

    async def rows_of(self, call: Awaitable[Any]) -> tuple[int, Any]:
        await asyncio.to_thread(self._database.take)
        answer = await call
        return (await asyncio.to_thread(self._database.take)).total(), answer

    async def start(self, count: int) -> tuple[int, list[RunKey]]:
        """So many runs with one transaction."""

        def decide(found: WorkflowSnapshot) -> WorkflowDecision[list[RunKey]]:
            keys = [RunKey("wf", found.next_instance_id + place, 1) for place in range(count)]
            created = tuple(NewRun(record=run_record(key, f"r-{key.instance_id}")) for key in keys)
            return WorkflowDecision(answer=keys, spent=count, created=created, admitted=tuple(keys))

        rows, done = await self.rows_of(self.world.store.transact("wf", TransactionScope(), decide))
        return rows, done.answer


async def never(*_arguments: Any) -> Any:
    raise AssertionError("nobody asks for it")


def counted(database: Written, body: Callable[[Counted], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_store(database.url)
        world = World(store, never, never)
        await world.publish()
        owner = await world.owner()
        await owner.commit(0, Decided())  # the beat is renewed with the first commit
        await body(Counted(world, owner, database))
        await store.close()

    asyncio.run(run())


def test_runs_of_steps_without_an_outside_effect(database: Written) -> None:
    """1 row per step, 2 per instance; for all together: the workflow, its counter and that of all workflows,
    a log row per group.
    """

    async def body(counter: Counted) -> None:
        runs, steps = 40, 25
        started, keys = await counter.start(runs)
        assert started == runs + 1
        by_group: dict[int, list[Decided]] = {}
        for key in keys:
            record = ended(run_record(key, f"r-{key.instance_id}"))
            attempts = [attempt_record(key, f"s{n}", 1, StepStatus.SUCCEEDED) for n in range(steps)]
            decided = Decided(root=key, launch=True, records=(record, *attempts), events=(event("x"),))
            by_group.setdefault(group_of_run(key), []).append(decided)
        parts = [counter.owner.part(group, *decisions) for group, decisions in by_group.items()]
        rows, done = await counter.rows_of(counter.world.store.commit(counter.owner.node, parts))
        assert not done.fenced
        assert rows == runs + runs * steps + len(by_group) + 2

    counted(database, body)


def test_a_step_with_an_outside_effect(database: Written) -> None:
    """2 rows per step: when it begins, and when it ends. The run's row only if its time changes."""

    async def body(counter: Counted) -> None:
        _rows, (key,) = await counter.start(1)
        owner, store = counter.owner, counter.world.store
        group = group_of_run(key)
        record = run_record(key, f"r-{key.instance_id}", status=RunStatus.IN_PROGRESS)

        async def commit(**fields: Any) -> int:
            part = owner.part(group, Decided(root=key, **fields))
            return (await counter.rows_of(store.commit(owner.node, [part])))[0]

        await commit(launch=True, records=(record,), due_at=0)
        begins = attempt_record(key, "s", 1, StepStatus.STARTING)
        assert await commit(records=(begins,), due_at=0, runs_on={begins.key: owner.node}) == 1
        ends = attempt_record(key, "s", 1, StepStatus.SUCCEEDED)
        assert await commit(records=(ends,), keeps_due=True) == 1
        assert await commit(due_at=0) == 0  # that is what the row says
        assert await commit(due_at=5) == 1
        assert await commit() == 1
        assert await commit(records=(record,), summaries={key: RunSummary()}, due_at=9) == 1

    counted(database, body)


def test_messages_are_a_row_and_its_deletion(database: Written) -> None:
    async def body(counter: Counted) -> None:
        owner, store = counter.owner, counter.world.store
        rows, run = await counter.rows_of(counter.world.start(admit=False))
        assert rows == 3  # the run, the workflow, the message that tells of it
        (message,) = (await store.fetch(owner.node, [group_of_run(run)])).messages
        part = owner.part(group_of_run(run), Decided(consumed=(message.id,)))
        assert (await counter.rows_of(store.commit(owner.node, [part])))[0] == 1

    counted(database, body)


# ------------------------------------------------------------------------------------------------- the node
ANN = Caller(user=User(name="ann"))
RUNS, STEPS = 12, 8
CALM = Config(  # it beats once, and that was before; how far runs are it writes with other things only
    node=NodeSettings(
        beat_every=600_000, trust=2_400_000, watch=2_400_000, stop_within=1_000, rollup_every=600_000
    ),
    database=DatabaseSettings(beat_lasts=3_000_000),
)


def chain(kind: str, **params: str) -> str:
    given = {name: {"type": "STRING", "value": value} for name, value in params.items()}
    after = [{"successors": {f"s{place + 1}": "true"}} for place in range(STEPS - 1)] + [{}]
    steps = [
        {"step": {"id": f"s{place}", "type": kind, "params": given, "transition": transition}}
        for place, transition in enumerate(after)
    ]
    strategy = {"rule": "PARALLEL", "workflow_concurrency": RUNS}
    properties = {"owner": "ann", "run_strategy": strategy}
    return json.dumps({"properties": properties, "workflow": {"id": "w", "steps": steps}})


async def ending_of(app: App, key: RunKey) -> RunStatus:
    async def ending() -> RunStatus | None:
        row = await read_run(app.store, key)
        return row.record.status if row is not None and row.record.status.is_terminal else None

    return await until(ending)


async def carried_out(app: App, text: str, take: Callable[[], Counter[str]]) -> Counter[str]:
    """What a node writes for some runs of a workflow, from the request to the end."""
    (definition,) = parse_all(text)
    await publish(app.store, ANN, definition, hints=app.hints)
    await until(lambda: sum(each.state is GroupState.READY for each in app._node.groups.values()) == GROUPS)

    async def is_quiet() -> bool:
        return not await asyncio.to_thread(take)

    await until(is_quiet)
    request = StartRequest(initiator=ManualInitiator())
    made = [await start(app.store, ANN, "w", "latest", request, hints=app.hints) for _ in range(RUNS)]
    for each in made:
        key = RunKey("w", each.workflow_instance_id, each.workflow_run_id)
        assert await ending_of(app, key) is RunStatus.SUCCEEDED
    return await asyncio.to_thread(take)


class AtOnce:
    """Work that is done when its start is."""

    outside = False

    def params(self, _step: AnyStep) -> Injected:
        return Injected()

    async def start(self, _ctx: StepContext) -> StepResult:
        return Done()

    execute = terminate = start


def rows_of_node(database: Written, text: str, *, at_once: bool = False) -> dict[str, int]:
    async def work() -> Counter[str]:
        made = running(CALM, database.url, runtimes=lambda _around: {"Shell": AtOnce()} if at_once else {})
        async with made as app, asyncio.timeout(60):
            return await app.watch(carried_out(app, text, database.take))

    rows = asyncio.run(work())
    return {table: count for table, count in rows.items() if table not in LEASES}


def test_a_node_writes_a_row_per_step_and_two_per_instance(database: Written) -> None:
    """Each start is a transaction of its own here: so the workflow's row is written with each, too."""
    rows = rows_of_node(database, chain("NoOp"))
    log, counters = rows.pop("change_log"), rows.pop("outcome")
    assert rows == {"run": 2 * RUNS, "attempt": STEPS * RUNS, "workflow": RUNS}
    assert log <= RUNS  # one commit is enough for a run, and for several that are in one group
    assert counters <= 2 * RUNS  # with each commit that of the workflow, and that of all


def test_a_node_writes_two_rows_per_step_with_an_outside_effect_and_three_per_instance(
    database: Written,
) -> None:
    rows = rows_of_node(database, chain("Shell", command="true"), at_once=True)
    log, counters = rows.pop("change_log"), rows.pop("outcome")
    assert rows == {"run": 3 * RUNS, "attempt": 2 * STEPS * RUNS, "workflow": RUNS}
    assert log <= RUNS * (STEPS + 2)
    assert counters <= 2 * RUNS


def test_work_that_goes_on_for_a_while_is_a_row_more(database: Written) -> None:
    """It is RUNNING meanwhile, and so says its row."""
    rows = rows_of_node(database, chain("Shell", command="true"))
    assert 2 * STEPS * RUNS <= rows["attempt"] <= 3 * STEPS * RUNS
    assert (rows["run"], rows["workflow"]) == (3 * RUNS, RUNS)
