"""Results of functions, and answers to requests, that are kept for a while."""

from typing import Protocol


class Cache(Protocol):
    """Texts by key, each until a time. What is past its time is not found, and is removed some day."""

    async def cached(self, key: str, now: int) -> str | None:
        """What is kept under a key at this time."""
        ...

    async def keep(self, key: str, value: str, until: int) -> None:
        """Keep a text until a time, in milliseconds since 1970; it takes the place of what was there."""
        ...

    async def keep_first(self, key: str, value: str, now: int, lasting: int) -> str | None:
        """Keep a text for so many milliseconds, unless there is one that is not past its time: then that one
        is returned. Of several who claim a key at the same time one gets it, for whom this is None. An empty
        text: somebody is just letting go of it, so it can be tried again.
        """
        ...

    async def forget(self, key: str, value: str) -> None:
        """Forget what is kept under a key, if it is still this."""
        ...
