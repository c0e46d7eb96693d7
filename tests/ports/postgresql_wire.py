"""A wire between a store and its server, which can be cut, or fall silent, when a word goes over it."""

import asyncio
from contextlib import suppress
from enum import Enum
from urllib.parse import urlencode

from tests.ports.postgresql_server import PostgresServer


class Fault(Enum):
    BEFORE = "cut, and the word does not arrive"
    AFTER = "cut, and the word has arrived"
    SILENCE = "nothing comes through any more, in either direction"


class Wire:
    """async with Wire(server) as wire: ... wire.url(...) ... wire.fail(b"COMMIT", Fault.AFTER)

    failed   The word has been said.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._socket = server.folder / ".s.PGSQL.5432"
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._word: bytes | None = None
        self._fault = Fault.BEFORE
        self.failed = asyncio.Event()

    async def __aenter__(self) -> "Wire":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        for end in self._ends:
            end.transport.abort()
        await asyncio.gather(*(each.wait_closed() for each in self._ends), return_exceptions=True)

    def url(self, **query: str) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}/postgres?{urlencode({'sslmode': 'disable', **query})}"

    def fail(self, word: bytes, fault: Fault) -> None:
        """Once, when the store says the word."""
        self._word, self._fault = word, fault

    async def _accept(self, reader: asyncio.StreamReader, here: asyncio.StreamWriter) -> None:
        back, there = await asyncio.open_unix_connection(str(self._socket))
        self._ends |= {here, there}
        answers = asyncio.create_task(self._pass(back, here))
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if self._word is not None and self._word in data:
                    self._word = None
                    self.failed.set()
                    answers.cancel()
                    if self._fault is Fault.SILENCE:
                        return
                    if self._fault is Fault.AFTER:
                        there.write(data)
                        await there.drain()
                        await back.read(1)  # it has answered
                    here.transport.abort()
                    break
                there.write(data)
                await there.drain()
        answers.cancel()
        there.close()

    @staticmethod
    async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
            writer.close()
