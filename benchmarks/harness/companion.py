"""Processes of the harness that work beside a server, so that what they cost is not the server's.

Such a process prints a line when it is at work. When its input ends, it prints what it has found, as JSON.
"""

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Any

from benchmarks.harness.program import ROOT, surroundings


class Companion:
    """The process, as the one that measures has it."""

    def __init__(self, process: "Popen[str]") -> None:
        self._process = process

    def end(self) -> Any:
        """Let it go; what it has found."""
        said, _ = self._process.communicate()
        return json.loads(said)


@contextmanager
def beside(module: str, *arguments: object) -> Iterator[Companion]:
    """A module of the harness as a process, from the moment when it is at work."""
    command = [sys.executable, "-m", f"benchmarks.harness.{module}", *map(str, arguments)]
    process = Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True, env=surroundings(None))
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise OSError(f"{' '.join(command[2:])} has ended before it was at work")
        yield Companion(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


async def work_until_told() -> None:
    """Say that the process is at work, and wait until its input ends."""
    print("at work", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def report(found: Sequence[float]) -> None:
    print(json.dumps(found), flush=True)
