"""A simple group commit goes to PostgreSQL in one way there and back; any other goes as usual."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec
import pytest
from tests.ports.postgresql_bench import Schema
from tests.ports.postgresql_server import PostgresServer
from tests.ports.postgresql_wire import Fault, Wire

from stretto.engine.permits import PermitUse
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.permit import TagPermit
from stretto.model.status import RunStatus
from stretto.ports.commit import Committed, Decided, GroupPart, PermitAsk
from stretto.ports.failures import NoPermits, OutcomeUnknown, Poison, Stale
from stretto.ports.rows import Lease, Phase
from stretto.ports.store import Store
from stretto.store.postgresql import open_postgresql
from stretto.store.postgresql.database import PostgresDatabase
from stretto.store.sql.at_once import Answer, AtOnce, at_once_of
from stretto.store.sql.params import KnownParams
from stretto.store.sql.plan import Plan
from stretto.store.sql.statement import Statement
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.world import World, attempt_record, refusal, run_record

RUN = RunKey("wf", 1, 1)
WAITERS = Statement("SELECT 1 FROM pg_locks WHERE NOT granted")


# ---------------------------------------------------------------------------------------- what goes at once
def plan_of(*decisions: Decided) -> Plan:
    return Plan(GroupPart(lease=Lease(3, 1), decisions=decisions, seq=7), KnownParams(), 1_000)


def launched(**fields: Any) -> Decided:
    record = run_record(RUN, "request", status=RunStatus.IN_PROGRESS)
    return Decided(root=RUN, launch=True, records=(record, attempt_record(RUN, "s")), **fields)


def going_on(**fields: Any) -> Decided:
    return Decided(**{"root": RUN, "records": (attempt_record(RUN, "s"),), **fields})


def asking(run: RunKey = RUN, *, limit: int | None = None, **fields: Any) -> PermitAsk:
    return PermitAsk(attempt=attempt_record(run, "s").key, limits={"t": limit}, since=1, **fields)


def taking(run: RunKey = RUN, *, limit: int | None = None) -> dict[str, Any]:
    """The fields of a decision that takes a permit, and of one that returns it in the same commit."""
    return {"permits": (asking(run, limit=limit, taken=True),), "uses": {"t": PermitUse(1, 1, 1, limit)}}


def test_permits_of_tags_without_a_limit_go_along() -> None:
    rows = at_once_of([plan_of(going_on(keeps_due=True, **taking()))], {"t": None})
    assert rows is not None
    assert (rows.free, [row[:6] for row in rows.takes]) == (["t"], [(*RUN, "s", 1, "t")])
    assert at_once_of([plan_of(going_on(keeps_due=True, **taking(limit=5)))], {"t": 5}) is None


def test_what_is_expected_and_written() -> None:
    rows = at_once_of([plan_of(launched(due_at=5), going_on(due_at=9, events=(event("a"),)))])
    assert rows is not None
    assert rows.expected == [(*RUN, Phase.ADMITTED, None, 0)]
    assert [(row[:3], row[-1]) for row in rows.updates] == [(RUN, 9)]
    assert [row[:5] for row in rows.attempts] == [(*RUN, "s", 1)]
    assert [row[:2] for row in rows.logs] == [(3, 7)]


@pytest.mark.parametrize(
    ("decided", "due"), [(going_on(due_at=5), (5, 1)), (going_on(keeps_due=True), (None, 0))]
)
def test_when_a_run_is_due_is_checked_if_it_may_change(decided: Decided, due: tuple[int | None, int]) -> None:
    rows = at_once_of([plan_of(decided)])
    assert rows is not None
    assert rows.expected == [(*RUN, Phase.LIVE, *due)]
    assert rows.updates == []


@pytest.mark.parametrize(
    "decisions",
    [
        pytest.param((), id="nothing that is expected"),
        pytest.param((going_on(consumed=(4,)),), id="a message"),
        pytest.param((going_on(permits=(asking(),)),), id="a place in a line"),
        pytest.param((going_on(permits=(asking(taken=True, rates={"t": "5/second"}),)),), id="a rate"),
        pytest.param((going_on(root=None),), id="no run"),
        pytest.param((launched(), launched()), id="launched twice"),
        pytest.param((going_on(launch=True),), id="launched without its record"),
        pytest.param((going_on(records=(run_record(RUN, "r"),), keeps_due=True),), id="due as before"),
        pytest.param((going_on(records=(run_record(RunKey("in", 1, 1), "r"),)),), id="an iteration"),
        pytest.param(
            (going_on(records=(run_record(RUN, "r", status=RunStatus.FAILED, end_time=1),)),), id="an end"
        ),
    ],
)
def test_what_goes_the_usual_way(decisions: tuple[Decided, ...]) -> None:
    assert at_once_of([plan_of(*decisions)]) is None


# -------------------------------------------------------------------------------------------------- commits
@pytest.fixture(scope="module")
def schema(own_postgresql: PostgresServer) -> Iterator[Schema]:
    made = Schema(own_postgresql.url())
    yield made
    made.drop()


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> None:
    if "schema" in request.fixturenames:
        request.getfixturevalue("schema").empty()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer | None]:
    """What was answered to commits in one way."""
    made: list[Answer | None] = []
    real = PostgresDatabase.at_once

    async def at_once(database: PostgresDatabase, leases: Any, rows: AtOnce) -> Answer | None:
        answer = await real(database, leases, rows)
        made.append(answer)
        return answer

    monkeypatch.setattr(PostgresDatabase, "at_once", at_once)
    return made


async def beginning(store: Store, answers: list[Answer | None] | None = None) -> tuple[World, Owner, RunKey]:
    """A live run, and a beat that was renewed just now."""

    async def another() -> Store:
        raise AssertionError("one store is enough here")

    async def advance(_milliseconds: int) -> None:
        raise AssertionError("nobody waits here")

    world = World(store, another, advance)
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    await owner.decide(run)
    if answers is not None:
        answers.clear()
    return world, owner, run


def on_store(url: str, use: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_postgresql(url)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(run())


async def attempts_of(store: Store, run: RunKey) -> list[str]:
    (flow,) = await store.load_flows([run])
    return [each.key.step_id for each in flow.attempts]


def test_all_of_it_is_stored(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        before = (await store.run(run)).modify_time
        done = await owner.decide(run, records=(attempt_record(run, "s"),), events=(event("told"),))
        assert [each.is_written for each in answers if each] == [True]
        assert done == Committed(now=done.now, fenced=frozenset())
        assert await attempts_of(store, run) == ["s"]
        group = await owner.group_of(run)
        (row,) = await store.read_log({group: 0})
        assert (row.events, row.at) == ((event("told"),), done.now)
        record = msgspec.structs.replace((await store.run(run)).record, status=RunStatus.IN_PROGRESS)
        again = await owner.decide(run, records=(record,), due_at=77)
        found = await store.run(run)
        assert (found.due_at, found.modify_time) == (77, again.now)
        assert before <= again.now

    on_store(schema.url, use)
    assert [each.is_written for each in answers if each] == [True, True]


def test_another_time_to_be_due_is_stored(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        await owner.decide(run, records=(attempt_record(run, "s"),), due_at=99)
        assert (await store.run(run)).due_at == 99
        assert await attempts_of(store, run) == ["s"]

    on_store(schema.url, use)
    assert [each.is_written for each in answers if each] == [False]


def test_what_is_not_as_expected_is_said(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        await schema.run("UPDATE run SET phase = 'ENDED', lane = NULL")
        await refusal(Stale, owner.decide(run, records=(attempt_record(run, "s"),)))
        await schema.run("UPDATE run SET phase = 'LIVE', lane = 'LIVE'")
        await owner.decide(run, records=(attempt_record(run, "s"),), events=(event("1"),))
        owner.seqs.clear()
        telling = owner.decide(run, records=(attempt_record(run, "t"),), events=(event("2"),))
        assert "seq" in str(await refusal(Stale, telling))  # it was taken
        assert await attempts_of(store, run) == ["s"]

    on_store(schema.url, use)
    assert [each and each.is_written for each in answers] == [False, True, None]


def test_a_lease_that_is_out_of_date(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        world, owner, run = await beginning(store, answers)
        other = await world.live(owner)
        group, going = await owner.group_of(run), await owner.group_of(other)
        owner.leases[group] = Lease(group, owner.leases[group].generation - 1)
        done = await owner.decide(run, records=(attempt_record(run, "s"),))
        assert done.fenced == {group}
        parts = [
            owner.part(at, Decided(root=each, records=(attempt_record(each, "s"),)))
            for at, each in ((group, run), (going, other))
        ]
        assert (await store.commit(owner.node, parts)).fenced == {group}
        assert [await attempts_of(store, each) for each in (run, other)] == [[], ["s"]]

    on_store(schema.url, use)
    held = [each and (each.is_written, len(each.held)) for each in answers]
    assert held == [(True, 1), (False, 0), (False, 1)]  # the first has launched the second run


def test_permits_are_taken_and_given_back_in_one_way(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        record = attempt_record(run, "s")
        done = await owner.decide(run, records=(record,), **taking(run))
        assert done.left == {"t": None}
        (held,) = await store.permits_of([record.key])
        assert (held.tag, held.granted, held.granted_at) == ("t", True, done.now)
        await owner.decide(run, records=(record,), released=(record.key,))
        assert await store.permits_of([record.key]) == []

    on_store(schema.url, use)
    assert [each and each.is_written for each in answers] == [True, True]


def test_permits_of_a_tag_with_a_limit_are_counted(schema: Schema, answers: list[Answer | None]) -> None:
    """A limit that is set holds from the next commit on, also where the tag had none before."""

    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        record = attempt_record(run, "s")
        await owner.decide(run, records=(record,), **taking(run))
        await store.change_tag("t", lambda _before: TagPermit(tag="t", max_allowed=1))
        other = attempt_record(run, "u")
        more = {
            **taking(run),
            "permits": (msgspec.structs.replace(asking(run, taken=True), attempt=other.key),),
        }
        refused = await refusal(NoPermits, owner.decide(run, records=(other,), **more))
        assert refused.tags == {"t"}
        await owner.decide(run, records=(record,), released=(record.key,))
        assert (await owner.decide(run, records=(other,), **more)).left == {"t": 0}
        await owner.decide(run, records=(other,), released=(other.key,))
        assert (await owner.decide(run, records=(other,), **more)).left == {"t": 0}

    on_store(schema.url, use)
    # The limit was not known, and the commit in one way wrote nothing; once it is known none is tried.
    assert [each and each.is_written for each in answers] == [True, False, True, False, True]


def test_once_a_second_the_beat_is_renewed(schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        store._newest += 5_000
        await owner.decide(run, records=(attempt_record(run, "s"),))
        assert answers == []

    on_store(schema.url, use)


# -------------------------------------------------------------------------------------------------- trouble
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.SILENCE])
def test_lost_meanwhile_nobody_knows(fault: Fault, own_postgresql: PostgresServer, schema: Schema) -> None:
    async def run() -> None:
        async with Wire(own_postgresql) as wire:
            query = {"statement_within": "1500", "connect_within": "2000"}
            store = await open_postgresql(wire.url(search_path=schema.name, **query))
            try:
                _world, owner, run = await beginning(store)
                wire.fail(b"guard AS MATERIALIZED", fault)
                deciding = owner.decide(run, records=(attempt_record(run, "s"),))
                assert "while it stored" in str(await refusal(OutcomeUnknown, deciding))
                await owner.decide(run, records=(attempt_record(run, "t"),))
                assert await attempts_of(store, run) == ["t"]
            finally:
                await store.close()

    asyncio.run(run())


def test_who_is_cancelled_holds_nothing(schema: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        await owner.decide(run, records=(attempt_record(run, "s"),))
        group = await owner.group_of(run)
        other: Any = await open_postgresql(schema.url)
        try:
            locked, free = asyncio.Event(), asyncio.Event()

            async def hold(tx: Any) -> None:
                await tx._connection.execute(
                    f"UPDATE flow_group SET falls = falls WHERE group_id = {group}"  # noqa: S608 - a number
                )
                locked.set()
                await free.wait()

            holding = asyncio.create_task(other._db.write(hold))
            await locked.wait()
            waiting = asyncio.create_task(owner.decide(run, records=(attempt_record(run, "t"),)))
            async with asyncio.timeout(30):
                while not await other._db.look(lambda tx: tx.all(WAITERS)):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            free.set()
            await holding
        finally:
            await other.close()
        assert await attempts_of(store, run) == ["s"]
        await owner.decide(run, records=(attempt_record(run, "u"),))
        assert await attempts_of(store, run) == ["s", "u"]

    on_store(schema.url, use)


@pytest.mark.parametrize("step_id", ["\ud800", "a\0b"], ids=["surrogate", "NUL"])
def test_a_value_that_can_not_be_stored(step_id: str, schema: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        rows = at_once_of([plan_of(going_on(root=run, records=(attempt_record(run, "s"),)))])
        assert rows is not None
        rows.attempts[0] = (*rows.attempts[0][:3], step_id, *rows.attempts[0][4:])
        lease = owner.leases[await owner.group_of(run)]
        assert await store._db.at_once([lease], rows) is None
        assert await attempts_of(store, run) == []

    on_store(schema.url, use)
    assert answers == [None]


def test_a_server_that_is_not_there_is_said_to_be_away(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        group = await owner.group_of(run)
        part = owner.part(group, Decided(root=run, records=(attempt_record(run, "s"),)))

        async def refuse() -> None:
            raise ConnectionRefusedError("nobody listens")

        with monkeypatch.context() as away:
            away.setattr(store._db._pool, "take", refuse)
            assert "nobody listens" in str(await refusal(Unavailable, store.commit(owner.node, [part])))
        await store.commit(owner.node, [part])
        assert await attempts_of(store, run) == ["s"]

    on_store(schema.url, use)


def test_a_closed_store_says_so(schema: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        group = await owner.group_of(run)
        part = owner.part(group, Decided(root=run, records=(attempt_record(run, "s"),)))
        await store.close()
        assert "closed" in str(await refusal(Unavailable, store.commit(owner.node, [part])))

    on_store(schema.url, use)


def test_a_key_that_can_not_be_stored_is_poison(schema: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        await refusal(Poison, owner.decide(run, records=(attempt_record(run, "x" * 300),)))

    on_store(schema.url, use)
