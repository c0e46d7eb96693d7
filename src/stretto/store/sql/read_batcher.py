"""What is asked in one turn of an event loop is answered with one way to the database, for all who asked."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class ReadBatcher(Generic[Q, A]):
    """Questions of one kind. `carry_out` gets those of a turn, and answers each, or says why it can not."""

    def __init__(self, carry_out: Callable[[Sequence[Q]], Awaitable[Sequence[A | Exception]]]) -> None:
        self._carry_out = carry_out
        self._asked: dict[asyncio.AbstractEventLoop, list[tuple[Q, asyncio.Future[A]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, question: Q) -> A:
        """The answer, read or written after this was called."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[A] = loop.create_future()
        asked = self._asked.get(loop)
        if asked is None:
            asked = self._asked[loop] = []
            task = loop.create_task(self._answer(loop))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        asked.append((question, waiter))
        return await waiter

    async def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Who does not wait any more is passed over."""
        asked = [each for each in self._asked.pop(loop) if not each[1].done()]
        if not asked:
            return
        answers: Sequence[A | Exception]
        try:
            answers = await self._carry_out([question for question, _waiter in asked])
        except Exception as error:  # noqa: BLE001 - it is told to all who asked
            answers = [error] * len(asked)
        for (_question, waiter), answer in zip(asked, answers, strict=True):
            if waiter.done():
                continue
            if isinstance(answer, Exception):
                waiter.set_exception(answer)
            else:
                waiter.set_result(answer)
