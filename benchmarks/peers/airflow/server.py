"""An Airflow of our own: its database, and all parts of it as `airflow standalone` starts them."""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any
from urllib.error import HTTPError, URLError

HOME = Path(os.environ["BENCH_FOLDER"])
DAGS = HOME / "dags"


def settle() -> str:
    """Names the server and its database to every process from here on; the address of the server."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    DAGS.mkdir(parents=True, exist_ok=True)
    address = f"http://127.0.0.1:{port}"
    os.environ |= {
        "AIRFLOW_HOME": str(HOME),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": os.environ["BENCH_DATABASE"].replace(
            "postgresql://", "postgresql+psycopg2://"
        ),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "2",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return address


@contextmanager
def served(address: str) -> Iterator[tuple["Api", float]]:
    """All of Airflow for the length of a block; seconds until it answered, after its tables were made."""
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], stdout=sys.stderr, check=True)
    begun = perf_counter()
    server = subprocess.Popen([sys.executable, "-m", "airflow", "standalone"], stdout=sys.stderr)
    try:
        api = Api(address)
        while not api.is_healthy():
            assert server.poll() is None, "the server has ended"
            sleep(0.1)
        yield api, perf_counter() - begun
    finally:
        server.terminate()
        server.wait()


class Api:
    """The little of its HTTP API that is needed."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._token = ""

    def is_healthy(self) -> bool:
        try:
            found = self._ask("GET", "/api/v2/monitor/health")
        except (URLError, OSError):
            return False
        parts = ("scheduler", "dag_processor")
        return all((found.get(part) or {}).get("status") == "healthy" for part in parts)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if not self._token:
            self._token = self._ask("GET", "/auth/token")["access_token"]
        return self._ask(method, f"/api/v2{path}", body)

    def has(self, path: str) -> bool:
        try:
            self.call("GET", path)
        except HTTPError as error:
            if error.code != 404:
                raise
            return False
        return True

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            self._address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )
        with urllib.request.urlopen(request) as response:
            found: dict[str, Any] = json.load(response)
        return found
