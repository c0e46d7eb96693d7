"""A process of the old release: python release.py URL.

It says `ready` once it runs, and on SIGTERM it hands its runs over and ends.
"""

import asyncio
import signal
import sys
from typing import Any

from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import Flow, workflow

SETTINGS = {
    "node.beat_every": "200ms",
    "node.fetch_late": "200ms",
    "node.claim_every": "1s",
    "node.calm_after": "1s",
}


@step(name="release_base")
async def base(number: int) -> int:
    return number


@workflow(id="release_before", run_strategy="parallel")
def before(number: int) -> int:
    return base(base(number))


async def main(url: str, *known: Any) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Engine(url, config=SETTINGS, on_stop="hand_over") as engine:
        engine.register(*known)
        for each in known:
            if isinstance(each, Flow):
                await engine.publish(each)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], base, before))
