"""The proxy passes on what it is given, and does the harm that it is told to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from chaos.proxy import Proxy, Server, Way, server_at, through

pytestmark = pytest.mark.anyio

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Echo:
    """A server that says what it hears."""

    def __init__(self) -> None:
        self.heard = bytearray()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1_000):
                self.heard += data
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def proxied() -> AsyncIterator[tuple[Proxy, Echo]]:
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with Proxy(f"mariadb://ann:x@127.0.0.1:{port}/db?a=b") as proxy:
            yield proxy, echo
    finally:
        server.close()


async def dial(proxy: Proxy) -> Streams:
    at = server_at(proxy.url)
    return await asyncio.open_connection(at.host, at.port)


async def asked(streams: Streams, data: bytes) -> bytes:
    streams[1].write(data)
    return await streams[0].readexactly(len(data))


async def ended(streams: Streams) -> bytes:
    """All that still comes."""
    try:
        return await streams[0].read()
    except ConnectionError:
        return b"reset"
    finally:
        streams[1].close()


async def fits(proxy: Proxy) -> bool:
    """Whether a new connection is as good as any."""
    streams = await dial(proxy)
    found = await asked(streams, b"c")
    streams[1].close()
    return found == b"c"


async def test_addresses() -> None:
    with_socket = "postgresql://postgres@/chaos?host=/run/x"
    assert server_at(with_socket) == Server("/run/x/.s.PGSQL.5432")
    assert through(with_socket, 7) == "postgresql://postgres@127.0.0.1:7/chaos"
    with_port = "mariadb://ann:s%2Fx@127.0.0.1:3306/chaos?synchronous=relaxed"
    assert server_at(with_port) == Server(None, "127.0.0.1", 3306)
    assert through(with_port, 7) == "mariadb://ann:s%2Fx@127.0.0.1:7/chaos?synchronous=relaxed"


async def test_many_connections_at_once_lose_nothing() -> None:
    async with proxied() as (proxy, _):

        async def crowd(number: int) -> bool:
            streams = await dial(proxy)
            data = bytes([number]) * 300_000
            sending = asyncio.create_task(asked(streams, data))
            same = await sending == data
            streams[1].close()
            return same

        assert all(await asyncio.gather(*(crowd(number) for number in range(40))))


async def test_a_cut_resets_all_connections_and_others_may_come() -> None:
    async with proxied() as (proxy, _):
        first, second = await dial(proxy), await dial(proxy)
        assert await asked(first, b"a") + await asked(second, b"b") == b"ab"
        proxy.cut()
        assert [await ended(first), await ended(second)] == [b"reset", b"reset"]
        assert await fits(proxy)
        assert proxy.counts["cut"] == 2


async def test_who_is_refused() -> None:
    async with proxied() as (proxy, echo):
        proxy.refuses = True
        streams = await dial(proxy)
        streams[1].write(b"a")
        assert await ended(streams) in {b"reset", b""}
        assert not echo.heard


async def test_what_is_held_arrives_later() -> None:
    async with proxied() as (proxy, echo):
        streams = await dial(proxy)
        assert await asked(streams, b"a") == b"a"
        proxy.hold()
        later = asyncio.create_task(asked(streams, b"b"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert echo.heard == b"a"
        proxy.delay = 0.01
        proxy.pass_on()
        assert await later == b"b"
        assert await asked(streams, b"c") == b"c"
        streams[1].close()


@pytest.mark.parametrize("way", Way)
async def test_half_a_message(way: Way) -> None:
    async with proxied() as (proxy, echo):
        streams = await dial(proxy)
        assert await asked(streams, b"a") == b"a"
        proxy.truncate(way)
        streams[1].write(b"12345678")
        assert await ended(streams) == (b"1234" if way is Way.TO_NODE else b"")
        assert bytes(echo.heard) == (b"a12345678" if way is Way.TO_NODE else b"a1234")
        assert await fits(proxy)


async def test_without_a_server(tmp_path: Path) -> None:
    async with Proxy(f"postgresql://postgres@/chaos?host={tmp_path}") as proxy:
        assert await ended(await dial(proxy)) in {b"reset", b""}
