"""Work that is hard to end, as steps: each writes into a file which processes it is made of, and goes on."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from stretto import Flow, step, workflow

PIPELINE = "sleep 300 | sleep 300 & sh -c 'sleep 300 & wait' & sleep 300 | sleep 300"


def _begun(file: str, *pids: int) -> None:
    """In one move, so that a reader never sees half of it."""
    part = Path(f"{file}.part")
    part.write_text(" ".join(map(str, (os.getpid(), *pids))))
    part.rename(file)


@step(isolation="process")
def spins(file: str) -> None:
    """A tight loop, which looks at nothing."""
    _begun(file)
    while True:
        pass


@step(isolation="process")
def ignores(file: str) -> None:
    """Deaf to the request to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _begun(file)
    while True:
        time.sleep(0.05)


@step(isolation="process")
def holds_gil(file: str) -> None:
    """In C, which lets nobody else run: a handler of a signal would wait for years."""
    _begun(file)
    re.match(r"(a+)+$", "a" * 60 + "b")


@step(isolation="process")
def pipes(file: str) -> None:
    """With children and grandchildren, which hear nothing of what the function is told."""
    shell = subprocess.Popen(["/bin/sh", "-c", PIPELINE])  # noqa: S603 - our own
    found = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
    _begun(file, shell.pid, found.pid)
    shell.wait()


@step(isolation="process")
def nothing() -> None:
    """Has a worker started, and all that is needed imported."""


@workflow
def warm() -> None:
    nothing()


def _flow(name: str, work: Any) -> Flow[[str], None]:
    @workflow(id=name)
    def run(file: str) -> None:
        work(file)

    return run


WORK: dict[str, Any] = {"spins": spins, "ignores": ignores, "holds_gil": holds_gil, "pipes": pipes}
HARD = {name: _flow(name, work) for name, work in WORK.items()}
LIMITED = {
    name: _flow(f"{name}_limited", work.with_options(timeout=4, timeout_retries=0))
    for name, work in WORK.items()
}
