"""What every request passes: who is let in, ids, headers, sizes, health."""

import asyncio
import gzip
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import httpx
import pytest
from tests.api.serving import JSON, Served, served
from tests.waiting import until

from stretto.api.door import Door, is_loopback, why_not
from stretto.api.feed import Feed
from stretto.api.server import Server, bind
from stretto.api.settings import ServerSettings
from stretto.api.slashes import slashed
from stretto.node.clock import SystemClock
from stretto.store.opening import open_store


@pytest.fixture(scope="module")
def strict() -> Iterator[Served]:
    """A server with little patience and small limits."""
    settings = ServerSettings(
        body=20_000,
        headers_within=300,
        body_within=300,
        read_within=300,
        idle_within=1_000,
        stop_within=1_000,
    )
    with served(settings=settings) as made:
        yield made


# ---------------------------------------------------------------------------------------------- health
@pytest.mark.parametrize("path", ["/health", "/actuator/health", "/ready", "/actuator/health/readiness"])
def test_a_server_that_is_well_says_so(server: Served, path: str) -> None:
    response = server.client.get(path)
    assert (response.status_code, response.json()["status"]) == (200, "UP")


def test_every_answer_has_a_date_an_id_and_no_guesses(server: Served) -> None:
    headers = server.client.get("/health").headers
    assert headers["date"].endswith("GMT")
    assert len(headers["x-request-id"]) == 32
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["server"] == "stretto"


def test_a_client_may_bring_its_own_request_id(server: Served) -> None:
    own = server.client.get("/health", headers={"x-request-id": "build-7/3"})
    assert own.headers["x-request-id"] == "build-7/3"
    strange = server.client.get("/health", headers={"x-request-id": "a b"})
    assert strange.headers["x-request-id"] != "a b"
    lost = server.client.get("/nowhere", headers={"x-request-id": "r1"}).json()
    assert lost["request_id"] == "r1"


# ---------------------------------------------------------------------------------------- who is let in
LOCAL = [(b"host", b"localhost:8080")]


@pytest.mark.parametrize("host", [b"localhost", b"127.0.0.1:8080", b"[::1]:8080", b"[::1]", b"LocalHost:1"])
def test_names_of_this_machine_are_let_in(host: bytes) -> None:
    assert why_not("GET", [(b"host", host)]) is None


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"evil.example",
        b"127.0.0.1.evil.example",
        b"10.0.0.1",
        b"[::2]:80",
        b"[::1].evil.com",
        b"[::1]evil:80",
        b"localhost:80.evil.com",
        b"localhost@evil.com",
        b"[localhost]",
        b"localhost:80:90",
        b"::1",
        b"[[::1]]",
        b"evil.com/[::1]",
        b"localhost evil.com",
    ],
)
def test_other_names_are_not(host: bytes) -> None:
    assert "is not this server's" in str(why_not("GET", [(b"host", host)]))


def test_a_page_of_the_server_itself_is_let_in() -> None:
    own = [*LOCAL, (b"origin", b"http://localhost:8080"), (b"sec-fetch-site", b"same-origin")]
    assert why_not("POST", own) is None


@pytest.mark.parametrize(
    "origin", [b"https://evil.example", b"null", b"http://localhost:9999", b"http://[::1"]
)
def test_pages_from_elsewhere_are_not(origin: bytes) -> None:
    assert "web pages" in str(why_not("GET", [*LOCAL, (b"origin", origin)]))


def test_a_link_from_elsewhere_may_read_and_not_write() -> None:
    linked = [*LOCAL, (b"sec-fetch-site", b"cross-site")]
    assert why_not("GET", linked) is None
    assert "can not change" in str(why_not("PUT", linked))


def test_who_is_not_let_in_hears_why(server: Served) -> None:
    response = server.client.get("/health", headers={"host": "evil.example"})
    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert (found["status"], found["title"], found["instance"]) == (403, "Forbidden", "/health")


def test_loopback_is_this_machine() -> None:
    assert is_loopback("127.3.2.1")
    assert is_loopback("[::1]")
    assert not is_loopback("0.0.0.0")  # noqa: S104 - that is the point
    assert not is_loopback("somewhere")


# ---------------------------------------------------------------------------------------------- bodies
def test_a_body_that_is_too_large_is_refused(strict: Served) -> None:
    response = strict.client.post("/api/v3/signals", content=b" " * 30_000, headers=JSON)
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["connection"] == "close"
    assert "server.body" in response.json()["detail"]


def test_a_large_answer_is_compressed_for_who_wants_it(server: Served) -> None:
    server.push("large", *({"step": {"id": f"s{n}", "type": "NoOp", "transition": {}}} for n in range(100)))
    path = "/api/v3/workflows/large/versions/latest"
    with server.client.stream("GET", path, headers={"accept-encoding": "gzip"}) as response:
        raw = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == "gzip"
    plain = server.client.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(raw) == plain.content
    assert len(raw) * 4 < len(plain.content)


# ----------------------------------------------------------------------------------------- slow clients
def connected(server: Served) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def test_headers_have_an_end(server: Served) -> None:
    """Also one that never ends: the server must not gather what has no limit."""
    with connected(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 70_000)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 431 ")
    much = server.client.get("/health", headers={"x": "a" * 50_000})
    assert much.status_code == 200


def read_all(link: socket.socket) -> bytes:
    found = b""
    try:
        while part := link.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"])
def test_who_sends_no_headers_is_cut_off(strict: Served, sent: bytes) -> None:
    with connected(strict) as link:
        link.sendall(sent)
        assert read_all(link) == b""


def test_also_after_a_first_request(strict: Served) -> None:
    with connected(strict) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea")
        assert read_all(link).count(b"HTTP/1.1 200") == 1


def test_who_sends_no_body_is_told_so(strict: Served) -> None:
    with connected(strict) as link:
        head = b"POST /api/v3/signals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        link.sendall(head + b"Content-Length: 100\r\n\r\n{")
        answer = read_all(link)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"REQUEST_TIMEOUT" in answer


def test_a_connection_without_requests_is_closed(
    strict: Served, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    with connected(strict) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with at_most(15):
            assert b"200 OK" in read_all(link)


def test_rubbish_is_refused(server: Served) -> None:
    with connected(server) as link:
        link.sendall(b"\x00\x01\x02 rubbish\r\n\r\n")
        assert read_all(link).startswith(b"HTTP/1.1 400")


# ------------------------------------------------------------------------------------------ slow readers
async def left_behind(size: int, settings: ServerSettings) -> None:
    """Until the server has closed the connection of a client that asks for so much, and reads none of it."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-length", str(size).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for begin in range(0, size, 1 << 20):
            body = b"x" * min(1 << 20, size - begin)
            await send({"type": "http.response.body", "body": body, "more_body": begin + len(body) < size})

    server = Server(app, settings)
    sockets = bind("127.0.0.1", 0)
    await server.start(sockets)
    connections = server._server.server_state.connections
    with socket.socket() as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        link.setblocking(False)
        await asyncio.get_running_loop().sock_connect(link, sockets[0].getsockname())
        link.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: len(connections) == 1, "the connection")
        await until(lambda: not connections, "the end of the connection")
    await server.stop()


def test_who_reads_nothing_is_cut_off(at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    """What does not fit into the buffers of both sides stays in the server's memory."""
    settings = ServerSettings(read_within=300, idle_within=60_000, stop_within=1_000)
    with at_most(15):
        asyncio.run(left_behind(64 << 20, settings))


def test_who_reads_late_gets_everything() -> None:
    async def main() -> int:
        async def app(_scope: Any, _receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(64):
                await send({"type": "http.response.body", "body": b"x" * (1 << 20), "more_body": True})
            await send({"type": "http.response.body", "body": b""})

        server = Server(app, ServerSettings(stop_within=1_000))
        sockets = bind("127.0.0.1", 0)
        await server.start(sockets)
        reader, writer = await asyncio.open_connection(*sockets[0].getsockname(), limit=4_096)
        writer.write(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        connections: Any = server._server.server_state.connections
        await until(lambda: any(each.flow.write_paused for each in connections), "full buffers")
        size = 0
        while part := await reader.read(1 << 20):
            size += len(part)
        writer.close()
        await server.stop()
        return size

    assert asyncio.run(main()) > 64 << 20


def test_also_if_little_is_left(at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    """The answer is complete for the application, and a part of it is still here when the time is up."""
    settings = ServerSettings(read_within=60_000, idle_within=1_000, stop_within=1_000)
    with at_most(15):
        asyncio.run(left_behind(3_000_000, settings))


def test_the_end_of_a_connection_is_waited_for_without_a_timer() -> None:
    seen: list[str] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        seen.extend([(await receive())["type"] for _ in range(2)])

    async def main() -> None:
        clock = SystemClock()
        door = Door(app, ServerSettings(), clock, Feed(await open_store("memory://"), clock))
        messages = iter([{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(messages)

        async def send(_message: Any) -> None:
            """Nothing is sent."""

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        await door(scope, receive, send)

    asyncio.run(main())
    assert seen == ["http.request", "http.disconnect"]


# ------------------------------------------------------------------------------------------------ paths
def test_a_slash_inside_a_name_stays_one(server: Served) -> None:
    server.post("/signals", {"name": "db/table"})
    assert server.get("/signals/db%2Ftable/instances/latest")["name"] == "db/table"
    assert slashed("plain") == "plain"
    assert server.get("/workflows/a%2Fb/overview", 404)["message"] == "Cannot find workflow [a/b]"
    assert server.get("/tag-permits/a%2Fb/nothing", 404)["instance"] == "/api/v3/tag-permits/a/b/nothing"


def test_methods_that_a_route_does_not_have(server: Served) -> None:
    response = server.client.patch("/api/v3/signals")
    assert response.status_code == 405
    assert "POST" in response.headers["allow"]
    assert response.json()["title"] == "Method Not Allowed"


def test_websockets_are_not_spoken(server: Served) -> None:
    upgrade = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    response = server.client.get("/health", headers={**upgrade, "sec-websocket-key": "x" * 22 + "=="})
    assert response.status_code == 200
    with httpx.Client() as other:
        assert other.get(f"{server.url}/health").status_code == 200
