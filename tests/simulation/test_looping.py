"""The event loop of a simulated process."""

import asyncio
from random import Random
from typing import Any

from simulation.looping import ScheduledLoop

from stretto.testing.scheduler import Scheduler


class Place:
    """A loop, its scheduler, and what happened when."""

    def __init__(self, soon: int = 0) -> None:
        self.scheduler = Scheduler(Random(0))  # noqa: S311 - dice, not secrets
        self.still_until = 0
        self.loop = ScheduledLoop(  # type: ignore[abstract]  # as in the product
            self.scheduler, lambda: soon, lambda: max(0, self.still_until - self.scheduler.now)
        )
        self.seen: list[tuple[str, int]] = []

    def note(self, what: str) -> None:
        self.seen.append((what, self.scheduler.now))

    async def sleeper(self, what: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        self.note(what)
        return what

    def run(self) -> None:
        while self.scheduler.step():
            pass


def test_what_can_run_runs_in_the_order_of_its_coming() -> None:
    place = Place(soon=5)
    for name in "abc":
        place.loop.call_soon(place.note, name)
    place.run()
    assert place.seen == [("a", 5), ("b", 5), ("c", 5)]


def test_sleepers_wake_in_the_time_of_the_scheduler() -> None:
    place = Place()
    tasks = [place.loop.create_task(place.sleeper(f"{each}", each)) for each in (0.3, 0.1, 2)]
    place.run()
    assert [what for what, _ in place.seen] == ["0.1", "0.3", "2"]
    assert [at // 10 for _, at in place.seen] == [10, 30, 200]
    assert [task.result() for task in tasks] == ["0.3", "0.1", "2"]


def test_a_timeout_comes_and_an_event_is_heard() -> None:
    place = Place()
    heard = asyncio.Event()

    async def wait() -> None:
        try:
            async with asyncio.timeout(1):
                await heard.wait()
        except TimeoutError:
            place.note("nothing")
        await heard.wait()
        place.note("heard")

    place.loop.create_task(wait())
    place.scheduler.after(5_000, heard.set)
    place.run()
    assert [(what, at // 10) for what, at in place.seen] == [("nothing", 100), ("heard", 500)]


def test_nothing_runs_where_the_process_stands_still() -> None:
    place = Place()
    place.still_until = 700
    place.loop.create_task(place.sleeper("late", 0))
    place.run()
    assert place.seen == [("late", 700)]


def test_who_is_cancelled_ends_at_once() -> None:
    place = Place()
    task = place.loop.create_task(place.sleeper("never", 10))
    timer = place.loop.call_later(3, place.note, "never")

    def cancel() -> None:
        task.cancel()
        timer.cancel()

    place.scheduler.after(100, cancel)
    place.run()
    assert task.cancelled()
    assert place.seen == []


def test_who_never_waits_does_not_stop_the_time() -> None:
    place = Place()
    start = place.loop.time()

    async def spin() -> None:
        while place.scheduler.now < 3:  # noqa: ASYNC110 - that is the point
            await asyncio.sleep(0)

    place.loop.create_task(spin())
    place.run()
    assert place.scheduler.now == 3
    assert place.loop.time() > start


def test_what_is_raised_in_a_callback_is_kept() -> None:
    place = Place()

    def fail() -> Any:
        raise ValueError("no")

    place.loop.call_soon(fail)
    place.run()
    place.loop.call_exception_handler({"message": "odd"})
    assert [str(error) for error in place.loop.errors] == ["no", "odd"]
    assert not place.loop.get_debug()
