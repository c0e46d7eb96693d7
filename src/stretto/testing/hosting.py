"""A node in virtual time: the machine and performer that ship, driven by a scheduler, without asyncio."""

import math
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from stretto.engine.events import Reported
from stretto.node.asks import Ask
from stretto.node.machine import Node
from stretto.node.performer import Performer
from stretto.testing.scheduler import Scheduler, Task

MOST_WAKES: Final = 300  # within a second, without being told anything: then it does nothing but being woken


class Hosted:
    """A process with a node in it. Whoever wants to interfere overrides what is marked as a hook."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.alive = True
        self.node: Node
        self.performer: Performer
        self._tasks: dict[Task, None] = {}
        self._wake_at: int | None = None
        self._woken_at = -1
        self._idle_wakes = 0  # since something was told to it, in this second
        self._idle_since = 0

    def host(self, node: Node, performer: Performer) -> None:
        """Begin."""
        self.node = node
        self.performer = performer
        performer.report_to(self._reported)
        node.begin()
        self.turn()

    def steady(self) -> float:
        """The clock of the node, in seconds."""
        return self.scheduler.now / 1_000

    # ------------------------------------------------------------------------------------------------- hooks
    @property
    def stands_still(self) -> int:
        """Hook: for how many milliseconds more nothing of it moves."""
        return 0

    def soon(self) -> int:
        """Hook: how long it takes until the node looks at what it was told."""
        return 0

    def asks(self, ask: Ask) -> None:
        """Hook: the node asks something."""

    def hears(self, ask: Ask, answer: Any) -> None:
        """Hook: the node was told the answer."""

    def hears_error(self, ask: Ask, error: Exception) -> None:
        """Hook: the node was told an error."""

    def told(self, event: Reported) -> Reported:
        """Hook: what a runtime said, as the node is told."""
        return event

    def spins(self) -> None:
        """Hook: the node wants to be woken again and again, and does nothing."""
        message = "the node does nothing but being woken"
        raise RuntimeError(message)

    def left(self) -> None:
        """Hook: the node has left."""

    def goes_wrong(self, error: Exception) -> None:
        """Hook: something was raised that nobody waits for."""
        raise error

    # ------------------------------------------------------------------------------------------------ driving
    def turn(self) -> None:
        """Start what the node asks for, and see when it must be woken."""
        if not self.alive:
            return
        for ask in self.node.take():
            self.asks(ask)
            self.begin(self._answer(ask), partial(self._answered, ask), partial(self._failed, ask))
        if self.node.gone:
            self.end()
            self.left()
            return
        wake = self.node.next_wake
        if not math.isinf(wake):
            due = math.ceil(wake * 1_000)
            self._wake_by(due if due > self._woken_at else self._woken_at + 1)

    def happened(self) -> None:
        """Something was told to the node: it looks at it soon, with whatever else comes until then."""
        self._idle_wakes = 0
        self.turn()
        if self.alive:
            self._wake_by(self.scheduler.now + self.soon())

    def _wake_by(self, due: int) -> None:
        now = self.scheduler.now
        if self._wake_at is None or due < self._wake_at:
            self._wake_at = max(now, due)
            self.scheduler.after(self._wake_at - now, partial(self._wake, self._wake_at))

    def _wake(self, due: int) -> None:
        if self._wake_at != due or not self.alive:
            return
        if self.stands_still:
            self.scheduler.after(self.stands_still, partial(self._wake, due))
            return
        self._wake_at, self._woken_at = None, self.scheduler.now
        if self.scheduler.now - self._idle_since > 1_000:
            self._idle_since, self._idle_wakes = self.scheduler.now, 0
        self._idle_wakes += 1
        if self._idle_wakes > MOST_WAKES:
            self.spins()
            return
        self.node.wake()
        self.turn()

    # ------------------------------------------------------------------------------------------------- tasks
    def begin(
        self,
        coroutine: Coroutine[Any, None, Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Let a coroutine go, until it ends or the process does."""
        task: Task

        def over(call: Callable[[Any], None]) -> Callable[[Any], None]:
            def called(value: Any) -> None:
                self._tasks.pop(task, None)
                call(value)

            return called

        task = Task(self.scheduler, coroutine, done=over(done), failed=over(failed), gate=self._gate)
        self._tasks[task] = None
        self.scheduler.after(0, task.go)  # in its turn: many can begin at the same moment

    def spawn(self, millis: int, make: Callable[[], Coroutine[Any, None, Any]]) -> None:
        """Work that goes on beside the calls: a coroutine that begins after a while."""

        def go() -> None:
            if self.alive and self.stands_still:
                self.scheduler.after(self.stands_still, go)
            elif self.alive:
                self.begin(make(), _ignore, self.goes_wrong)

        self.scheduler.after(millis, go)

    def _gate(self, task: Task) -> int | None:
        if task.lingers and task.sent:
            return 0
        return self.stands_still if self.alive else None

    async def _answer(self, ask: Ask) -> Any:
        answer = await self.performer.answer(ask)
        return self.told(answer) if isinstance(answer, Reported) else answer

    def _answered(self, ask: Ask, answer: Any) -> None:
        self.node.answered(ask, answer)
        self.hears(ask, answer)
        self.happened()

    def _failed(self, ask: Ask, error: Exception) -> None:
        self.node.failed(ask, error)
        self.hears_error(ask, error)
        self.happened()

    def _reported(self, event: Reported) -> None:
        """A runtime reports by itself."""
        self.node.reported(self.told(event))
        self.happened()

    # --------------------------------------------------------------------------------------------------- end
    def let_linger(self, lingers: Callable[[], bool]) -> None:
        """Calls that are on their way to the database may arrive, although their caller is gone."""
        for task in self._tasks:
            task.lingers = task.sent and lingers()

    def end(self) -> None:
        """Be gone: nothing that was begun is finished, but for calls that linger."""
        self.alive = False
        for task in [each for each in self._tasks if not each.lingers]:
            if task is not self.scheduler.current:  # that one is dropped when it is to go on
                task.drop()


def _ignore(_answer: object) -> None:
    """Nobody waits for it."""
