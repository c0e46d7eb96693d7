"""Lines of one or several attempts, numbered, in the order of time; a few are held at once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from stretto.actions.reading.log_target import Look
from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import LogLine, LogReader, LogReading, RunLogReading

READ_AT_ONCE: Final = 256 * 1024  # bytes of an attempt
MOST_HELD: Final = 16 * 1024 * 1024  # bytes of all attempts
LEAST_AT_ONCE: Final = 4 * 1024
SLICE: Final = 1_000  # lines that a thread hands over together
THREADS: Final = 2  # that read at once, for whomever


class Item(NamedTuple):
    """A line, whose it is, and the how manieth of that attempt, from 1."""

    attempt: AttemptKey
    number: int
    line: LogLine


class Numbered:
    """A reading that counts its lines."""

    __slots__ = ("_attempt", "_count", "_reading")

    def __init__(self, attempt: AttemptKey, reading: LogReading) -> None:
        self._attempt = attempt
        self._reading = reading
        self._count = 0

    def items(self, *, is_over: bool) -> Iterator[Item]:
        """What is there now; if nothing more comes, also a last line without an end."""
        while lines := self._reading.more():
            yield from map(self._item, lines)
        if is_over:
            yield from map(self._item, self._reading.rest())

    def _item(self, line: LogLine) -> Item:
        self._count += 1
        return Item(self._attempt, self._count, line)


def at_once(attempts: int) -> int:
    """How much is read of each, if there are so many."""
    return max(LEAST_AT_ONCE, min(READ_AT_ONCE, MOST_HELD // max(1, attempts)))


class LogLines:
    """The output of a run, or of a step: each round has the lines that came since the last one."""

    def __init__(self, logs: LogReader, run: RunKey) -> None:
        self._reading: RunLogReading = logs.run_reading(run)
        self._readings: dict[AttemptKey, Numbered] = {}
        self.known: set[AttemptKey] = set()

    async def round(self, look: Look, threads: asyncio.Semaphore | None = None) -> AsyncIterator[list[Item]]:
        """The lines that there are now, in slices, merged by time. The disk is read in a thread, for a slice
        at a time, so that the event loop goes on; `threads` says how many do that at once.
        """
        slots = threads or asyncio.Semaphore()
        items = self._items(look)
        while True:
            async with slots:
                part = await asyncio.to_thread(lambda: list(islice(items, SLICE)))
            if not part:
                break
            yield part

    def _items(self, look: Look) -> Iterator[Item]:
        self._reading.look()
        for key in look.attempts:
            if key not in self.known:
                self.known.add(key)
                reading = self._reading.reading(key, at_once(len(look.attempts)))
                self._readings[key] = Numbered(key, reading)
        ended = look.ended | (self._readings.keys() - look.attempts)  # another has taken their place
        each = [reading.items(is_over=key in ended) for key, reading in self._readings.items()]
        yield from merge(*each, key=lambda item: item.line.at)
        for key in ended:
            self._readings.pop(key, None)
