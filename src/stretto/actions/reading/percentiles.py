"""The usual and the unusual among some numbers."""

from collections.abc import Iterable

import msgspec


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How long something took, in milliseconds, and of how many that was learned."""

    p50: int | None = None
    p95: int | None = None
    p99: int | None = None
    sample: int


def spread(values: Iterable[int | None]) -> Spread:
    """Of those that are known."""
    known = [each for each in values if each is not None]
    return Spread(p50=rank(known, 50), p95=rank(known, 95), p99=rank(known, 99), sample=len(known))


def rank(values: Iterable[int], percent: int) -> int | None:
    """The smallest of the values that so many percent of them are not above; None if there are none."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else None
