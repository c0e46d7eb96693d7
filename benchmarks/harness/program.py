"""A program that is measured: started, asked for work, watched, ended."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryFile
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Final, Self

from benchmarks.harness.usage import cpu_of, memory_of
from benchmarks.harness.workloads import Measured, Workload, measured

ROOT: Final = Path(__file__).parents[2]
ROUNDS: Final = 3  # after one that warms up
READY_WITHIN: Final = 240.0
ANSWER_WITHIN: Final = 900.0


class Trouble(Exception):
    """A program does not do what it is asked for, and what it said last."""


class Program:
    """A program that speaks `protocol`, with all processes that it starts."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        ready_within: float = READY_WITHIN,
    ) -> None:
        self._said = TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            cwd=ROOT,
            env=surroundings(environment),
            start_new_session=True,
            text=True,
        )
        self._answers: Queue[str] = Queue()
        threading.Thread(target=self._hear, daemon=True).start()
        begun = perf_counter()
        self.about = self._answer(ready_within)
        self.ready_after = perf_counter() - begun

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, name: str, size: int) -> None:
        """Ask, and do not wait; `heard` does."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{name} {size}\n")
            self._process.stdin.flush()

    def heard(self) -> dict[str, Any]:
        return self._answer(ANSWER_WITHIN)

    def ask(self, name: str, size: int) -> dict[str, Any]:
        """One round of some work; `cpu` is what the program itself used for it, in seconds."""
        before = self.cpu()
        self.tell(name, size)
        found = self.heard()
        return {**found, "cpu": self.cpu() - before}

    def measure(self, workload: Workload, size: int | None = None, rounds: int = ROUNDS) -> Measured:
        """The median of some rounds, after one that warms up."""
        wanted = size or workload.size
        self.ask(workload.name, wanted)
        return measured(workload, wanted, [self.ask(workload.name, wanted) for _ in range(rounds)])

    def cpu(self) -> float:
        """Seconds that the threads of the program have used, children apart."""
        return cpu_of(self.pid)

    def memory(self) -> float:
        """Megabytes that the program and its children hold; what they share counts once."""
        return memory_of(self.pid)

    def close(self) -> None:
        """Closes its input, by which it goes; whoever does not is ended. Idempotent."""
        assert self._process.stdin is not None
        if self._said.closed:
            return
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._said.close()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def _answer(self, within: float) -> dict[str, Any]:
        deadline = monotonic() + within
        try:
            line = self._answers.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            line = ""
        if not line:
            said = self._last_words()
            self.close()
            raise Trouble(said)
        found: dict[str, Any] = json.loads(line)
        return found

    def _last_words(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace")[-2_000:] or "it said nothing"


def ours(kind: str, url: str) -> Program:
    """Stretto: `noop`, or functions that are `async` or `sync`."""
    return Program([sys.executable, "-m", "benchmarks.ours", kind, url])


def surroundings(more: Mapping[str, str] | None) -> dict[str, str]:
    """Ours with some more. What is installed has its bytecode, so what is linked in may keep its own, too."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **(more or {})}


def timed(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> float:
    """Seconds of a whole process."""
    begun = perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=surroundings(environment), capture_output=True, check=False
    )
    spent = perf_counter() - begun
    if done.returncode:
        raise Trouble((done.stderr or done.stdout).decode(errors="replace")[-2_000:])
    return spent
