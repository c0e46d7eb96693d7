"""A process among several that share a database: python -m tests.flow_engine.crowd URL.

It says `ready` once it runs, and goes on until it is killed.
"""

import asyncio
import sys
from pathlib import Path

from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.runtimes.python import StepContext

STEPS = 5
# One of two processes is killed every few seconds: groups are soon handled without notes again.
SETTINGS = {"node.calm_after": "1s"}


@step(name="crowd_work")
async def crowd_work(ctx: StepContext, ledger: str, number: int, before: int) -> int:
    """A little work, which leaves its traces in a file."""
    place = f"{ctx.run.workflow_id}/{ctx.run.instance_id} {number}"
    note(ledger, f"begin {place}")
    await asyncio.sleep(0.05)
    note(ledger, f"end {place}")
    return before + number


@workflow(run_strategy="parallel")
def crowd(ledger: str) -> int:
    total = 0
    for number in range(1, STEPS + 1):
        total = crowd_work(ledger=ledger, number=number, before=total)  # type: ignore[call-arg]
    return total


def note(ledger: str, line: str) -> None:
    """One write: lines of several processes never mix."""
    with Path(ledger).open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


async def main(url: str) -> None:
    async with Engine(url, config=SETTINGS, modules=[sys.modules[__name__]]) as engine:
        await engine.publish(crowd)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
