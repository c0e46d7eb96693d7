"""Results of functions that are kept for a while."""

from typing import Protocol


class Cache(Protocol):
    """Texts by key, each until a time. What is past its time is not found, and is removed some day."""

    async def cached(self, key: str, now: int) -> str | None:
        """What is kept under a key at this time."""
        ...

    async def keep(self, key: str, value: str, until: int) -> None:
        """Keep a text until a time, in milliseconds since 1970; it takes the place of what was there."""
        ...
