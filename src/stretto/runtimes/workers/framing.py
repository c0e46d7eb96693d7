"""Messages on a stream of bytes: each after its length. Nobody is trusted to keep to the limit."""

from collections.abc import Iterator
from struct import Struct
from typing import Final

LENGTH: Final = Struct(">I")
READ_AT_ONCE: Final = 64 * 1024  # more would be mapped and unmapped each time


class BadFrame(Exception):
    """Bytes that are no message: somebody else has written, or the other side is not what it should be."""


def framed(body: bytes) -> bytes:
    """A message as it travels."""
    return LENGTH.pack(len(body)) + body


class Frames:
    """Puts messages together again, of what comes in."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that are complete now. Raises BadFrame after the last that is one."""
        self._held += data
        while len(self._held) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._held)
            if length > self._most:
                raise BadFrame(f"a message of {length:,} bytes, where {self._most:,} are the most")
            end = LENGTH.size + length
            if len(self._held) < end:
                break
            body = bytes(self._held[LENGTH.size : end])
            del self._held[:end]
            yield body
