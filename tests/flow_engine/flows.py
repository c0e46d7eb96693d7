"""Workflows for the tests of the engine."""

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.waiting import until

from stretto.flow.engine import Engine, RunChange
from stretto.flow.steps import step
from stretto.flow.workflow import workflow

T = TypeVar("T")

CALLS: list[Any] = []  # what functions did, in order
GATES: dict[str, asyncio.Event] = {}  # what `held` waits for, by name
BLOCKS: dict[str, threading.Event] = {}  # what `blocked` waits for


def finish(work: Coroutine[Any, Any, T], seconds: float = 250) -> T:
    async def within() -> T:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(within())


async def seen(wanted: Any, count: int = 1) -> None:
    """Until a function has been called."""
    await until(lambda: CALLS.count(wanted) >= count, f"call {count} of {wanted!r}")


async def something_else(engine: Engine) -> None:
    """A run of another workflow, to its end: what the engine had to do before, it has done by then."""
    assert await engine.run(aside) == "aside"


def opens_when_paused(engine: Engine, workflow_id: str | None = None) -> None:
    """The gate opens once a run is paused: what is held then ends, and nothing new begins."""

    @engine.on("paused")
    async def paused(change: RunChange) -> None:
        if workflow_id in {None, change.key.workflow_id}:
            GATES["gate"].set()


@dataclass
class Counts:
    read: int
    written: int


@step
async def extract(day: str) -> list[int]:
    CALLS.append(f"extract {day}")
    return [1, 2, 3]


@step
def load(rows: list[int], table: str = "events") -> Counts:
    CALLS.append(f"load {table}")
    return Counts(read=len(rows), written=sum(rows))


@workflow(run_strategy="parallel")
def etl(day: str) -> Counts:
    return load(extract(day))


@step
async def say(word: str) -> str:
    CALLS.append(word)
    return word


@step
async def look_aside() -> str:
    return "aside"


@workflow(id="aside", run_strategy="parallel")
def aside() -> str:
    return look_aside()


@step(name="a name of its own")
async def renamed(word: str) -> str:
    CALLS.append(word)
    return word


@step
async def held(name: str) -> str:
    CALLS.append(f"begin {name}")
    await GATES.setdefault(name, asyncio.Event()).wait()
    CALLS.append(f"end {name}")
    return name


@step
def blocked(name: str) -> str:
    CALLS.append(f"begin {name}")
    BLOCKS.setdefault(name, threading.Event()).wait(30)
    CALLS.append(f"end {name}")
    return name


@step
async def broken(text: str = "no such table") -> int:
    CALLS.append("broken")
    raise ValueError(text)


@workflow(run_strategy="parallel")
def talk(first: str = "one", last: str = "three") -> str:
    """Something, a step that is held, and something more."""
    a = say(first)
    b = held("gate").after(a)  # type: ignore[attr-defined]
    return say(last).after(b)  # type: ignore[attr-defined,no-any-return]


@workflow(run_strategy="parallel")
def failing() -> int:
    return broken()


@workflow(run_strategy="parallel")
def threaded() -> str:
    return blocked("thread")


@workflow(run_strategy="parallel")
def nothing() -> None:
    say("nothing")


@workflow(run_strategy="parallel")
def named() -> str:
    first = held("gate")
    return renamed("mine").after(first)  # type: ignore[attr-defined,no-any-return]
