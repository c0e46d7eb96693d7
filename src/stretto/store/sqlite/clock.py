"""The database's clock: SQLite has none of its own, so it is the host's."""

from time import time_ns


def host_clock() -> int:
    """Milliseconds since 1970."""
    return time_ns() // 1_000_000
