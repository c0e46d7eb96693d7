"""HTTP/1.1 over one connection, with a limit for everything that a client sends and for every wait.

The parser keeps what it has not handed on, and uvicorn keeps what it was handed. Both take any number of
bytes, so this protocol counts them: headers, trailers, header fields, requests that wait in the pipeline,
and bodies whose answer is already out. A client that is too slow, or reads nothing, is cut off.
"""

import asyncio
import socket
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from stretto.api.answers import CUT
from stretto.api.settings import ServerSettings

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

SLICE: Final = 4 * 1024  # bytes that are parsed before the limits are checked again
REFUSED_AT_ONCE: Final = 64  # connections beyond the limit that are told so; the rest are closed
IGNORE_EVERY: Final = 0.01  # seconds between two reads of what is dropped anyway
LINGER_FOR: Final = 2.0  # seconds for a client that was refused to read the refusal
RETRY_AFTER: Final = b"retry-after: 1\r\n"
MILLIS: Final = 1_000


class OverLimit(Exception):
    """A client has sent more than it may. Raised inside of the parser, which stops."""


class LimitedProtocol(HttpToolsProtocol):
    """What uvicorn does, with limits and timers. `settings` is set by a subclass: uvicorn makes the
    instances.
    """

    settings = ServerSettings()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None  # for what the client is to send next
        self._unread: asyncio.TimerHandle | None = None
        self._rested: asyncio.TimerHandle | None = None
        self._in_head = False
        self._complete = True  # the request that came last
        self._pending = 0  # bytes since the last complete headers, or the last byte of a body
        self._ignored = 0  # bytes that were dropped: their answer is out
        self._refused = False
        self._answering: RequestResponseCycle | None = None

    # ------------------------------------------------------------------------------------ the connection
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        detect_lost_peers(transport, self.settings.read_within)
        if len(self.connections) > self.settings.connections + REFUSED_AT_ONCE:
            self._refused = True
            transport.abort()
            return
        if len(self.connections) > self.settings.connections:
            self._refuse(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"The server has {self.settings.connections} connections, which is its limit"
                " (server.connections). Try again later.",
            )
            return
        self._expect(self.settings.headers_within)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        view = memoryview(data)
        for begin in range(0, len(view), SLICE):
            if self._refused:
                self._ignore(len(view) - begin)
                self._rest()
                return
            if self.transport.is_closing():
                return
            self._parse(view[begin : begin + SLICE])
        if self._is_idle and self._deadline is None and not self.transport.is_closing():
            self._expect(self.settings.idle_within)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline = _cancel(self._deadline)
        self._unread = _cancel(self._unread)
        self._rested = _cancel(self._rested)
        if self._answering is not None:  # uvicorn tells only the request that came last
            self._answering.disconnected = not self._answering.response_complete
            self._answering.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    # --------------------------------------------------------------------------------------- the request
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._complete = True, False
        self._pending = self._ignored = 0
        self._expect(self.settings.headers_within)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Trailers are counted as bytes, and dropped: nothing here reads them."""
        if not self._in_head:
            return
        if len(self.headers) >= self.settings.header_fields:
            raise OverLimit
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._deadline = _cancel(self._deadline)
        self._in_head = False
        self._pending = 0
        if len(self.pipeline) >= self.settings.pipelined:
            raise OverLimit
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending = 0
        if self.cycle.response_complete:
            self._ignore(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._complete = True
        if self._is_idle:
            self._deadline = _cancel(self._deadline)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._complete and not self._in_head and not self.pipeline:
            self._expect(self.settings.body_within)

    # ---------------------------------------------------------------------------------------- the answer
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        self._answering = cycle
        cycle.scope[CUT] = self.transport.abort  # type: ignore[typeddict-unknown-key]  # a key of ours
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self._after(self.settings.read_within)

    def resume_writing(self) -> None:
        self._unread = _cancel(self._unread)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """A client that has not read its last answer until now never will: nobody waits for it."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    # -------------------------------------------------------------------------------------------- limits
    def _parse(self, part: memoryview) -> None:
        try:
            self.parser.feed_data(part)
        except httptools.HttpParserUpgrade:  # no other protocol is spoken here
            pass
        except httptools.HttpParserError as error:
            if not isinstance(error.__context__, OverLimit):
                self._refuse(HTTPStatus.BAD_REQUEST, "This is not a request of HTTP/1.1.")
            elif self._in_head:
                self._refuse_headers(f"have more than {self.settings.header_fields} fields")
            else:
                self._end_pipeline()
            return
        self._pending += len(part)
        if self._pending > self.settings.headers and not self._complete:
            self._refuse_headers(f"are larger than {self.settings.headers // 1024} KB")

    def _ignore(self, size: int) -> None:
        """Drop what comes behind an answer. A client that does not stop is cut off."""
        self._ignored += size
        if self._ignored > self.settings.body:
            self.transport.abort()

    def _rest(self) -> None:
        """A client that was refused, and sends on, is read from seldom: the event loop would take all that it
        sends before it turns to other connections.
        """
        if not self.flow.read_paused and not self.transport.is_closing():
            self.flow.pause_reading()
            self._rested = self.loop.call_later(IGNORE_EVERY, self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _refuse_headers(self, problem: str) -> None:
        what = "headers" if self._in_head else "trailers"
        self._refuse(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
            f"The {what} of the request {problem} (server.headers, server.header_fields).",
        )

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        """Answer in place of the application if that is possible, and hear no more of this client."""
        self._refused = True
        self._deadline = _cancel(self._deadline)
        if not self._may_answer:
            self.transport.abort()
            return
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(answer_of(status, reason))
        # A client that still sends would lose the answer to a reset if the socket were closed now.
        self.transport.write_eof()
        self._deadline = self.loop.call_later(LINGER_FOR, self.transport.abort)

    def _end_pipeline(self) -> None:
        """The requests that wait are answered, and the last answer says that no more are taken."""
        self._refused = True
        self.flow.pause_reading()
        self.pipeline[0][0].keep_alive = False

    @property
    def _is_idle(self) -> bool:
        """Whether no request of this connection waits for an answer."""
        return not self.pipeline and (self._answering is None or self._answering.response_complete)

    @property
    def _may_answer(self) -> bool:
        """Whether an answer now would belong to the request that is being read."""
        if self._in_head or self._complete:
            return self._is_idle
        return not self.pipeline and not self.cycle.response_started

    def _expect(self, millis: int) -> None:
        """The client has so long for what it is to send next."""
        _cancel(self._deadline)
        self._deadline = self._after(millis)

    def _after(self, millis: int) -> asyncio.TimerHandle:
        return self.loop.call_later(millis / MILLIS, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer, in the place of one."""
    if timer is not None:
        timer.cancel()
    return None


def answer_of(status: HTTPStatus, reason: str) -> bytes:
    """A whole answer, after which the connection is closed."""
    body = reason.encode()
    return b"HTTP/1.1 %d %s\r\ncontent-type: text/plain; charset=utf-8\r\n%sconnection: close\r\n%s\r\n%s" % (
        status,
        status.phrase.encode(),
        RETRY_AFTER if status is HTTPStatus.SERVICE_UNAVAILABLE else b"",
        b"content-length: %d\r\n" % len(body),
        body,
    )


def detect_lost_peers(transport: asyncio.BaseTransport, millis: int) -> None:
    """Let the system end connections whose other side has vanished without a word, where it can."""
    link = transport.get_extra_info("socket")
    seconds = max(1, millis // MILLIS)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {
        "TCP_KEEPIDLE": seconds,
        "TCP_KEEPINTVL": seconds,
        "TCP_KEEPCNT": 3,
        "TCP_USER_TIMEOUT": millis,
    }
    for name, value in options.items():
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def limited(settings: ServerSettings) -> type[LimitedProtocol]:
    """The protocol with these settings."""
    return type("Limited", (LimitedProtocol,), {"settings": settings})
