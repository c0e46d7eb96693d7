"""An event loop of asyncio in the time of a scheduler: that it runs is one of the things that happen.

Each process of a world has its own. It stands still with its process, and need not be closed.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final, TypeVarTuple

from stretto.testing.scheduler import Scheduler

Ts = TypeVarTuple("Ts")

AT_ONCE: Final = 2_000  # callbacks that take no time; as many again take a millisecond


class ScheduledLoop(asyncio.AbstractEventLoop):
    """What tasks, futures, events and timeouts need of a loop: no threads, no files, no sockets."""

    def __init__(
        self, scheduler: Scheduler, soon: Callable[[], int], stands_still: Callable[[], int]
    ) -> None:
        self._scheduler = scheduler
        self._soon = soon  # how long it takes until it looks at what was put into it from outside
        self._stands_still = stands_still  # for how many milliseconds more nothing of it moves
        self._ready: deque[asyncio.Handle] = deque()
        self._due: int | None = None  # when it runs next
        self._moment = 0, 0  # a millisecond, and how many callbacks it has seen
        self.errors: list[BaseException] = []  # what was raised and nobody waits for

    # -------------------------------------------------------------------------------- for those who run in it
    def time(self) -> float:
        """A callback takes a microsecond: who waits for the next moment must see it come."""
        now, (then, callbacks) = self._scheduler.now, self._moment
        return now / 1_000 + (min(callbacks, 999) / 1_000_000 if now == then else 0.0)

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        if asyncio._get_running_loop() is not self:  # noqa: SLF001 - it is there for those who write loops
            self._run_after(self._soon())
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        wait = math.ceil(when * 1_000 - self._scheduler.now)

        def ring() -> None:
            if not handle.cancelled():
                self._ready.append(handle)
                self._run_after(0)

        self._scheduler.after(max(0, wait), ring)
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]  # as asyncio itself calls it
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context.get("exception") or RuntimeError(context["message"]))

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It finds out when its time has come."""

    # ------------------------------------------------------------------------------------------------ running
    def _run_after(self, millis: int) -> None:
        due = self._scheduler.now + millis
        if self._due is None or due < self._due:
            self._due = due
            self._scheduler.after(millis, lambda: self._turn(due))

    def _turn(self, due: int) -> None:
        if self._due != due:
            return  # it ran before that
        self._due = None
        wait = self._stands_still()
        if wait:
            self._run_after(wait)
        elif not self.run_ready():
            self._run_after(1)

    def run_ready(self) -> bool:
        """Run what can run now, in the order of its coming; False: that did not come to an end."""
        before = asyncio._get_running_loop()  # noqa: SLF001 - see above
        asyncio._set_running_loop(self)  # noqa: SLF001 - see above
        try:
            for _ in range(AT_ONCE):
                if not self._ready:
                    return True
                handle = self._ready.popleft()
                now, (then, callbacks) = self._scheduler.now, self._moment
                self._moment = now, callbacks + 1 if now == then else 0
                if not handle.cancelled():
                    handle._run()  # noqa: SLF001 - as every loop does
            return False
        finally:
            asyncio._set_running_loop(before)  # noqa: SLF001 - see above
