"""A pipe for what a process prints: read as it comes, and whatever is in it when a call has ended."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

READ_AT_ONCE: Final = 64 * 1024


class Capture:
    """Must be made in the event loop. `write` is the end for the process."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read, self.take)
        self._is_open = True

    def handed_over(self) -> None:
        """The process has its end of the pipe."""
        os.close(self.write)

    def take(self) -> bool:
        """One read. False: there is nothing now, or never again."""
        if not self._is_open:
            return False
        try:
            data = os.read(self._read, READ_AT_ONCE)
        except BlockingIOError:
            return False
        if data:
            self._take(data)
        else:
            self.close()
        return bool(data)

    def drain(self, most: int) -> None:
        """Everything that is there now; no more than so many reads, if somebody goes on printing."""
        while most > 0 and self.take():
            most -= 1

    def close(self) -> None:
        """Idempotent."""
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._read)
            os.close(self._read)
