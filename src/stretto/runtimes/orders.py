"""What an engine and a guard say to each other. It can be read on any system; a guard needs POSIX."""

import json
from collections.abc import Iterator
from struct import Struct
from typing import Any, Final, NamedTuple

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


FILES: Final = 3  # of a command: its outputs, and its input unless that is empty

# from the engine
BEGIN: Final = "begin"  # words, variables, folder, until when; with its files
ASK: Final = "ask"  # the command to end: SIGTERM
KILL: Final = "kill"
# to it
STARTED: Final = "started"  # the number of its process
REFUSED: Final = "refused"  # why it can not be started
EXPIRED: Final = "expired"  # it was not started in time, and needs a new permission
ENDED: Final = "ended"  # its exit code, below 0 if a signal ended it; whether something is left for all that


def packed(verb: str, *values: Any) -> bytes:
    """A message as it travels. Halves of characters, of which file names may be made, are kept."""
    return framed(json.dumps([verb, *values]).encode())


class Begun(NamedTuple):
    """What is to be started."""

    words: list[str]
    env: dict[str, str]
    cwd: str
    begin_before: float  # on `ports.clock.machine_steady`
