"""The same workloads without a disk, and with functions that are not async and run in threads.

python -m benchmarks embedded
"""

from collections.abc import Iterator

from benchmarks.harness.databases import databases
from benchmarks.row import Row
from benchmarks.speed import measured


def run() -> Iterator[Row]:
    with databases() as into:
        yield from measured(into, ("noop", "async"), ("memory",))
        yield from measured(into, ("sync",), ("memory", "sqlite"))
