"""Threads for functions that block: made as they are needed, used again, and never waited for at the end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

IDLE: Final = 30.0  # seconds after which a thread without work ends


class Outcome(NamedTuple):
    """How a call in a thread ended."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


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
            try:
                return partial(tell, Outcome(context.run(call)))
            except BaseException as error:  # noqa: BLE001 - also `exit()`: it ends the call, not the thread
                return partial(tell, Outcome(error=error))

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
