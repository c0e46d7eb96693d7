"""A thin asyncio loop around a node: it carries out what the node asks, and tells it what came of it."""

import asyncio
from collections.abc import Collection

from stretto.engine.events import Reported
from stretto.engine.records import RunKey
from stretto.node.asks import Ask
from stretto.node.machine import Node
from stretto.node.performer import Performer
from stretto.ports.clock import Clock
from stretto.ports.hints import Hints


class Driver:
    """Runs one node until it has left. All calls of the node happen in one event loop."""

    def __init__(self, node: Node, performer: Performer, clock: Clock, hints: Hints) -> None:
        self.node = node
        self._performer = performer
        self._clock = clock
        self._hints = hints
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Event()

    async def run(self) -> None:
        """Until `node.stop()` was called and everything is handed over. Cancelled: as if it had crashed."""
        quiet = self._hints.listen(self._heard)
        self._performer.report_to(self._reported)
        try:
            self.node.begin()
            while not self.node.gone:
                self._carry_out()
                await self._sleep()
                self.node.wake()
        finally:
            quiet()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        self.node.stop()
        self._turn.set()

    def functions_changed(self) -> None:
        """Functions were registered: steps that wait for them may begin."""
        self.node.functions_changed()
        self._turn.set()

    # ------------------------------------------------------------------------------------------------- turns
    async def _sleep(self) -> None:
        """Until the node wants to be woken, or something has happened."""
        turn = self._turn
        if not turn.is_set():
            wait = max(0.0, self.node.next_wake - self._clock.steady())
            alarm = asyncio.get_running_loop().call_later(min(wait, 3_600), turn.set)
            try:
                await turn.wait()
            finally:
                alarm.cancel()
        turn.clear()

    def _carry_out(self) -> None:
        for ask in self.node.take():
            task = asyncio.create_task(self._answer(ask))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, ask: Ask) -> None:
        try:
            answer = await self._performer.answer(ask)
        except Exception as error:  # noqa: BLE001 - the node decides what each error means
            self.node.failed(ask, error)
        else:
            self.node.answered(ask, answer)
        self._turn.set()

    def _heard(self, groups: Collection[int], admitted: Collection[RunKey]) -> None:
        self.node.hinted(groups, admitted)
        self._turn.set()

    def _reported(self, event: Reported) -> None:
        self.node.reported(event)
        self._turn.set()
