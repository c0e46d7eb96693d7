"""Ways out that all databases have in common."""

from typing import Final

BY_ITSELF: Final = "everything goes on by itself"
RUNS: Final = "look whether the server runs, and whether host and port are right"


def at_opening(hint: str | None) -> str | None:
    """The same way out for somebody who only opens the database: they give up, and nothing goes on."""
    return None if hint is None else hint.partition(f"; {BY_ITSELF}")[0]
