"""Questions of one turn of the event loop: asked once, and answered to each."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.ports.sqlite_bench import SqliteBench

from stretto.model.errors import Unavailable
from stretto.ports.workflows import read_workflow
from stretto.store.sql.read_batcher import ReadBatcher
from stretto.testing.store_suite.world import World


class Doubling:
    """Answers with twice the number, once it may; what is odd is refused."""

    def __init__(self) -> None:
        self.turns: list[list[int]] = []
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.asking = ReadBatcher(self.answer)

    async def answer(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.turns.append(list(numbers))
        self.asked.set()
        await self.go.wait()
        return [ValueError(f"{each} is odd") if each % 2 else each * 2 for each in numbers]


def test_what_is_asked_in_one_turn_is_carried_out_at_once() -> None:
    async def body() -> None:
        doubling = Doubling()
        doubling.go.set()
        answers = await asyncio.gather(*map(doubling.asking.ask, (2, 3, 4)), return_exceptions=True)
        assert [str(each) for each in answers] == ["4", "3 is odd", "8"]
        assert await doubling.asking.ask(10) == 20
        assert doubling.turns == [[2, 3, 4], [10]]

    asyncio.run(body())


def test_who_goes_away_takes_nobody_along() -> None:
    """Before the question was put, and while it is being answered."""

    async def body() -> None:
        doubling = Doubling()
        early, late, faithful = (asyncio.ensure_future(doubling.asking.ask(each)) for each in (2, 4, 6))
        await asyncio.sleep(0)
        early.cancel()
        await doubling.asked.wait()
        late.cancel()
        doubling.go.set()
        assert await faithful == 12
        assert early.cancelled()
        assert late.cancelled()
        assert doubling.turns == [[4, 6]]

    asyncio.run(body())


def test_a_store_that_is_closed_says_so_to_all(tmp_path: Path) -> None:
    async def body() -> None:
        bench = SqliteBench(tmp_path)
        store = await bench.open()
        world = World(store, bench.open, bench.advance)
        await world.publish()
        await store.close()
        reads = (read_workflow(store, "wf"), read_workflow(store, "other"), store.version("wf", 1))
        answers = await asyncio.gather(*reads, world.start(), world.start(), return_exceptions=True)
        assert [type(each) for each in answers] == [Unavailable] * 5

    asyncio.run(body())
