"""Rows -> records. Many of them, or large ones, take too long for a thread that others wait for."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from stretto.store.sql.database import Transaction
from stretto.store.sql.statement import Row

T = TypeVar("T")

SOME: Final = 50_000  # characters that are decoded in a few milliseconds, whatever they hold
ROW: Final = 400  # characters that a row counts for in addition to its texts


async def decoded(tx: Transaction, rows: Iterable[Row], make: Callable[[Row], T]) -> list[T]:
    """What is made of each row, in their order."""
    found = list(rows)
    size = sum(ROW + sum(len(value) for value in row if value.__class__ is str) for row in found)

    def made() -> list[T]:
        return [make(row) for row in found]

    return made() if size <= SOME else await tx.aside(made)
