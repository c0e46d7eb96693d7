"""The clock of the machine: somebody may set it, and nobody waits longer, or shorter, for that."""

import asyncio
import logging
import time

import pytest

from stretto.node.clock import ClockLog, SystemClock

HOUR = 3_600_000


class Machine:
    """Its clocks, and who sleeps on it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = 1_700_000_000_000
        self.seconds = 50.0
        self.slept = 0.0
        self.jump = 0  # that comes while somebody sleeps
        monkeypatch.setattr(time, "time_ns", lambda: self.wall * 1_000_000)
        monkeypatch.setattr(SystemClock, "steady", staticmethod(lambda: self.seconds))
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        assert self.slept < 60, "nobody wakes it"
        self.slept += seconds
        self.seconds += seconds
        self.wall += round(seconds * 1_000) + self.jump
        self.jump = 0


@pytest.mark.parametrize("millis", [-HOUR, HOUR])
def test_it_follows_the_machine(monkeypatch: pytest.MonkeyPatch, millis: int) -> None:
    machine, clock = Machine(monkeypatch), SystemClock()
    before = clock.now()
    machine.wall += millis
    assert clock.now() == before + millis


@pytest.mark.parametrize("millis", [-HOUR, 0, HOUR])
def test_a_sleep_is_as_long_as_it_was_when_it_began(monkeypatch: pytest.MonkeyPatch, millis: int) -> None:
    machine, clock = Machine(monkeypatch), SystemClock()
    machine.jump = millis
    sleeping = clock.sleep_until(clock.now() + 10_000)
    with pytest.raises(StopIteration):
        sleeping.send(None)
    assert machine.slept == pytest.approx(10)


@pytest.mark.parametrize(
    ("millis", "said"), [(999, None), (60_000, "set forward by 60.0 s"), (-HOUR, "set back by 3600.0 s")]
)
def test_a_jump_is_told_in_the_log(caplog: pytest.LogCaptureFixture, millis: int, said: str | None) -> None:
    with caplog.at_level(logging.WARNING):
        ClockLog().clock_set(millis)
    assert [said in message for message in caplog.messages if said] == ([True] if said else [])
    assert bool(caplog.messages) is (said is not None)
