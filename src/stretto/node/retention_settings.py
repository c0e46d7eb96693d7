"""How long ended things are kept. Times are in milliseconds; None: for ever."""

from typing import Final

import msgspec

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is forgotten, and when. Nothing unfinished is ever forgotten."""

    runs: int | None = 90 * DAY  # instances with all their runs; request ids live as long as their run
    log: int | None = 7 * DAY  # the change log, from which events are read
    signals: int | None = 90 * DAY  # announcements, by age alone: a dependency matches what is kept
    nodes: int | None = 7 * DAY  # nodes that were buried
    outcomes: int | None = 365 * DAY  # hourly counters of how runs ended
    every: int = HOUR // 6  # between two looks
    rows_at_once: int = 500  # that one transaction deletes
