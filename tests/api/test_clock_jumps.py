"""Somebody sets the machine's clock: no view, no sign of life and no read waits for it to come back."""

import asyncio
from typing import Any

import pytest
from tests.api.following import follow, messages
from tests.api.serving import Served, noop, shell

from stretto.actions.reading.topics import topics_in
from stretto.api.feed import FRESH_FOR, Feed
from stretto.api.live.channel import TELL_EVERY, LiveFollower, ViewChannel
from stretto.api.routes import events, logs
from stretto.ports.clock import steady_millis

HOUR = 3_600_000


class SetClock:
    """Somebody sets it, and its steady time passes as the test says."""

    def __init__(self) -> None:
        self.ahead = 0
        self.passed = 100.0

    def now(self) -> int:
        return self.ahead

    def steady(self) -> float:
        return self.passed

    async def sleep_until(self, due: int) -> None:
        raise AssertionError(f"nobody sleeps until {due}")


@pytest.fixture
def ahead(server: Served, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how much the clock of the server is ahead, in its only item: an hour."""
    shared, millis = server.desk.clock, [HOUR]
    real = shared.now
    monkeypatch.setattr(shared, "now", lambda: real() + millis[0])
    return millis


@pytest.mark.parametrize("millis", [-HOUR, HOUR])
def test_a_screen_is_told_soon_whatever_the_clock_says(millis: int) -> None:
    clock, screens = SetClock(), ViewChannel(topics_in(["runs"]), None)
    screens.followers[LiveFollower()] = None
    screens.begin(screens.gathered, steady_millis(clock), told=True)
    screens.gathered[0].lose("something")
    asyncio.run(screens.tell(None, {}, clock))  # type: ignore[arg-type]  # nothing is read
    clock.ahead += millis
    screens.gathered[0].lose("more")
    assert screens.due_in(steady_millis(clock)) == TELL_EVERY + 1


def test_a_view_goes_on_after_the_clock_was_set_back(server: Served, ahead: list[int]) -> None:
    server.push("seen", noop("a"))
    with follow(server, "workflow:seen", level="view") as response:
        stream = messages(response)
        next(stream)
        server.start("seen")
        while next(stream).name != "run":
            pass
        ahead[0] = 0
        server.ended("seen", 1)
        server.start("seen")
        heard = (message for message in stream if message.name == "run")
        while next(heard).data["ref"] != "seen/2/1":
            pass


def test_signs_of_life_go_on_after_the_clock_was_set_back(
    server: Served, ahead: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    with follow(server, "home") as response:
        stream = messages(response)
        next(stream)
        for millis in (HOUR, 0):
            ahead[0] = millis
            while next(stream).name:
                pass


def test_those_of_a_log_do_too(server: Served, ahead: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "BEAT_EVERY", 50)
    server.push("said", shell("a", "sleep 60"))
    server.start("said")
    with server.client.stream("GET", "/api/v3/workflows/said/instances/1/runs/1/logs/events") as response:
        assert response.status_code == 200, response.read()
        parts = response.iter_text()
        assert next(parts)
        for millis in (HOUR, 0):
            ahead[0] = millis
            assert next(parts)
    server.put("/workflows/said/instances/1/actions/kill")


def test_the_end_of_the_log_is_read_again_after_the_clock_was_set_back() -> None:
    class Store:
        reads = 0

        async def newest_seqs(self) -> dict[int, int]:
            self.reads += 1
            return {1: self.reads}

    async def story() -> list[Any]:
        clock, store = SetClock(), Store()
        clock.ahead = HOUR
        feed = Feed(store, clock)  # type: ignore[arg-type]
        found = [await feed.end(), await feed.end()]
        clock.ahead = 0
        clock.passed += FRESH_FOR / 1_000
        return [*found, await feed.end()]

    assert asyncio.run(story()) == [{1: 1}, {1: 1}, {1: 2}]
