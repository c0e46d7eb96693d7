"""Computation that is too long for the event loop: worker threads do it, a few at a time.

Python code in a thread gives way to the event loop every few milliseconds. One long call into C does not:
what encodes or decodes megabytes must do it in slices.
"""

import asyncio
import gc
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from stretto.model.wire import weight

P = ParamSpec("P")
T = TypeVar("T")

INLINE: Final = 200  # steps, rows or the like: so many take no longer here than the way to a thread
MANY: Final = INLINE + 1  # for what always takes long
VALUES: Final = 20  # of a record that count as one of them
CHARACTERS: Final = 100  # of a text that count as one of them
AT_ONCE: Final = 2  # threads: the loop waits for each of them a few milliseconds when it wants to go on
HUGE: Final = 2_000  # elements from which on Python's collector of cycles would take long
_pause: Final = Lock()
_places: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]] = WeakKeyDictionary()


async def offload(size: int, compute: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What a function without I/O returns. `size` is how many elements it goes through: few are computed at
    once, many in a thread.
    """
    loop = _loop() if size > INLINE else None
    if loop is None:
        return compute(*args, **named)
    async with _places.setdefault(loop, asyncio.Semaphore(AT_ONCE)):
        return await asyncio.to_thread(_uncollected(compute) if size > HUGE else compute, *args, **named)


async def give_way() -> None:
    """Let others have their turn, between two parts of a computation that goes on in the event loop."""
    if _loop() is not None:
        await asyncio.sleep(0)


async def free(records: list[Any]) -> None:
    """Empty a list of records that nobody needs any more, one by one and many of them in a thread. To drop
    thousands at once holds the interpreter for a tenth of a second, whichever thread does it.
    """
    await offload(len(records), _empty, records)


def _empty(records: list[Any]) -> None:
    while records:
        records.pop()


def _uncollected(compute: Callable[P, T]) -> Callable[P, T]:
    """The same without Python's collector of cycles: what is made is many values and no cycles, and to look
    through them once holds the interpreter for a tenth of a second. While one thread has stopped the
    collector, others do not: between two such pauses it runs.
    """

    def computed(*args: P.args, **named: P.kwargs) -> T:
        if not gc.isenabled() or not _pause.acquire(blocking=False):
            return compute(*args, **named)
        try:
            gc.disable()
            return compute(*args, **named)
        finally:
            gc.enable()
            _pause.release()

    return computed


def _loop() -> asyncio.AbstractEventLoop | None:
    """None: whoever drives this has none, so that nobody waits for it."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def size_of(record: Any) -> int:
    """The size of a record or a JSON value."""
    return weight(record, MANY * VALUES) // VALUES
