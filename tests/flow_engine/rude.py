"""Functions that raise what no `except Exception` catches."""

import asyncio
import sys

from stretto.flow.steps import step


class Odd(BaseException):
    """Not an `Exception`."""


ERRORS = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "GeneratorExit": GeneratorExit,
    "CancelledError": asyncio.CancelledError,
    "Odd": Odd,
}


@step
async def in_loop(error: str) -> str:
    await asyncio.sleep(0)
    raise ERRORS[error]("rude")


@step
def in_thread(error: str) -> str:
    raise ERRORS[error]("rude")


@step(isolation="process")
def in_process(error: str) -> str:
    raise ERRORS[error]("rude")


@step
async def in_task() -> str:
    async def leave() -> None:
        sys.exit("rude")

    await asyncio.create_task(leave())
    return "never"


@step
async def polite() -> str:
    return "polite"


@step(isolation="process")
def arguments() -> list[str]:
    return sys.argv
