"""How a program under measurement is asked for work: a line of standard input, a line of JSON in return.

    W2 1000
    {"seconds": 0.21}

This file needs nothing but Python: each peer reads it in an environment of its own. `seconds` is from the
first submit until everything has finished; `late` has one figure per run, in seconds.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

Answer = Mapping[str, Any]
Work = Mapping[str, Callable[[int], Answer]]
AsyncWork = Mapping[str, Callable[[int], Awaitable[Answer]]]


class Caller:
    """Whoever asks. Everything else that is printed goes to standard error."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def tell(self, **said: Any) -> None:
        """One line."""
        print(json.dumps(said), file=self._out, flush=True)

    def asked(self) -> Iterator[tuple[str, int]]:
        """What is wanted, and how much of it, until the other end is closed."""
        while line := sys.stdin.readline():
            name, _, size = line.strip().partition(" ")
            yield name, int(size or 0)


def serve(work: Work, **about: Any) -> None:
    """Do what is asked, in a program without an event loop."""
    caller = Caller()
    caller.tell(ready=True, **about)
    for name, size in caller.asked():
        caller.tell(**work[name](size))


async def serve_async(work: AsyncWork, **about: Any) -> None:
    """Do what is asked; the event loop is free while nothing is."""
    caller = Caller()
    asked = caller.asked()
    caller.tell(ready=True, **about)
    while (found := await asyncio.to_thread(next, asked, None)) is not None:
        name, size = found
        caller.tell(**await work[name](size))
