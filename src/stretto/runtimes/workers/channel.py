"""One end of a socket to another process, for an event loop: whole messages in and out."""

import asyncio
import socket
from collections.abc import Callable

from stretto.runtimes.orders import READ_AT_ONCE, BadFrame, Frames


class Channel:
    """Tells of each message, and once of the end. Must be made in the event loop."""

    def __init__(
        self,
        end: socket.socket,
        most: int,
        hear: Callable[[bytes], None],
        ended: Callable[[str], None],
    ) -> None:
        end.setblocking(False)
        self._socket = end
        self._frames = Frames(most)
        self._hear = hear
        self._ended = ended
        self._rest = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(end, self._read)
        self.is_open = True

    def send(self, data: bytes) -> None:
        """Now, or as soon as there is room. If the other side is gone, that is told as the end."""
        if self._rest:
            self._rest += data
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the end will be read
        if sent < len(data):
            self._rest += memoryview(data)[sent:]
            self._loop.add_writer(self._socket, self._write)

    def close(self) -> None:
        """Idempotent; nothing is told afterwards."""
        if self.is_open:
            self.is_open = False
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
            self._rest.clear()

    def _read(self) -> None:
        try:
            data = self._socket.recv(READ_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end("")
            return
        try:
            for body in self._frames.feed(data):
                if self.is_open:
                    self._hear(body)
        except BadFrame as error:
            self._end(str(error))

    def _write(self) -> None:
        try:
            sent = self._socket.send(self._rest)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._rest)  # the end will be read
        del self._rest[:sent]
        if not self._rest:
            self._loop.remove_writer(self._socket)

    def _end(self, why: str) -> None:
        if self.is_open:
            self.close()
            self._ended(why)
