"""Ways to see what is left of a command."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from stretto.ports.runtime import Launch

PATIENCE = 30.0  # seconds; a machine may be busy


def left_of(launch: Launch | str) -> list[int]:
    """Processes that have the mark of a launch in their environment, wherever they are. Zombies do not."""
    return [pid for pid in pids() if f"STRETTO_LAUNCH={launch}" in environment(pid)]


def pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def environment(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def wait_until(is_so: Callable[[], object], within: float = PATIENCE) -> float:
    """Seconds until something is so."""
    begun = time.monotonic()
    while not is_so():
        assert time.monotonic() - begun < within, "it never came to that"
        time.sleep(0.005)
    return time.monotonic() - begun


async def wait_for(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)
