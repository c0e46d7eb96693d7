"""Pools and the threads behind them."""

import asyncio
import contextvars
import threading
from queue import SimpleQueue
from typing import Any

import pytest
from tests.unit.runtimes.python.stand import playing
from tests.waiting import until

from stretto.model.errors import InvalidRequest, NotFound
from stretto.runtimes.python import Pools
from stretto.runtimes.python.pools import Pool, PoolStatus
from stretto.runtimes.python.threads import Box, Tell, Threads


def test_sizes_are_checked() -> None:
    pools = Pools({"db": 2})
    assert [each.name for each in pools.statuses()] == ["db", "default"]
    assert pools.of(None, is_async=True) is None
    assert pools.of(None, is_async=False) is not None
    with pytest.raises(NotFound, match="there is no pool `defualt`: did you mean `default`"):
        pools.of("defualt", is_async=True)
    with pytest.raises(NotFound, match="there are: db, default"):
        pools.resize("xyz", 1)
    wrong: list[Any] = [0, -1, 1_001, 1.5, True, "3"]
    for size in wrong:
        with pytest.raises(InvalidRequest, match="a number from 1 to 1000"):
            pools.resize("db", size)
    with pytest.raises(InvalidRequest):
        Pools({"x": 0})


def test_a_pool_lets_in_so_many_and_in_turn() -> None:
    async def body() -> None:
        pool = Pool("db", 1)
        order: list[int] = []
        gates = [asyncio.Event() for _ in range(4)]

        async def visit(number: int) -> None:
            await pool.enter()
            order.append(number)
            await gates[number].wait()
            pool.leave()

        tasks = [asyncio.create_task(visit(number)) for number in range(4)]
        await asyncio.sleep(0)
        assert order == [0]
        assert pool.status == PoolStatus("db", 1, 1, 3)
        assert pool.status.free == 0
        assert not pool.try_enter()
        tasks[1].cancel()  # it goes away while it waits
        await asyncio.sleep(0)
        gates[0].set()
        await until(lambda: len(order) >= 2)
        assert order == [0, 2]
        gates[2].set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[3].cancel()  # its turn has come, but it is not there yet, or just came
        gates[3].set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert pool.running in {0, 1}

    playing(body)


def test_a_place_is_not_lost_with_who_was_to_have_it() -> None:
    async def body() -> None:
        pool = Pool("db", 1)
        await pool.enter()
        waiting = asyncio.create_task(pool.enter())
        await asyncio.sleep(0)
        pool.leave()
        waiting.cancel()  # after its turn has come, before it could notice
        await asyncio.gather(waiting, return_exceptions=True)
        assert pool.running == 0
        assert pool.try_enter()

    playing(body)


def test_a_pool_grows_and_shrinks_while_it_is_used() -> None:
    async def body() -> None:
        pools = Pools({"db": 1})
        pool = pools.of("db", is_async=True)
        assert pool is not None
        waiting = [asyncio.create_task(pool.enter()) for _ in range(5)]
        await asyncio.sleep(0)
        assert pools.status("db").running == 1
        pools.resize("db", 3)
        assert pools.status("db").running == 3
        pools.resize("db", 1)
        pool.leave()
        pool.leave()
        assert (pools.status("db").running, pools.status("db").waiting) == (1, 2)
        pool.leave()
        assert pools.status("db").running == 1
        pool.leave()
        pool.leave()
        await asyncio.gather(*waiting)
        assert pools.status("db") == PoolStatus("db", 1, 0, 0)

    playing(body)


VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


def test_calls_in_threads() -> None:
    async def body() -> None:
        threads = Threads()
        VARIABLE.set("mine")
        ended: list[str] = []

        def call() -> tuple[str, int]:
            return VARIABLE.get(), threading.get_ident()

        variable, ident = (await threads.run(call, lambda: ended.append("x"))).get()
        assert (variable, ended) == ("mine", ["x"])
        assert ident != threading.get_ident()
        assert (await threads.run(threading.get_ident)).get() == ident  # the same one, used again
        assert threads.made == 1

        def leave() -> None:
            raise SystemExit(3)

        outcome = await threads.run(leave)
        assert isinstance(outcome.error, SystemExit)
        with pytest.raises(SystemExit):
            outcome.get()
        threads.close()

    playing(body)


def test_nobody_need_wait_for_a_thread() -> None:
    async def body() -> None:
        threads = Threads()
        go, done = threading.Event(), asyncio.Event()
        future = threads.run(go.wait, done.set)
        future.cancel()
        assert not done.is_set()
        threads.close()
        go.set()
        await done.wait()  # it has really ended now
        await until(lambda: not threads.made)

    playing(body)


def test_idle_threads_end() -> None:
    async def body() -> None:
        threads = Threads(idle=0.01)
        await threads.run(lambda: None)
        await until(lambda: not threads.made)
        await threads.run(lambda: None)
        threads.close()

    playing(body)


def test_work_that_comes_as_a_thread_is_about_to_end() -> None:
    """It has given up waiting, and finds that it is not idle any more: its work is on the way."""
    threads = Threads(idle=0.001)
    box: Box = SimpleQueue()

    def work() -> Tell:
        raise AssertionError

    threading.Timer(0.1, box.put, (work,)).start()
    assert threads._next(box) is work


def test_work_for_threads_that_come_and_go() -> None:
    async def body() -> None:
        threads = Threads(idle=0.001)
        for _ in range(300):
            assert (await threads.run(lambda: 1)).get() == 1
            await asyncio.sleep(0.001)
        threads.close()

    playing(body)


def test_a_loop_that_has_ended_is_not_told() -> None:
    go, done = threading.Event(), threading.Event()
    threads = Threads()

    def call() -> None:
        go.wait()

    async def start() -> None:
        threads.run(call)

    asyncio.run(start())
    go.set()
    threads.close()
    done.set()
