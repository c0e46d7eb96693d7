"""How much memory a server process takes while clients send without end."""

import socket
from pathlib import Path

import pytest
from tests.acceptance.serving import Serving

pytestmark = pytest.mark.prove

MB = 1024 * 1024
HEAD = b"POST /api/v3/signals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nuser: ann\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def memory(server: Serving) -> int:
    """Bytes that the process has at most had in memory."""
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the system does not tell")


def pour(server: Serving, begun: bytes, part: bytes, size: int) -> None:
    """Send so much over new connections, whenever the server has ended one."""
    host, port = server.url.removeprefix("http://").split(":")
    while size > 0:
        with socket.create_connection((host, int(port)), timeout=60) as link:
            try:
                link.sendall(begun)
                while size > 0:
                    size -= len(part)
                    link.sendall(part)
            except OSError:
                size -= len(begun)


@pytest.mark.parametrize(
    ("begun", "part"),
    [
        (CHUNKED + b"0\r\n", b"X: y\r\n" * 10_000),
        (CHUNKED + b"0\r\nX: ", b"y" * 64_000),
        (HEAD + b"X: ", b"y" * 64_000),
        (HEAD, b"X: y\r\n" * 10_000),
        (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000),
        (CHUNKED, b"400\r\n" + b" " * 1024 + b"\r\n"),
        (
            CHUNKED.replace(b"\r\nuser", b"\r\nContent-Encoding: gzip\r\nuser"),
            b"14\r\n" + bytes(20) + b"\r\n",
        ),
    ],
    ids=["trailers", "one trailer", "one header", "headers", "pipeline", "body", "compressed body"],
)
def test_memory_does_not_grow_with_what_clients_send(tmp_path: Path, begun: bytes, part: bytes) -> None:
    with Serving(folder=tmp_path) as server:
        before = memory(server)
        pour(server, begun, part, 50 * MB)
        assert memory(server) - before < 40 * MB
        assert server.get("/ready") == {"status": "UP"}
        assert server.stopped()[0] == 0
