"""One task in a flow; without a server it starts one for itself, on SQLite."""

import os
from pathlib import Path

os.environ |= {
    "PREFECT_HOME": str(Path.cwd()),
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",  # with its 20 s it gives up on a busy machine
}

from prefect import flow, task


@task
def hello(name: str) -> str:
    return f"Hello, {name}!"


@flow
def greet(name: str) -> str:
    return hello(name)


if __name__ == "__main__":
    print(greet("world"))
