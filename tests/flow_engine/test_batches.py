"""Requests that come together."""

import asyncio
from typing import Any

import pytest
from tests.flow_engine.flows import Counts, etl, finish
from tests.waiting import until

from stretto.actions import start as start_batcher
from stretto.flow.engine import Engine, library
from stretto.model.errors import Unavailable
from stretto.model.response import StartResponse


def test_many_at_once_are_few_transactions(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    start_batch = start_batcher.start_batch

    async def counted(*args: Any, **options: Any) -> list[Any]:
        sizes.append(len(args[2]))
        return await start_batch(*args, **options)

    monkeypatch.setattr(start_batcher, "MOST", 4)
    monkeypatch.setattr(start_batcher, "start_batch", counted)

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.publish(etl)
            days = [f"day {number}" for number in range(10)]
            runs = await asyncio.gather(*(engine.submit(etl, day=day, request_id=day) for day in days))
            again = await asyncio.gather(*(engine.submit(etl, day=day, request_id=day) for day in days))
            assert again == runs
            assert [await run.result(30) for run in runs] == [Counts(3, 6)] * 10

    finish(work())
    assert sum(sizes) == 20
    assert max(sizes) == 4
    assert len(sizes) < 20


class Counted:
    """Notes what comes to those who wait together."""

    def __init__(self, starts: Any) -> None:
        self._starts = starts
        self.requests = 0
        self.is_finishing = False

    async def start(self, *args: Any, **options: Any) -> Any:
        self.requests += 1
        return await self._starts.start(*args, **options)

    async def finish(self) -> None:
        self.is_finishing = True
        await self._starts.finish()


def test_whoever_asked_may_have_gone_and_trouble_is_told_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go = asyncio.Event(), asyncio.Event()

    async def failing(*_args: Any, **_options: Any) -> list[StartResponse]:
        asked.set()
        await go.wait()
        raise Unavailable("no database")

    async def work() -> None:
        async with Engine("memory") as engine:
            await engine.publish(etl)
            monkeypatch.setattr(start_batcher, "start_batch", failing)
            assert engine._host is not None
            together = Counted(engine._host.starts)
            monkeypatch.setattr(engine._host, "starts", together)
            tasks = [asyncio.create_task(engine.submit(etl, day="monday")) for _ in range(3)]
            await asked.wait()
            await until(lambda: together.requests == 3)
            tasks[0].cancel()
            stopping = asyncio.create_task(engine.stop())
            await until(lambda: together.is_finishing)
            assert not stopping.done()
            go.set()
            for each in tasks[1:]:
                with pytest.raises(Unavailable, match="no database"):
                    await each
            await stopping

    finish(work())


def test_a_new_flow_that_many_submit_at_once_is_published_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[str] = []
    publish_if_new = library.publish_if_new  # type: ignore[attr-defined]

    async def counted(*args: Any, **options: Any) -> int:
        published.append(args[2].workflow.id)
        return await publish_if_new(*args, **options)

    monkeypatch.setattr(library, "publish_if_new", counted)

    async def work() -> None:
        async with Engine(url) as engine:
            runs = await asyncio.gather(*(engine.submit(etl, day="monday") for _ in range(10)))
            assert [await run.result(30) for run in runs] == [Counts(3, 6)] * 10

    finish(work())
    assert published == ["etl"]
