"""A program that answers a question of its run before it is asked, says so, and waits to be killed."""

import asyncio
import sys
import threading
from typing import Any

from tests.waiting import until

from stretto.flow.engine import Engine
from stretto.flow.engine.run import Run
from stretto.flow.steps import step
from stretto.flow.waits import wait
from stretto.flow.workflow import workflow

OPEN = threading.Event()


@step
async def prepare(text: str) -> str:
    await until(OPEN.is_set)
    return text


@step
def greet(text: str, name: str) -> str:
    return f"{text} {name}"


@workflow(run_strategy="parallel")
def greeting(text: str) -> str:
    prepared = prepare(text)
    name = wait(id="name", returns=str).after(prepared)  # type: ignore[attr-defined]
    return greet(prepared, name)


async def kept(run: Run[Any], step_id: str) -> None:
    """Until an early answer is stored with its run."""

    async def is_kept() -> bool:
        lines = (await run.look()).timeline
        return any(str(line).endswith(f"step [{step_id}] before it asks") for line in lines)

    await until(is_kept)


async def main(url: str) -> None:
    async with Engine(url) as engine:
        run = await engine.submit(greeting, text="hello")
        await run.answer("name", result="ann", request_id="first")
        await kept(run, "name")
        print("answered", flush=True)  # noqa: T201 - the test reads it
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
