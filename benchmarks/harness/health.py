"""How late a server answers `/health`, as a process beside it asks.

python -m benchmarks.harness.health PORT

A question is due every 20 ms, on one connection. What counts is the time from when it was due to its answer:
while the server answers one late, those that become due meanwhile are late, too.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from benchmarks.harness.companion import Companion, beside, report, work_until_told
from benchmarks.harness.http import Connection, quantile

EVERY: Final = 0.02  # seconds


class Lag(NamedTuple):
    """Of all answers, in milliseconds."""

    p50: float
    p99: float
    longest: float
    failures: int  # answers that were not 200


async def ask(port: int) -> Lag:
    """Until the input ends; a question that is then under way counts with its age."""
    loop = asyncio.get_running_loop()
    connection = await Connection.to(port)
    late: list[float] = []
    failures = 0
    due = loop.time()

    async def run() -> None:
        nonlocal due, failures
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            answer = await connection.ask("GET", "/health")
            failures += answer.status != 200
            late.append(loop.time() - due)
            due += EVERY

    asking = asyncio.create_task(run())
    told = asyncio.create_task(work_until_told())
    await asyncio.wait({asking, told}, return_when=asyncio.FIRST_COMPLETED)
    while due < loop.time():
        late.append(loop.time() - due)
        due += EVERY
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking  # raises, if the server has ended the connection
    millis = [1e3 * each for each in late]
    return Lag(quantile(millis, 0.5), quantile(millis, 0.99), max(millis), failures)


class Health:
    """The process, as the one that measures has it."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion

    def end(self) -> Lag:
        return Lag(*self._companion.end())


@contextmanager
def asking_health(port: int) -> Iterator[Health]:
    with beside("health", port) as companion:
        yield Health(companion)


if __name__ == "__main__":
    report(asyncio.run(ask(int(sys.argv[1]))))
