"""A Prefect server of our own, and the settings that lead to it. Imported before `prefect` is."""

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep


def settle() -> str:
    """Names the server and its database to every process from here on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    os.environ |= {
        "PREFECT_HOME": os.environ["BENCH_FOLDER"],
        "PREFECT_API_DATABASE_CONNECTION_URL": os.environ["BENCH_DATABASE"].replace(
            "postgresql://", "postgresql+asyncpg://"
        ),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "DO_NOT_TRACK": "1",
    }
    return f"http://127.0.0.1:{port}/api/health"


@contextmanager
def served(health: str) -> Iterator[float]:
    """A server for the length of a block; seconds until it answered."""
    begun = perf_counter()
    server = subprocess.Popen([sys.executable, "-m", "prefect", "server", "start"], stdout=sys.stderr)
    try:
        while not answers(health):
            assert server.poll() is None, "the server has ended"
            sleep(0.05)
        yield perf_counter() - begun
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address) as response:
            return bool(response.status == 200)
    except OSError:
        return False
