"""One database: its tables, its lock and its clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from threading import RLock
from typing import TypeVar

import msgspec

from stretto.ports.clock import Clock
from stretto.ports.rows import AttemptRow, RunRow
from stretto.store.memory.schema import Schema

R = TypeVar("R", RunRow, AttemptRow)


class Database(Schema):
    """What all handles share."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._lock = RLock()
        self._numbers: dict[str, int] = {}

    @contextmanager
    def transaction(self) -> Iterator[int]:
        """Everything inside happens at once, or not at all. It gets the database's time."""
        with self._lock:
            try:
                yield self._clock.now()
            except BaseException:
                for table, key, before in reversed(self._journal):
                    table.restore(key, before)
                raise
            finally:
                self._journal.clear()

    def number(self, sequence: str, first: int = 1) -> int:
        """The next number of a sequence. None is given twice, also after a failed transaction."""
        number = self._numbers.get(sequence, first)
        self._numbers[sequence] = number + 1
        return number


class Part:
    """One concern of the store."""

    def __init__(self, database: Database) -> None:
        self._db = database


def own(row: R) -> R:
    """A row that shares no record with the given one. What is inside a record is never changed: it is
    replaced, so it may be shared.
    """
    return msgspec.structs.replace(row, record=copy(row.record))
