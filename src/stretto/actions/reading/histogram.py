"""How many runs there were over a time, in buckets of the same width."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from stretto.model.status import RunStatus
from stretto.model.status_codes import RUN_CODES


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """Each bucket counts by the letters of statuses; it begins `width` milliseconds after the one before."""

    since: int
    until: int
    width: int
    buckets: tuple[Mapping[str, int], ...]
    complete_since: int | None = None  # not all of what was before was looked at


def width_of(span: int, buckets: int, step: int = 1) -> int:
    """How wide buckets are that cover a span together: a multiple of `step`."""
    return max(1, -(-span // (buckets * step))) * step


def histogram(
    since: int,
    width: int,
    buckets: int,
    counted: Iterable[tuple[int, Mapping[RunStatus, int]]],
    complete_since: int | None = None,
) -> Histogram:
    """From counts that each have a time in one of the buckets."""
    found: list[Counter[str]] = [Counter() for _ in range(buckets)]
    for time, statuses in counted:
        for status, count in statuses.items():
            found[(time - since) // width][RUN_CODES[status]] += count
    return Histogram(
        since=since,
        until=since + width * buckets,
        width=width,
        buckets=tuple(dict(each) for each in found),
        complete_since=complete_since,
    )
