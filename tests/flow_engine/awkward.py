"""Functions for worker processes that something is wrong with."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from stretto import StepContext


def whole(n: int) -> int:
    return n


def told(ctx: StepContext, n: int, word: str = "none") -> str:
    """Says everything that a context can take."""
    print("printed", word)  # noqa: T201 - it is what is tried
    ctx.logger.info("logged %s", word)
    ctx.progress(0.5, "half")
    ctx.heartbeat()
    ctx.note("noted")
    return f"{ctx.step_id} {n} {word} {ctx.attempt}"


def fails() -> None:
    raise ValueError("no such table")


def not_json() -> Any:
    return object()


def too_large() -> str:
    return "x" * (100 * 1024 * 1024)


def prints_much() -> int:
    line = b"x" * 99 + b"\n"
    for _ in range(1_000):
        sys.stdout.buffer.write(line * 1_000)
    return 1


def leaves() -> int:
    """A child that outlives its parent."""
    child = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
    return child.pid


def exits() -> None:
    sys.exit(3)


def exits_hard() -> None:
    os._exit(3)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes() -> None:
    ctypes.string_at(0)


def eats() -> int:
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))


def lingers(file: str) -> None:
    Path(file).touch()
    time.sleep(300)
