"""A request that blocks its thread, and that another thread can end at any time."""

import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NamedTuple

from http_runtime.asked import Asked


class Ended(Exception):
    """The request was ended before it was answered."""


class TooLarge(Exception):
    """The answer is larger than what the step takes."""


class NotReached(Exception):
    """There was no answer: nobody listens, the line broke, nothing that is HTTP came back."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes
    charset: str


class Request:
    """One request. `perform` is called once, in a thread of its own; `end` from anywhere, as often as one
    likes.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._ended = False

    def end(self) -> None:
        """A thread can not be killed, but what it waits for can be taken away: then it comes back at once."""
        with self._lock:
            self._ended = True
            if self._socket is not None:
                with suppress(OSError):  # the other side was quicker
                    self._socket.shutdown(socket.SHUT_RDWR)

    def perform(self) -> Answer:
        """Ask, and read the answer. Raises Ended, TooLarge or NotReached."""
        try:
            return self._perform()
        except (OSError, HTTPException, ValueError, AttributeError) as error:
            # The two last: how TLS fails when its socket is taken away.
            # The socket has the same time as the whole request, and may be the first to say that it is over;
            # with a number it is the word of the network, which gave up.
            out_of_time = isinstance(error, TimeoutError) and error.errno is None
            with self._lock:
                if self._ended or out_of_time:
                    raise Ended from None
            raise NotReached(f"{type(error).__name__}: {error}") from error

    def _perform(self) -> Answer:
        asked = self._asked
        secure = asked.url.scheme == "https"
        kind = HTTPSConnection if secure else HTTPConnection
        connection = kind(asked.url.hostname or "", asked.url.port, timeout=asked.timeout)
        try:
            self._connect(connection)
            connection.request(asked.method, asked.target, asked.body, dict(asked.headers))
            return self._read(connection.getresponse())
        finally:
            with self._lock:
                self._socket = None
            connection.close()

    def _connect(self, connection: HTTPConnection) -> None:
        with self._lock:
            if self._ended:
                raise Ended
        connection.connect()
        with self._lock:
            self._socket = connection.sock
            if self._ended:  # meanwhile
                raise Ended

    def _read(self, response: HTTPResponse) -> Answer:
        most = self._asked.most_bytes
        body = response.read(most + 1)
        if len(body) > most:
            raise TooLarge
        if response.length:  # `read` with a size does not tell that the line broke
            raise ConnectionError(f"the answer broke off: {response.length} bytes are missing")
        with self._lock:
            if self._ended:
                raise Ended
        headers = {name.lower(): value for name, value in response.getheaders()}
        charset = response.headers.get_content_charset("utf-8")
        return Answer(response.status, response.reason, headers, body, charset)
