"""How much memory a server process takes while clients send without end."""

import gzip
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.acceptance.processes import PATIENCE
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


START = "/api/v3/workflows/w/versions/latest/actions/start"
JSON = "application/json"
YAML = "application/yaml"


def members(count: int, value: str, name: str = "{:x}") -> str:
    return "{" + ",".join(f'"{name.format(number)}":{value}' for number in range(count)) + "}"


def lists(count: int, value: str, *more: str) -> str:
    return "[" + ",".join([value] * count + list(more)) + "]"


def params(made: str) -> str:
    return f'{{"initiator":{{"type":"manual"}},"run_params":{made}}}'


def param(value: str) -> str:
    return params(f'{{"p":{{"type":"STRING_ARRAY","value":{value}}}}}')


BODIES: dict[str, tuple[str, str, Callable[[], str]]] = {
    "too many params": (START, JSON, lambda: params(members(700_000, "{}"))),
    "params": (START, JSON, lambda: params(members(300_000, "{}"))),
    "valid params": (START, JSON, lambda: params(members(160_000, '{"type":"LONG","value":1}'))),
    "params given twice": (START, JSON, lambda: params(members(300_000, "{}", "a"))),
    "lists": (START, JSON, lambda: param(lists(2_000_000, "[]"))),
    "objects": (START, JSON, lambda: param(lists(240_000, '{"":0}'))),
    "a NUL": (START, JSON, lambda: param(lists(900_000, "0.1", '"\\u0000"'))),
    "a long key": (START, JSON, lambda: members(1, "1", "k" * 7_800_000)),
    "depth": (START, JSON, lambda: "[" * 7_800_000),
    "bulk": ("/api/v3/bulk", JSON, lambda: f'{{"action":"KILL","ids":{lists(330_000, "{}")}}}'),
    "signals": ("/api/v3/signals", JSON, lambda: f'{{"name":"s","params":{members(300_000, "{}")}}}'),
    "steps": ("/api/v3/workflows", JSON, lambda: f'{{"workflow":{{"steps":{lists(330_000, "{}")}}}}}'),
    "yaml": (
        "/api/v3/workflows/yaml",
        YAML,
        lambda: "workflow:\n" + "".join(f"  k{number}: {{}}\n" for number in range(250_000)),
    ),
    "yaml given twice": ("/api/v3/workflows/yaml", YAML, lambda: "workflow:\n" + "  k: {}\n" * 250_000),
    "version 1": ("/api/v1/workflows", JSON, lambda: members(300_000, "{}")),
}
PACKED = ("params", "yaml")


@pytest.mark.parametrize(
    ("name", "packed"), [*((name, False) for name in BODIES), *((name, True) for name in PACKED)]
)
def test_six_bodies_of_valid_size_do_not_add_up(tmp_path: Path, name: str, *, packed: bool) -> None:
    path, kind, make = BODIES[name]
    content = make().encode()
    headers = {"content-type": kind, "user": "ann"}
    if packed:
        content, headers = gzip.compress(content, 1), {**headers, "content-encoding": "gzip"}
    with Serving(folder=tmp_path) as server:
        before = memory(server)
        answers: list[int] = []

        def post() -> None:
            url = f"{server.url}{path}"
            answers.append(httpx.post(url, content=content, headers=headers, timeout=PATIENCE).status_code)

        threads = [threading.Thread(target=post) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert set(answers) <= {400, 404, 503}
        assert memory(server) - before < 300 * MB
        assert server.get("/ready") == {"status": "UP"}
        assert server.stopped()[0] == 0
