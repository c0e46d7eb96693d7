"""A wire between a store and its server that can be cut when a word goes over it."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """async with Proxy(url) as proxy: ... proxy.url ...

    word       When the store says it, the wire is cut once: once the server has answered, or, if `swallow`,
               before it has heard of it.
    instead    What the server says, and what arrives; filled up to the same length.
    """

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._cut: asyncio.StreamWriter | None = None  # to whom nothing comes through any more
        self._answered = asyncio.Event()
        self.word: bytes | None = None
        self.swallow = False
        self.cuts = 0
        self.instead = (b"", b"")

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        user = self._parts.netloc.rpartition("@")[0]
        return urlunsplit(self._parts._replace(netloc=f"{user}@127.0.0.1:{port}"))

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(each.wait_closed() for each in self._writers), return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        self._writers |= {writer, there[1]}
        back = asyncio.create_task(self._pass(there[0], writer))
        await self._listen(reader, there[1], writer)
        back.cancel()
        writer.close()
        there[1].close()

    async def _listen(
        self, reader: asyncio.StreamReader, there: asyncio.StreamWriter, here: asyncio.StreamWriter
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if self.word is not None and self.word in data:
                    self.word = None
                    self.cuts += 1
                    if not self.swallow:
                        self._cut = here
                        there.write(data)
                        await self._answered.wait()
                    here.transport.abort()
                    return
                there.write(data)
                await there.drain()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said, heard = self.instead
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if writer is self._cut:
                    self._answered.set()
                    continue
                writer.write(data.replace(said, heard.ljust(len(said), b" ")) if said else data)
                await writer.drain()
            writer.close()
