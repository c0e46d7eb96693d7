"""Functions that workers call: good ones, and all kinds of bad ones."""

import asyncio
import functools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from stretto.runtimes.python import Fatal, PlatformTrouble, Service, StepContext

CALLS: list[int] = []


@dataclass
class Order:
    number: int
    day: date


class Database:
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.made_here = type(self).made


def add(a: int, b: int = 1) -> int:
    return a + b


def everything(**params: Any) -> dict[str, Any]:
    return params


def shipped(order: Order, at: float) -> Order:
    return Order(order.number + 1, order.day.replace(day=int(at)))


def smallest(numbers: set[int]) -> set[int]:
    return {min(numbers)}


async def add_later(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def makes_coroutine(a: int) -> Any:
    return add_later(a, 1)


async def leaves_task() -> int:
    task = asyncio.create_task(asyncio.sleep(1000))
    await asyncio.sleep(0)
    CALLS.append(id(task))
    return len(asyncio.all_tasks())


def pid() -> int:
    return os.getpid()


def group() -> list[int]:
    return [os.getpid(), os.getpgrp(), os.getsid(0)]


def environment() -> list[str]:
    return sorted(name for name in os.environ if name.startswith("STRETTO"))


# ----------------------------------------------------------------------------------------------------- ends
def fails() -> None:
    raise ValueError("no such table")


async def fails_later() -> None:
    raise KeyError("gone")


def is_fatal() -> None:
    raise Fatal("never again")


def is_platform() -> None:
    raise PlatformTrouble("the disk is full")


def exits() -> None:
    sys.exit(3)


def interrupts() -> None:
    raise KeyboardInterrupt


async def interrupts_later() -> None:
    await asyncio.sleep(0)
    raise KeyboardInterrupt


async def exits_in_a_task() -> None:
    async def leave() -> None:
        sys.exit(3)

    await asyncio.create_task(leave())


async def cancels_itself() -> None:
    raise asyncio.CancelledError


def exits_at_once(code: int) -> None:
    os._exit(code)


def ends_itself(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def eats_memory() -> int:
    held = []
    while True:
        held.append(bytearray(os.urandom(1024) * 4096))
        time.sleep(0.001)


def eats_at_once(size: int) -> int:
    return len(bytearray(size))


def returns_object() -> Any:
    return {"a": [object()]}


def returns_much(size: int) -> str:
    return "x" * size


# -------------------------------------------------------------------------------------------------- endless
def note_pids(file: str, *others: int) -> None:
    Path(f"{file}.new").write_text(" ".join(map(str, (os.getpid(), *others))))
    Path(f"{file}.new").rename(file)


def spins(file: str) -> None:
    note_pids(file)
    while True:
        pass


def sleeps(file: str) -> None:
    note_pids(file)
    time.sleep(1000)


def ignores(file: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note_pids(file)
    while True:
        time.sleep(0.1)


def swallows(file: str) -> None:
    """Goes on whatever it is told, and notes that it was."""
    note_pids(file)
    while True:
        try:
            time.sleep(1000)
        except BaseException:  # noqa: BLE001 - whatever it is
            Path(f"{file}.told").touch()


def blocks_signals(file: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    note_pids(file)
    time.sleep(1000)


def holds_gil(file: str) -> int:
    note_pids(file)
    return sum(range(10**15))


async def awaits(file: str, cleaned: str) -> None:
    note_pids(file)
    try:
        await asyncio.sleep(1000)
    finally:
        await asyncio.sleep(0.01)
        note_pids(cleaned)


def cleans(file: str, cleaned: str, ctx: StepContext) -> None:
    note_pids(file)
    try:
        ctx.sleep(1000)
    finally:
        ctx.note("cleaning")
        Path(cleaned).write_text(str(ctx.cancelled))


def has_children(file: str) -> None:
    """A shell with a child of its own, one that has left the group, and one that is forked."""
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & sleep 1000; true"])
    away = subprocess.Popen(["/bin/sh", "-c", "sleep 1000; true"], start_new_session=True)
    forked = os.fork()
    if not forked:
        while True:
            time.sleep(1)
    note_pids(file, shell.pid, away.pid, forked)
    shell.wait()


def leaves_children(file: str) -> str:
    inside = subprocess.Popen(["/bin/sleep", "1000"])
    away = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    note_pids(file, inside.pid, away.pid)
    return "done"


def leaves_daemon(file: str) -> str:
    """Forked twice: its parent is gone."""
    middle = os.fork()
    if not middle:
        os.setsid()
        inner = os.fork()
        if inner:
            note_pids(file, inner)
            os._exit(0)
        time.sleep(1000)
        os._exit(0)
    os.waitpid(middle, 0)
    return "done"


def forks_and_both_return() -> int:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return 1 if child else 2


def waits_for_child() -> int:
    return subprocess.run(["/bin/true"], check=True).returncode


def leaves_zombie() -> int:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return 1


# ------------------------------------------------------------------------------------------------- printing
def prints(text: str, times: int = 1) -> None:
    for _ in range(times):
        print(text)  # noqa: T201
    print("why", file=sys.stderr)  # noqa: T201


def hangs_up() -> None:
    """Closes everything, the socket to the engine included."""
    os.closerange(3, 256)
    time.sleep(1000)


def talks_nonsense(file: str) -> None:
    for number in range(3, 256):
        with suppress(OSError):
            os.write(number, bytes.fromhex(file))
    time.sleep(1000)


def prints_much(size: int) -> None:
    block = b"x" * 65536
    for _ in range(size // len(block)):
        os.write(1, block)


def closes_output() -> str:
    sys.stdout.close()
    return "ok"


# -------------------------------------------------------------------------------------------------- context
def knows(ctx: StepContext, day: date) -> dict[str, Any]:
    return {
        "run": list(ctx.run),
        "step": ctx.step_id,
        "attempt": ctx.attempt,
        "launch": ctx.launch,
        "upstream": ctx.upstream,
        "params": {name: str(value) for name, value in ctx.params.items()},
        "is_date": isinstance(ctx.params["day"], date) and isinstance(day, date),
        "cancelled": ctx.cancelled,
    }


def tells(ctx: StepContext) -> None:
    ctx.progress(0.5, "half")
    ctx.heartbeat()
    ctx.note("a note", "WARN")
    ctx.logger.warning("took %d s", 3)
    ctx.logger.debug("not wanted")
    ctx.fire("ready", rows=3, parts=["a", "b"], share=0.5)
    ctx.add(add, {"a": 1}, id="first")
    ctx.add(add, {"a": 2}, id="second", after="first")
    ctx.redirect("extract")
    ctx.logger.log(logging.INFO, "%d", "no number")


def tells_much(ctx: StepContext, times: int) -> None:
    for number in range(times):
        ctx.progress(number / times)
        ctx.heartbeat()
    ctx.progress(1.0, "all")


def tells_from_thread(ctx: StepContext) -> None:
    thread = threading.Thread(target=ctx.note, args=("from a thread",))
    thread.start()
    thread.join()


async def waits_cancelled(ctx: StepContext, file: str) -> None:
    note_pids(file)
    try:
        await ctx.wait_cancelled()
    except asyncio.CancelledError:
        await ctx.wait_cancelled()
    ctx.note("I was told")


def uses_service(db: Service[Database]) -> int:
    return db.made_here


def asks_service(ctx: StepContext, key: str) -> Any:
    return type(ctx.service(key)).__name__


def broken_factory() -> None:
    raise OSError("no connection")


def decorated(call: Any) -> Any:
    @functools.wraps(call)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs) + 100

    return inner


@decorated
def add_wrapped(a: int) -> int:
    return a + 1


class Tools:
    @staticmethod
    def double(a: int) -> int:
        return 2 * a


bound = functools.partial(add, b=40)
NUMBER = 3
