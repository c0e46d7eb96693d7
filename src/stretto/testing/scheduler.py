"""Virtual time, and coroutines that are stepped by hand: no event loop, no thread, nothing but the dice.

Whoever waits awaits a `Delay`. What is due at the same moment happens in an order that the dice decide.
"""

import heapq
from collections.abc import Callable, Coroutine, Generator
from random import Random
from typing import Any, Final

BEGIN: Final = 1_700_000_000_000  # the moment at which every world begins, in milliseconds since 1970


class Delay:
    """Awaited: go on after so many milliseconds."""

    __slots__ = ("millis",)

    def __init__(self, millis: int) -> None:
        self.millis = millis

    def __await__(self) -> Generator["Delay", None, None]:
        yield self


class Scheduler:
    """What is to happen, by time. `now` is in milliseconds since the beginning of the world."""

    def __init__(self, dice: Random) -> None:
        self.now = 0
        self.steps = 0
        self.current: Task | None = None  # whose coroutine is being stepped
        self.tasks: dict[Task, None] = {}  # those that are not over
        self._dice = dice
        self._due: list[tuple[int, float, int, Callable[[], None]]] = []

    def after(self, millis: int, call: Callable[[], None]) -> None:
        """Call something later, or as soon as it is its turn."""
        self.steps += 1
        heapq.heappush(self._due, (self.now + millis, self._dice.random(), self.steps, call))

    def drop_all(self) -> None:
        """The end of the world: nothing that was begun goes on."""
        self._due.clear()
        for task in list(self.tasks):
            task.drop()

    @property
    def next_due(self) -> int | None:
        return self._due[0][0] if self._due else None

    def step(self) -> bool:
        """Let the next thing happen; False: nothing is left."""
        if not self._due:
            return False
        due, _, _, call = heapq.heappop(self._due)
        self.now = max(self.now, due)
        call()
        return True


class Task:
    """A coroutine on its way.

    `gate` is asked before each step how long it must still wait: 0 is not at all, None is for ever, because
    whoever ran it is gone. `sent` is true while a call of it is on its way to the database: such a call may
    be carried out although its caller stands still, or is gone.
    """

    __slots__ = ("_coroutine", "_done", "_failed", "_gate", "_scheduler", "lingers", "over", "sent")

    def __init__(
        self,
        scheduler: Scheduler,
        coroutine: Coroutine[Any, None, Any],
        *,
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        gate: "Callable[[Task], int | None]",
    ) -> None:
        self._scheduler = scheduler
        self._coroutine = coroutine
        self._done = done
        self._failed = failed
        self._gate = gate
        self.sent = False
        self.lingers = False  # its call is carried out, whatever became of its caller
        self.over = False
        scheduler.tasks[self] = None

    def go(self) -> None:
        """Step it once, if it may be; until it waits, or ends."""
        if self.over:
            return
        wait = self._gate(self)
        if wait is None:
            self.drop()
        elif wait:
            self._scheduler.after(wait, self.go)
        else:
            self._step()

    def _step(self) -> None:
        before, self._scheduler.current = self._scheduler.current, self
        try:
            delay = self._coroutine.send(None)
        except StopIteration as end:
            self._end()
            self._done(end.value)
        except Exception as error:  # noqa: BLE001 - it is for whoever waits for the answer
            self._end()
            self._failed(error)
        else:
            self._scheduler.after(delay.millis, self.go)
        finally:
            self._scheduler.current = before

    def _end(self) -> None:
        self.over = True
        self._scheduler.tasks.pop(self, None)

    def drop(self) -> None:
        """It is never stepped again."""
        if not self.over:
            self._end()
            self._coroutine.close()
