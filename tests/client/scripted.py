"""A server that does what a test says, connection by connection: for trouble that a real one never makes."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

Act = Callable[[socket.socket], None]


class Scripted:
    """`requests`: what came, each with its first line, headers and body."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[str] = []

    @property
    def lines(self) -> list[str]:
        return [each.partition("\r\n")[0] for each in self.requests]


def answer(status: int, body: str = "", *headers: str, kind: str = "application/json") -> Act:
    """A whole answer; the connection is closed behind it."""
    head = [f"HTTP/1.1 {status} x", f"content-type: {kind}", f"content-length: {len(body.encode())}"]
    text = "\r\n".join([*head, "connection: close", *headers, "", body])
    return lambda connection: connection.sendall(text.encode())


def events(*messages: str, first: float = 0.0, hold: float = 0.0) -> Act:
    """A stream of events that breaks off behind the last one, or is silent before that; and `first`."""

    def act(connection: socket.socket) -> None:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for each in messages:
            time.sleep(first)
            data = each.encode()
            connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))
        if hold:
            _left(connection, hold)

    return act


def cut(connection: socket.socket) -> None:
    """The request is taken, and nothing comes back."""


def silent(connection: socket.socket) -> None:
    """The request is taken, and nothing comes back until who asked has had enough."""
    _left(connection, 60)


def _left(connection: socket.socket, seconds: float) -> None:
    """Until the other side has gone, or so long."""
    connection.settimeout(seconds)
    with suppress(OSError):
        while connection.recv(65_536):
            pass


@contextmanager
def scripted(*acts: Act) -> Iterator[Scripted]:
    """One act for each connection, in this order; after the last one nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Scripted(listener.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(listener, made, acts), daemon=True)
        thread.start()
        yield made
    thread.join(10)


def _serve(listener: socket.socket, made: Scripted, acts: Sequence[Act]) -> None:
    for act in acts:
        try:
            connection, _address = listener.accept()
        except OSError:  # the test is over
            return
        with connection:
            made.requests.append(_request(connection))
            act(connection)
    listener.close()


def _request(connection: socket.socket) -> str:
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65_536)
    head, _, body = text.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.splitlines()
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += connection.recv(65_536)
    return (head + b"\r\n\r\n" + body).decode()
