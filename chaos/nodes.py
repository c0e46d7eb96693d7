"""Node processes: started, killed, frozen, told to leave."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from stretto.ports.clock import machine_steady

ROOT: Final = Path(__file__).parents[1]
LEAVE_WITHIN: Final = 60.0
MARKS: Final = "deadly.txt"  # of processes that a run has killed: see `deadly`


class Death(NamedTuple):
    """Which process was killed, or frozen, and when."""

    pid: int
    at: float


class NodeProcess:
    """One of them. It ends with the process that started it, however that ends."""

    def __init__(
        self,
        folder: Path,
        words: Sequence[str],
        name: str,
        place: int,
        environment: Mapping[str, str],
        says: str = "running",
    ) -> None:
        self.place = place
        self._says = says
        self._log = folder / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env={**_environment(), **environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.frozen = False
        self.was_running = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How it has ended; None: it has not."""
        return self._process.poll()

    @property
    def said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def is_running(self) -> bool:
        self.was_running = self.was_running or self._says in self.said
        return self.was_running and self.code is None

    def kill(self) -> Death:
        """As by a loss of power, as far as a process can tell."""
        at = machine_steady()
        self._process.kill()
        self._process.wait()
        self.close()
        return Death(self.pid, at)

    def freeze(self) -> Death:
        self.frozen = True
        at = machine_steady()
        self._process.send_signal(signal.SIGSTOP)
        return Death(self.pid, at)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self.frozen = False

    async def leave(self) -> int:
        """Ask it to hand over and go."""
        if self.frozen:
            self.thaw()
        if self.code is None:
            self._process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(self._process.wait, LEAVE_WITHIN)
        self.close()
        return code

    def close(self) -> None:
        """Nothing more is said to it."""
        if self._process.stdin is not None:
            self._process.stdin.close()


class Nodes:
    """All of them. One that ends by itself is an error, unless its database was away."""

    def __init__(
        self, folder: Path, url: str, leases: str, program: Sequence[str], commands: int | None
    ) -> None:
        self._folder = folder
        self._program = program
        self._leases = [leases, *([] if commands is None else [str(commands)])]
        self.urls = [url]  # those of the nodes' places, the last one for all that follow
        self.environment_of: Callable[[int], Mapping[str, str]] = lambda _place: {}
        self._number = 0
        self.alive: list[NodeProcess] = []
        self.deaths: list[Death] = []
        self.fallen: list[str] = []  # last words of those that ended by themselves

    def start(self) -> NodeProcess:
        self._number += 1
        taken = {node.place for node in self.alive}
        place = next(place for place in count() if place not in taken)
        url = self.urls[min(place, len(self.urls) - 1)]
        words = [*self._program, str(self._folder), url, *self._leases]
        node = NodeProcess(self._folder, words, f"node-{self._number}", place, self.environment_of(place))
        self.alive.append(node)
        return node

    def kill(self, node: NodeProcess) -> None:
        self.alive.remove(node)
        self.deaths.append(node.kill())

    def bury(self) -> int:
        """Take away those that ended by themselves, or by a run; their number."""
        gone = [node for node in self.alive if node.code is not None]
        for node in gone:
            self.alive.remove(node)
            node.close()
            killed = next((death for death in self.killed_by_a_run if death.pid == node.pid), None)
            if killed is None:
                self.fallen.append(node.said[-2_000:])
            else:
                self.deaths.append(killed)
        return len(gone)

    @property
    def killed_by_a_run(self) -> list[Death]:
        """Those that say so themselves, in the order of their deaths."""
        file = self._folder / MARKS
        lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
        return [Death(int(pid), float(at)) for pid, at in map(str.split, lines)]

    def forget(self) -> None:
        """Take away those that ended by themselves, and think nothing of it."""
        self._keep([node for node in self.alive if node.code is None])

    def forget_unstarted(self) -> None:
        """The same for those that found no database when they started; the others should not have ended."""
        self._keep([node for node in self.alive if node.code is None or node.was_running])
        self.bury()

    def _keep(self, nodes: Sequence[NodeProcess]) -> None:
        for node in self.alive:
            if node not in nodes:
                node.close()
        self.alive = list(nodes)

    async def until_running(self, within: float = 60.0) -> None:
        """Until each of them has opened the database."""
        async with asyncio.timeout(within):
            while not all(node.is_running for node in self.alive):
                fallen = len(self.fallen)
                for _ in range(self.bury()):
                    if len(self.fallen) > fallen:
                        raise RuntimeError(f"a node does not start: {self.fallen[-1]}")
                    self.start()  # a run has killed it
                await asyncio.sleep(0.05)

    async def leave(self, *nodes: NodeProcess) -> None:
        """Gracefully, all at once; without names everybody."""
        going = nodes or tuple(self.alive)
        codes = await asyncio.gather(*(node.leave() for node in going))
        for node, code in zip(going, codes, strict=True):
            self.alive.remove(node)
            if code:
                self.fallen.append(f"exit code {code}: {node.said[-2_000:]}")

    def end(self) -> None:
        """Whatever is left."""
        for node in self.alive:
            node.kill()
        self.alive.clear()


def _environment() -> dict[str, str]:
    """Ours, where modules are found in the clone, and compiled once for all nodes."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env
