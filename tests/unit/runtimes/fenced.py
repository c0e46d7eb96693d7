"""Work that shows when it begins, and goes on until it is allowed to end."""

from pathlib import Path

from tests import waiting
from tests.waiting import wait_until


def block(begun: str, until: str) -> str:
    Path(begun).touch()
    wait_until(Path(until).exists)
    return "done"


async def wait(begun: str, until: str) -> str:
    Path(begun).touch()  # noqa: ASYNC240 - a moment
    await waiting.until(Path(until).exists)
    return "done"


SCRIPT = 'touch "{begun}"; while [ ! -e "{until}" ]; do sleep 0.02; done'
