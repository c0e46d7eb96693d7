"""Lines of several attempts in the order in which they were printed; of each only some are held."""

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from typing import Final, NamedTuple

from stretto.engine.records import AttemptKey
from stretto.ports.logs import LogLine
from stretto.runtimes.logs.reading import READ_AT_ONCE, Reading

MOST_HELD: Final = 16 * 1024 * 1024  # bytes of all attempts
LEAST_AT_ONCE: Final = 4 * 1024


class Item(NamedTuple):
    """A line, and whose it is."""

    attempt: AttemptKey
    line: LogLine


def at_once(attempts: int) -> int:
    """How much is read of each, if there are so many."""
    return max(LEAST_AT_ONCE, min(READ_AT_ONCE, MOST_HELD // max(1, attempts)))


def merged(readings: Mapping[AttemptKey, Reading], ended: Iterable[AttemptKey]) -> Iterator[Item]:
    """What is there now; of those that have ended also a last line that has not."""
    over = frozenset(ended)
    each = (_items(key, reading, is_over=key in over) for key, reading in readings.items())
    return merge(*each, key=lambda item: item.line.at)


def _items(attempt: AttemptKey, reading: Reading, *, is_over: bool) -> Iterator[Item]:
    while lines := reading.more():
        for line in lines:
            yield Item(attempt, line)
    if is_over:
        for line in reading.rest():
            yield Item(attempt, line)
