"""What processes use: processor time and memory, as the system counts them."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, Self

KB: Final = 1024


class Measurable(Protocol):
    """Something that holds memory."""

    def memory(self) -> float:
        """Megabytes."""
        ...


def cpu_of(pid: int) -> float:
    """Seconds that the threads of a process have used, children apart."""
    return sum(_used(task) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def memory_of(pid: int) -> float:
    """Megabytes that a process and its children hold; what they share counts once."""
    return sum(_held(each) for each in _tree(pid)) / KB


class Peak:
    """The most memory that a program holds inside of a block, looked at every now and then."""

    def __init__(self, program: Measurable, every: float = 0.05) -> None:
        self._program = program
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            self.most = max(self.most, self._program.memory())
            if self._over.wait(self._every):
                return


def _tree(root: int) -> list[int]:
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
    return found


def _used(task: Path) -> int:
    with suppress(OSError):  # it has ended
        return int((task / "schedstat").read_text().split()[0])
    return 0


def _held(pid: int) -> int:
    """Kilobytes; a page that several processes share counts in parts."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return 0
