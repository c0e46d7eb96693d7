"""A server on this machine that answers as it is told to."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Keeps what it was asked. `/status/503` is answered 503, `/slow` after a minute, others with an echo."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str, dict[str, str], str]] = []
        self.gone = threading.Event()  # somebody hung up before he was answered

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def handle_all(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        match self.path.partition("?")[0].strip("/").split("/"):
            case ["status", code]:
                self._answer(int(code), f"you asked for {code}".encode())
            case ["slow"]:
                self._wait()
            case ["large", size]:
                self._answer(200, b"x" * int(size))
            case ["binary"]:
                self._answer(200, b"\xff\x00")
            case ["broken"]:
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.close_connection = True
            case _:
                self._answer(200, f"{self.command} {self.path} {body}".encode())

    do_GET = do_POST = do_PUT = do_DELETE = handle_all

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Mark", "here")
        self.end_headers()
        self.wfile.write(body)

    def _wait(self) -> None:
        self.connection.settimeout(0.05)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.server.gone.set()
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
