"""The end of what a program prints: read as it comes, however much it is, and bounded."""

import asyncio
import os
from contextlib import suppress
from typing import Final

READ_AT_ONCE: Final = 64 * 1024


class Tail:
    """A pipe into this process, of which the last bytes are kept. `write` is the end for the program."""

    def __init__(self, most: int) -> None:
        self._most = most
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
        while not self.ended.is_set() and self._take():
            pass
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
        self.size += len(data)
        self._kept += data
        del self._kept[: -self._most]
        return bool(data)

    def _end(self) -> None:
        if not self.ended.is_set():
            self._loop.remove_reader(self._read)
            os.close(self._read)
            self.ended.set()
