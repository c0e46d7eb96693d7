"""The same request again: at the same time, later, after a refusal, and after somebody died."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.unit.actions.world import Clock

from stretto.actions.parts.once import CLAIMED_FOR, InProgress, once, remembered
from stretto.model.errors import NotFound
from stretto.store.memory import Database, MemoryStore

WHO = ("ann", "/path", "id")


class Desk:
    """A store, a clock that both follow, and work that is counted."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = MemoryStore(Database(self.clock))
        self.done = 0

    async def work(self) -> int:
        self.done += 1
        return self.done

    async def refused(self) -> int:
        raise NotFound("there is no such thing")

    async def once(self, work: Callable[[], Awaitable[int]] | None = None) -> int:
        return await once(self.store, WHO, int, work or self.work, self.clock)


def test_the_second_gets_the_answer_of_the_first() -> None:
    async def story() -> None:
        desk = Desk()
        assert [await desk.once(), await desk.once()] == [1, 1]
        assert await once(desk.store, ("bob", "/path", "id"), int, desk.work, desk.clock) == 2

    asyncio.run(story())


def test_who_comes_meanwhile_waits_for_the_answer() -> None:
    async def story() -> None:
        desk, go = Desk(), asyncio.Event()

        async def slow() -> int:
            await go.wait()
            return await desk.work()

        async def looked() -> None:
            go.set()
            await asyncio.wait({first})

        first = asyncio.create_task(desk.once(slow))
        await asyncio.sleep(0)
        desk.clock.meanwhile = looked
        assert await asyncio.gather(first, *(desk.once() for _ in range(5))) == [1] * 6

    asyncio.run(story())


def test_nobody_waits_for_ever() -> None:
    async def story() -> None:
        desk, go = Desk(), asyncio.Event()

        async def stuck() -> int:
            await go.wait()
            return 7

        first = asyncio.create_task(desk.once(stuck))
        await asyncio.sleep(0)
        begin = desk.clock.time
        with pytest.raises(InProgress) as refused:
            await desk.once()
        assert desk.clock.time - begin == 10_000
        assert (refused.value.status, refused.value.retryable) == (409, True)
        go.set()
        assert await first == 7
        assert (await desk.once(), desk.done) == (7, 0)

    asyncio.run(story())


def test_who_died_is_followed_also_if_the_clock_was_set_back() -> None:
    """Nobody whose claim is ahead of the clock is waited for longer than usual."""

    async def story() -> None:
        desk, go = Desk(), asyncio.Event()

        async def stuck() -> int:
            await go.wait()
            return 7

        steady = desk.clock.steady
        lost = asyncio.create_task(desk.once(stuck))
        await asyncio.sleep(0)
        desk.clock.time -= 60 * CLAIMED_FOR
        begin = steady()
        assert await desk.once() == 1
        assert steady() - begin == 10
        go.set()
        assert await lost == 7

    asyncio.run(story())


def test_what_was_refused_is_tried_again_by_who_waited() -> None:
    async def story() -> None:
        desk = Desk()
        with pytest.raises(NotFound):
            await desk.once(desk.refused)
        assert await desk.once() == 1

    asyncio.run(story())


def test_who_died_is_followed_by_another_one() -> None:
    async def story() -> None:
        desk = Desk()
        go = asyncio.Event()

        async def stuck() -> int:
            await go.wait()
            return 7

        lost = asyncio.create_task(desk.once(stuck))
        await asyncio.sleep(0)
        desk.clock.time += CLAIMED_FOR
        assert await desk.once() == 1
        go.set()
        assert await lost == 7  # it was only slow: its answer counts from now on
        assert await desk.once() == 7

    asyncio.run(story())


def test_who_is_cut_off_lets_go() -> None:
    async def story() -> None:
        desk = Desk()

        async def never() -> int:
            await asyncio.Event().wait()
            return 5

        cut = asyncio.create_task(desk.once(never))
        await asyncio.sleep(0)
        cut.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cut
        assert await desk.once() == 1

    asyncio.run(story())


def test_who_is_alone_with_it_awaits_nobody() -> None:
    async def story() -> None:
        desk = Desk()
        assert [await remembered(desk.store, WHO, int, desk.work) for _ in range(2)] == [1, 1]

    asyncio.run(story())
