"""The asynchronous client as an ordinary one, so that a test can be written once for both."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from stretto.client import AsyncClient

Any_ = Any  # `Client`, or something with the same calls that waits for them


class Driven:
    """An event loop of its own, in which each call is carried out to its end."""

    def __init__(self, make: Callable[[], AsyncClient]) -> None:
        self._make = make
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        self._runner.__enter__()
        self._client = self._runner.run(self._made())
        return self

    async def _made(self) -> AsyncClient:
        return await self._make().__aenter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._client.__aexit__(None, None, None))
        self._runner.close()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def done(*args: Any, **kwargs: Any) -> Any:
            made = call(*args, **kwargs)
            if inspect.isasyncgen(made):
                return self._told(made)
            return self._runner.run(made)

        return done

    def _told(self, telling: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._runner.run(anext(telling))
                except StopAsyncIteration:
                    return
        finally:
            self._runner.run(telling.aclose())
