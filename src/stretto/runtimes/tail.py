"""What a program prints: handed on as it comes, however much it is; the end of it is kept."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

READ_AT_ONCE: Final = 64 * 1024
READS: Final = 64  # at the end, of what is there: somebody may go on printing

Take = Callable[[bytes], None]


class Tail:
    """A pipe into this process, of which the last bytes are kept. `write` is the end for the program."""

    def __init__(self, most: int, *takers: Take) -> None:
        self._most = most
        self._takers = takers
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._kept = bytearray()
        self.size = 0  # of everything that came
        self.ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read, self._take)

    def started(self) -> None:
        """The program has its end of the pipe, or never will: ours is closed, so that the end is seen."""
        os.close(self.write)

    def close(self) -> None:
        """Read what is there, and no more. Idempotent."""
        reads = READS
        while not self.ended.is_set() and reads and self._take():
            reads -= 1
        self._end()

    @property
    def text(self) -> str:
        """What is kept, as a text that can be stored; it begins with a whole line if something is missing."""
        kept = bytes(self._kept)
        if self.size > len(kept):
            kept = kept.partition(b"\n")[2] or kept
        return kept.decode(errors="replace").replace("\0", "\ufffd")

    def _take(self) -> bool:
        """One read. False: there is nothing now, or never again."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self._read, READ_AT_ONCE)
            if not data:
                self._end()
        if data:
            self.size += len(data)
            self._kept += data[-self._most :]
            del self._kept[: -self._most]
            for take in self._takers:
                take(data)
        return bool(data)

    def _end(self) -> None:
        if not self.ended.is_set():
            self._loop.remove_reader(self._read)
            os.close(self._read)
            self.ended.set()
