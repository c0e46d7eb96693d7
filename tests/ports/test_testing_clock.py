"""The virtual clock: time passes when it is told to, and sleepers wake in order."""

import asyncio

from stretto.ports.clock import Clock
from stretto.testing.clock import EPOCH, VirtualClock


def test_time_stands_still_by_itself() -> None:
    clock: Clock = VirtualClock()
    assert clock.now() == clock.now() == EPOCH
    assert clock.steady() == 0.0


def test_sleepers_wake_in_the_order_of_their_time() -> None:
    async def run() -> list[tuple[str, int]]:
        clock = VirtualClock(now=0)
        woken: list[tuple[str, int]] = []

        async def sleep(name: str, due: int, then: int | None = None) -> None:
            await clock.sleep_until(due)
            woken.append((name, clock.now()))
            if then is not None:
                await sleep(f"{name} again", then)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(sleep("late", 300))
            tasks.create_task(sleep("soon", 100, then=200))
            tasks.create_task(sleep("also soon", 100))
            tasks.create_task(sleep("past", -5))
            await asyncio.sleep(0)
            await clock.advance(250)
            assert (clock.now(), clock.steady()) == (250, 0.25)
            await clock.advance(50)
        return woken

    assert asyncio.run(run()) == [
        ("past", 0),
        ("soon", 100),
        ("also soon", 100),
        ("soon again", 200),
        ("late", 300),
    ]


def test_a_sleeper_may_be_cancelled() -> None:
    async def run() -> int | None:
        clock = VirtualClock(now=0)
        sleeper = asyncio.create_task(clock.sleep_until(100))
        await asyncio.sleep(0)
        sleeper.cancel()
        await asyncio.gather(sleeper, return_exceptions=True)
        await clock.advance(1_000)
        return clock.next_due

    assert asyncio.run(run()) is None


def test_the_next_sleeper_is_known() -> None:
    async def run() -> list[int | None]:
        clock = VirtualClock(now=0)
        sleepers = [asyncio.create_task(clock.sleep_until(due)) for due in (200, 100)]
        await asyncio.sleep(0)
        seen = [clock.next_due]
        await clock.advance(100)
        seen.append(clock.next_due)
        await clock.advance(100)
        await asyncio.gather(*sleepers)
        return [*seen, clock.next_due]

    assert asyncio.run(run()) == [100, 200, None]
