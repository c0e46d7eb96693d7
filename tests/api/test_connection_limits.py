"""What one client, or many, can make the server keep: raw connections, and counts of what is kept."""

import gzip
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.api.serving import PATIENCE, Served, served, sleep
from tests.waiting import wait_until as until

from stretto.api import protocol
from stretto.api.protocol import LimitedProtocol
from stretto.api.settings import KB, MB, ServerSettings

HEAD = b"POST /api/v3/signals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nuser: ann\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MUCH = 4 * MB  # that a client tries to send; far more than any limit of a connection
FRAME = 256 * KB  # the most that an event loop reads at once


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    """A server with small limits, and time for slow machines."""
    settings = ServerSettings(
        body=64 * KB,
        bodies=128 * KB,
        headers=16 * KB,
        header_fields=20,
        pipelined=4,
        connections=8,
        idle_within=1_000,
        stop_within=1_000,
    )
    with served(settings=settings) as made:
        yield made


def connected(server: Served) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def read_all(link: socket.socket) -> bytes:
    found = b""
    try:
        while part := link.recv(65_536):
            found += part
    except ConnectionError:
        pass
    return found


def pour(link: socket.socket, part: bytes, size: int = MUCH) -> int:
    """Send a part over and over; how much was taken before the server would take no more."""
    sent = 0
    try:
        while sent < size:
            link.sendall(part)
            sent += len(part)
    except OSError:
        pass
    return sent


def protocols(server: Served) -> list[Any]:
    return list(server.server._server.server_state.connections)


def kept(server: Served) -> int:
    """Bytes and records that the server holds for all its connections, as far as they are a client's."""

    async def count() -> int:
        return sum(
            sum(sys.getsizeof(name) + sys.getsizeof(value) for name, value in each.headers or ())
            + sum(sys.getsizeof(cycle.scope) + len(cycle.body) for cycle, _ in each.pipeline)
            + (len(each.cycle.body) if each.cycle else 0)
            + each.transport.get_write_buffer_size()
            for each in protocols(server)
        )

    return server.run(count())


def nobody_connected(server: Served) -> None:
    server.client.close()
    until(lambda: not protocols(server))
    server.client = type(server.client)(base_url=server.url, headers={"user": "ann"}, timeout=PATIENCE)


# ------------------------------------------------------------------------------------ headers and trailers
@pytest.mark.parametrize(
    "begun",
    [b"0\r\n", b"2\r\n{}\r\n0\r\n"],
    ids=["an empty body", "a body"],
)
@pytest.mark.parametrize(
    "part", [b"X-Trailer: %s\r\n" % (b"a" * 1_000), b"a:b\r\n" * 200], ids=["long", "many"]
)
def test_endless_trailers_are_refused(server: Served, begun: bytes, part: bytes) -> None:
    with connected(server) as link:
        link.sendall(CHUNKED + begun)
        pour(link, part)
        assert kept(server) < FRAME
        assert read_all(link).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "begun", [b"0\r\nX-Trailer: ", b"2;extension=", b"0;"], ids=["a trailer", "an extension", "the last one"]
)
def test_one_endless_line_after_the_headers_is_refused(server: Served, begun: bytes) -> None:
    with connected(server) as link:
        link.sendall(CHUNKED + begun)
        pour(link, b"a" * 1_000)
        assert read_all(link).startswith(b"HTTP/1.1 431 ")


def test_a_client_that_goes_on_after_a_refusal_is_cut_off(small: Served) -> None:
    with connected(small) as link:
        link.sendall(CHUNKED + b"0\r\nX-Trailer: ")
        assert pour(link, b"a" * 1_000) < MUCH


def test_a_client_that_goes_on_after_a_refusal_is_read_from_seldom(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other connections come first. Here it is never read from again, until it is cut off, but for what an
    event loop has read already, and once when the application has done with the request.
    """
    dropped: list[int] = []
    real = LimitedProtocol._ignore

    def ignore(connection: LimitedProtocol, size: int) -> None:
        dropped.append(size)
        real(connection, size)

    monkeypatch.setattr(LimitedProtocol, "_ignore", ignore)
    monkeypatch.setattr(protocol, "IGNORE_EVERY", 2 * PATIENCE)
    with connected(server) as link:
        link.sendall(CHUNKED + b"0\r\n")
        pour(link, b"a:b\r\n" * 200, 8 * MUCH)
    assert 0 < sum(dropped) < 8 * FRAME < MUCH


def test_trailers_behind_an_answer_end_the_connection(server: Served) -> None:
    """The route reads no body, so that its answer is out while the trailers come."""
    with connected(server) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert pour(link, b"X: %s\r\n" % (b"a" * 1_000)) < MUCH
        assert kept(server) < FRAME


def test_a_few_trailers_are_taken(server: Served) -> None:
    body = b'{"name": "done"}'
    with connected(server) as link:
        link.sendall(CHUNKED + b"%x\r\n%s\r\n0\r\nX: y\r\n\r\n" % (len(body), body))
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_many_header_fields_are_refused(small: Served) -> None:
    with connected(small) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a:b\r\n" * 20 + b"\r\n")
        answer = read_all(link)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"more than 20 fields (server.headers, server.header_fields)" in answer


def test_long_headers_are_refused_at_the_limit_that_is_set(small: Served) -> None:
    with connected(small) as link:
        link.sendall(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a" * 30_000))
        assert read_all(link).startswith(b"HTTP/1.1 431 ")


# ------------------------------------------------------------------------------------------------ pipelines
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_few_requests_of_a_pipeline_wait(small: Served) -> None:
    """Those that were taken are answered; then the connection ends."""
    with connected(small) as link:
        link.sendall(GET * 1_000)
        assert max(kept(small) for _ in range(3)) < 64 * KB
        answers = read_all(link)
    assert answers.count(b"HTTP/1.1 200 ") == 5
    assert answers.count(b"connection: close") == 1


def test_a_pipeline_within_the_limit_is_answered(small: Served) -> None:
    with connected(small) as link:
        link.sendall(GET * 4 + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert read_all(link).count(b"HTTP/1.1 200 ") == 5


def test_requests_behind_one_that_waits_are_not_gathered(small: Served) -> None:
    """A request that is answered late must not be a place to keep others."""
    small.push("waits", sleep("a"))
    small.start("waits")
    follow = b"GET /api/v3/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(small) as link:
        link.sendall(follow)
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        pour(link, GET * 100, MB)
        assert max(len(each.pipeline) for each in protocols(small)) <= 4


def test_a_follower_with_a_pipeline_ends_with_its_connection(small: Served) -> None:
    """The connection tells the request that is being answered, not only the one that came last."""
    nobody_connected(small)
    with connected(small) as link:
        link.sendall(b"GET /api/v3/events HTTP/1.1\r\nHost: localhost\r\n\r\n" + GET)
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert len(small.server._server.server_state.tasks) == 1
    until(lambda: not small.server._server.server_state.tasks)


# ---------------------------------------------------------------------------------------------- connections
def test_connections_beyond_the_limit_are_told_so(small: Served) -> None:
    nobody_connected(small)
    with ExitStack() as stack:
        links = [stack.enter_context(connected(small)) for _ in range(8)]
        for link in links:
            link.sendall(GET)
            assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        with connected(small) as late:  # it has sent nothing
            answer = read_all(late)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1\r\n" in answer
        assert b"server.connections" in answer
    nobody_connected(small)
    assert small.client.get("/health").status_code == 200


def test_many_connections_beyond_the_limit_are_closed(small: Served) -> None:
    nobody_connected(small)
    with ExitStack() as stack:
        links = [stack.enter_context(connected(small)) for _ in range(200)]
        assert read_all(links[-1]) == b""
        assert 8 <= len(protocols(small)) <= 8 + 64  # the first ones have their time
    nobody_connected(small)


def test_bytes_between_requests_do_not_keep_a_connection(small: Served) -> None:
    with connected(small) as link:
        link.sendall(GET)
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        link.sendall(b"\r\n")
        assert read_all(link) == b""


def test_a_body_behind_its_answer_does_not_keep_a_connection(small: Served) -> None:
    with connected(small) as link:
        link.sendall(GET.replace(b"\r\n\r\n", b"\r\nContent-Length: 10\r\n\r\n"))
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        link.sendall(b"0123456789")
        assert read_all(link) == b""


def test_a_body_behind_its_answer_has_an_end(small: Served) -> None:
    with connected(small) as link:
        link.sendall(GET.replace(b"\r\n\r\n", b"\r\nContent-Length: 100000000\r\n\r\n"))
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert pour(link, b"a" * 1_000, 20 * MB) < 20 * MB


# --------------------------------------------------------------------------------------------------- bodies
def test_all_bodies_together_have_a_limit(small: Served) -> None:
    """Two bodies that do not end leave no room for a third."""
    size = 60 * KB
    head = HEAD + b"Content-Length: %d\r\n\r\n" % size
    with ExitStack() as stack:
        for _ in range(2):
            link = stack.enter_context(connected(small))
            link.sendall(head + b" " * (size - 1))
        until(lambda: sum(each.cycle is not None and each.cycle.more_body for each in protocols(small)) == 2)
        with connected(small) as late:
            late.sendall(head + b" " * size)
            answer = late.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1\r\n" in answer
        assert b"server.bodies" in answer
    assert small.client.post("/api/v3/signals", json={"name": "later"}).status_code == 200


def test_a_body_without_a_length_has_the_same_limit(small: Served) -> None:
    with connected(small) as link:
        link.sendall(CHUNKED)
        assert pour(link, b"400\r\n%s\r\n" % (b" " * KB)) < MUCH
        assert read_all(link).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "body",
    [gzip.compress(b"{}") + b"x" * 10_000, gzip.compress(b"") * 1_000],
    ids=["rubbish behind the end", "one end after the other"],
)
def test_what_follows_compressed_data_is_refused(small: Served, body: bytes) -> None:
    """It unpacks to nothing, so that nobody who counts what was unpacked would see it."""
    with connected(small) as link:
        link.sendall(CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"))
        pour(link, b"%x\r\n%s\r\n" % (len(body), body), len(body))
        answer = read_all(link)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"behind the end" in answer


def test_compressed_data_that_unpacks_to_nothing_has_a_limit(small: Served) -> None:
    """Empty blocks of deflate: five bytes each, of which nothing comes."""
    empty = bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]) + b"\x00\x00\x00\xff\xff" * 40_000
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    response = small.client.post("/api/v3/signals", content=empty, headers=headers)
    assert response.status_code == 413


# ------------------------------------------------------------------------------------------------ followers
def test_a_follower_that_does_not_read_has_little_waiting() -> None:
    """And is cut off: here after a second, else after server.read_within."""
    settings = ServerSettings(read_within=1_000, stop_within=1_000)
    with served(settings=settings) as server, socket.socket() as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        host, port = server.url.removeprefix("http://").split(":")
        link.connect((host, int(port)))
        link.sendall(b"GET /api/v3/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: len(protocols(server)) == 1)
        follower = protocols(server)[0]
        server.push(
            "busy", *({"step": {"id": f"s{n}", "type": "NoOp", "transition": {}}} for n in range(300))
        )
        most = 0

        def cut_off() -> bool:
            nonlocal most
            server.start("busy")
            most = max(most, follower.transport.get_write_buffer_size())
            return follower not in protocols(server)

        until(cut_off)
    assert most <= 3 * 64 * KB
