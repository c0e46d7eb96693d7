"""HTTP/1.1 over one connection, with an end to every wait: who sends or reads too slowly is cut off."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from stretto.api.settings import ServerSettings

MOST: Final = 64 * 1024  # bytes of a first line and its headers; the parser would take any number
TOO_LARGE: Final = f"The headers of a request must not be larger than {MOST // 1024} KB.".encode()
REFUSAL: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(TOO_LARGE), TOO_LARGE)
)


class PatientProtocol(HttpToolsProtocol):
    """What uvicorn does, three timers, and an end to headers. `settings` is set by a subclass: uvicorn makes
    the instances.
    """

    settings = ServerSettings()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._headers: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._head = 0  # bytes of headers that are not complete

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._head = 0 if self._headers is None else self._head + len(data)
        if self._head > MOST:
            self.transport.write(REFUSAL)
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._headers = self._after(self.settings.headers_within)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._headers is None:
            self._headers = self._after(self.settings.headers_within)

    def on_headers_complete(self) -> None:
        self._headers = _cancel(self._headers)
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self._after(self.settings.read_within)

    def resume_writing(self) -> None:
        self._unread = _cancel(self._unread)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers = _cancel(self._headers)
        self._unread = _cancel(self._unread)
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """A client that has not read its last answer until now never will: nobody waits for it."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _after(self, millis: int) -> asyncio.TimerHandle:
        return self.loop.call_later(millis / 1_000, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer, in the place of one."""
    if timer is not None:
        timer.cancel()
    return None


def patient(settings: ServerSettings) -> type[PatientProtocol]:
    """The protocol with these settings."""
    return type("Patient", (PatientProtocol,), {"settings": settings})
