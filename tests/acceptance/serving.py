"""`stretto serve` as a process of its own, for tests that talk to it, stop it and kill it.

Tests that only need the API use `tests/api/serving.py`, which starts no process.
"""

import signal
from pathlib import Path
from typing import Any

import httpx
from tests.acceptance.processes import PATIENCE, Running


class Serving(Running):
    """A server that has said where it listens."""

    def __init__(
        self,
        *arguments: str | Path,
        folder: Path,
        database: str | None = "sqlite:///work.db",
        files: int | None = None,
    ) -> None:
        named = () if database is None else ("--db", database)
        super().__init__("serve", "--port", "0", *named, *arguments, folder=folder, most_files=files)
        assert self.process.stdout is not None
        self.told = ""
        while "Ctrl-C ends it" not in self.told:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()
            self.told += line
        self.url = next(each for each in self.told.split() if each.startswith("http:"))

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.url}{path}", timeout=PATIENCE).json()

    def start(self, workflow_id: str) -> Any:
        path = f"/api/v3/workflows/{workflow_id}/versions/latest/actions/start"
        body = {"initiator": {"type": "manual"}}
        return httpx.post(f"{self.url}{path}", json=body, headers={"user": "ann"}, timeout=PATIENCE).json()

    def stopped(self) -> tuple[int, str, str]:
        self.send(signal.SIGTERM)
        return self.ended()
