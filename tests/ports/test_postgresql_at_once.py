"""A simple group commit goes to PostgreSQL in one way there and back; any other goes as usual."""

import asyncio
from typing import Any

import msgspec
import pytest
from tests.ports.postgresql_bench import Schema
from tests.ports.postgresql_one_way import RUN, beginning, going_on, on_store, plan_of
from tests.ports.postgresql_server import PostgresServer
from tests.ports.postgresql_wire import Fault, Wire
from tests.waiting import until

from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.status import RunStatus
from stretto.ports.commit import Committed, Decided, PermitAsk
from stretto.ports.failures import OutcomeUnknown, Poison, Stale
from stretto.ports.rows import Lease, Phase, RunRow
from stretto.ports.run_snapshot import NamedRuns
from stretto.ports.store import Store
from stretto.store.postgresql import open_postgresql
from stretto.store.sql.at_once import Answer, at_once_of
from stretto.store.sql.statement import Statement
from stretto.testing.store_suite.owner import event
from stretto.testing.store_suite.world import attempt_record, refusal, run_record

WAITERS = Statement("SELECT 1 FROM pg_locks WHERE NOT granted")


# ---------------------------------------------------------------------------------------- what goes at once
def launched(**fields: Any) -> Decided:
    record = run_record(RUN, "request", status=RunStatus.IN_PROGRESS)
    return Decided(root=RUN, launch=True, records=(record, attempt_record(RUN, "s")), **fields)


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


def asking(**fields: Any) -> PermitAsk:
    return PermitAsk(attempt=attempt_record(RUN, "s").key, limits={"t": None}, since=1, **fields)


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
async def row_of(store: Store, run: RunKey) -> RunRow:
    (row,) = (await store.runs(NamedRuns((run,)))).elements
    return row


async def attempts_of(store: Store, run: RunKey) -> list[str]:
    (flow,) = await store.load_flows([run])
    return [each.key.step_id for each in flow.attempts]


def test_all_of_it_is_stored(one_way: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        before = (await row_of(store, run)).modify_time
        done = await owner.decide(run, records=(attempt_record(run, "s"),), events=(event("told"),))
        assert [each.is_written for each in answers if each] == [True]
        assert done == Committed(now=done.now, fenced=frozenset())
        assert await attempts_of(store, run) == ["s"]
        group = await owner.group_of(run)
        (row,) = await store.read_log({group: 0})
        assert (row.events, row.at) == ((event("told"),), done.now)
        record = msgspec.structs.replace((await row_of(store, run)).record, status=RunStatus.IN_PROGRESS)
        again = await owner.decide(run, records=(record,), due_at=77)
        found = await row_of(store, run)
        assert (found.due_at, found.modify_time) == (77, again.now)
        assert before <= again.now

    on_store(one_way.url, use)
    assert [each.is_written for each in answers if each] == [True, True]


def test_another_time_to_be_due_is_stored(one_way: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        await owner.decide(run, records=(attempt_record(run, "s"),), due_at=99)
        assert (await row_of(store, run)).due_at == 99
        assert await attempts_of(store, run) == ["s"]

    on_store(one_way.url, use)
    assert [each.is_written for each in answers if each] == [False]


def test_what_is_not_as_expected_is_said(one_way: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        await one_way.run("UPDATE run SET phase = 'ENDED', lane = NULL")
        await refusal(Stale, owner.decide(run, records=(attempt_record(run, "s"),)))
        await one_way.run("UPDATE run SET phase = 'LIVE', lane = 'LIVE'")
        await owner.decide(run, records=(attempt_record(run, "s"),), events=(event("1"),))
        owner.seqs.clear()
        telling = owner.decide(run, records=(attempt_record(run, "t"),), events=(event("2"),))
        assert "seq" in str(await refusal(Stale, telling))  # it was taken
        assert await attempts_of(store, run) == ["s"]

    on_store(one_way.url, use)
    assert [each and each.is_written for each in answers] == [False, True, None]


def test_a_lease_that_is_out_of_date(one_way: Schema, answers: list[Answer | None]) -> None:
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

    on_store(one_way.url, use)
    held = [each and (each.is_written, len(each.held)) for each in answers]
    assert held == [(True, 1), (False, 0), (False, 1)]  # the first has launched the second run


def test_once_a_second_the_beat_is_renewed(one_way: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        store._newest += 5_000
        await owner.decide(run, records=(attempt_record(run, "s"),))
        assert answers == []

    on_store(one_way.url, use)


# -------------------------------------------------------------------------------------------------- trouble
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.SILENCE])
def test_lost_meanwhile_nobody_knows(fault: Fault, own_postgresql: PostgresServer, one_way: Schema) -> None:
    async def run() -> None:
        async with Wire(own_postgresql) as wire:
            query = {"statement_within": "1500", "connect_within": "2000"}
            store = await open_postgresql(wire.url(search_path=one_way.name, **query))
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


def test_who_is_cancelled_holds_nothing(one_way: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        await owner.decide(run, records=(attempt_record(run, "s"),))
        group = await owner.group_of(run)
        other: Any = await open_postgresql(one_way.url)
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
            await until(lambda: other._db.look(lambda tx: tx.all(WAITERS)))
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

    on_store(one_way.url, use)


@pytest.mark.parametrize("step_id", ["\ud800", "a\0b"], ids=["surrogate", "NUL"])
def test_a_value_that_can_not_be_stored(step_id: str, one_way: Schema, answers: list[Answer | None]) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store, answers)
        rows = at_once_of([plan_of(going_on(root=run, records=(attempt_record(run, "s"),)))])
        assert rows is not None
        rows.attempts[0] = (*rows.attempts[0][:3], step_id, *rows.attempts[0][4:])
        lease = owner.leases[await owner.group_of(run)]
        assert await store._db.at_once([lease], rows) is None
        assert await attempts_of(store, run) == []

    on_store(one_way.url, use)
    assert answers == [None]


def test_a_server_that_is_not_there_is_said_to_be_away(
    one_way: Schema, monkeypatch: pytest.MonkeyPatch
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

    on_store(one_way.url, use)


def test_a_closed_store_says_so(one_way: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        group = await owner.group_of(run)
        part = owner.part(group, Decided(root=run, records=(attempt_record(run, "s"),)))
        await store.close()
        assert "closed" in str(await refusal(Unavailable, store.commit(owner.node, [part])))

    on_store(one_way.url, use)


def test_a_key_that_can_not_be_stored_is_poison(one_way: Schema) -> None:
    async def use(store: Any) -> None:
        _world, owner, run = await beginning(store)
        await refusal(Poison, owner.decide(run, records=(attempt_record(run, "x" * 300),)))

    on_store(one_way.url, use)
