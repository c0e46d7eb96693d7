"""Threads for functions that block: made as they are needed, used again, and never waited for at the end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from stretto.ports.fence import Fence

IDLE: Final = 30.0  # seconds after which a thread without work ends


class Outcome(NamedTuple):
    """How a call in a thread ended."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


def attempted(call: Callable[[], Any]) -> Outcome:
    """How a call ends. Whatever it raises, `exit()` included, ends the call, and not the thread."""
    try:
        return Outcome(call())
    except BaseException as error:  # noqa: BLE001 - see above
        return Outcome(error=error)


class ThreadCall:
    """A call that begins only if its fence is open when the thread gets to it; `leave` is called once, when
    the call has ended or will never begin.
    """

    __slots__ = ("_call", "_fence", "_leave", "is_begun", "is_left")

    def __init__(self, call: Callable[[], Any], fence: Fence, leave: Callable[[], None] | None) -> None:
        self._call = call
        self._fence = fence
        self._leave = leave
        self.is_begun = False
        self.is_left = False  # nobody waits for it any more

    def __call__(self) -> Any:
        if self.is_left or not self._fence.is_open:
            return None
        self.is_begun = True
        return self._call()

    def ended(self) -> None:
        """The thread is done with it."""
        if self._leave is not None and (self.is_begun or self.is_left):
            self._leave()


Tell = Callable[[], None]
Work = Callable[[], Tell]  # gives back how to tell what came of it
Box = SimpleQueue[Work | None]


class Threads:
    """They are daemons: a thread can not be killed, and a program that ends must not wait for it."""

    def __init__(self, idle: float = IDLE) -> None:
        self._idle_for = idle
        self._lock = threading.Lock()
        self._idle: list[Box] = []
        self._closed = False
        self.made = 0  # how many there are

    def run(self, call: Callable[[], Any], then: Callable[[], None] | None = None) -> asyncio.Future[Outcome]:
        """Call it in a thread, with the context variables of the caller. The future is never an error; that
        it is cancelled only means that nobody waits any more. `then` is called in the loop when the call has
        really ended.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        context = contextvars.copy_context()

        def settle(outcome: Outcome) -> None:
            if then is not None:
                then()
            if not future.done():
                future.set_result(outcome)

        def tell(outcome: Outcome) -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits
                loop.call_soon_threadsafe(settle, outcome)

        def work() -> Tell:
            return partial(tell, attempted(partial(context.run, call)))

        self._hand_out(work)
        return future

    def close(self) -> None:
        """Idle threads end now, the others after their work."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for box in idle:
            box.put(None)

    def _hand_out(self, work: Work) -> None:
        with self._lock:
            box = self._idle.pop() if self._idle else None
            if box is None:
                self.made += 1
        if box is None:
            box = SimpleQueue()
            threading.Thread(
                target=self._serve, args=(box,), name=f"stretto-step-{self.made}", daemon=True
            ).start()
        box.put(work)

    def _serve(self, box: Box) -> None:
        is_last = False
        while not is_last and (work := self._next(box)) is not None:
            tell = work()
            with self._lock:  # before it is told: whoever hears of it may have more work
                is_last = self._closed
                if not is_last:
                    self._idle.append(box)
            tell()
            del work, tell  # what they hold may be large
        with self._lock:
            self.made -= 1

    def _next(self, box: Box) -> Work | None:
        try:
            return box.get(timeout=self._idle_for)
        except Empty:
            with self._lock:
                if box in self._idle:
                    self._idle.remove(box)
                    return None
        return box.get()  # it was given work in this very moment
