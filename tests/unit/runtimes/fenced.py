"""Work that shows when it begins, and goes on until it is allowed to end."""

import asyncio
import time
from pathlib import Path


def block(begun: str, until: str) -> str:
    Path(begun).touch()
    while not Path(until).exists():
        time.sleep(0.005)
    return "done"


async def wait(begun: str, until: str) -> str:
    Path(begun).touch()  # noqa: ASYNC240 - a moment
    while not Path(until).exists():  # noqa: ASYNC110, ASYNC240 - nobody tells
        await asyncio.sleep(0.005)
    return "done"


SCRIPT = 'touch "{begun}"; while [ ! -e "{until}" ]; do sleep 0.02; done'
