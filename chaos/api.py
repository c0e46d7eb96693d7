"""A server of the HTTP API on the same database, in a process of its own without a node; and asking it.

`python -m chaos.api serve ...` is `stretto serve ...`, but it ends with whoever started it.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any, Final

import httpx
from tests.ports.mariadb_server import free_port

from chaos.clock import shed
from chaos.nodes import NodeProcess

READY: Final = "Ctrl-C ends it"
ANSWER_WITHIN: Final = 15.0  # seconds: more than the server itself waits for a node
PAUSE: Final = 0.2  # seconds, when there was no answer
GOOD, BAD = 200, 400  # BAD: not in this state, among others
TRY_AGAIN: Final = {BAD, 408, 409, 503}  # nothing was done, or it is not known


class Api:
    """Asked by users. It may be killed at any time, and is started again."""

    def __init__(self, folder: Path, url: str, environment: Mapping[str, str], user: str) -> None:
        self._folder = folder
        self._url = url
        self._environment = environment
        self._process: NodeProcess | None = None
        self._number = 0
        self._client = httpx.AsyncClient(timeout=ANSWER_WITHIN, headers={"user": user})
        self.answers: Counter[int] = Counter()  # by status; 0: none came
        self.refusals: list[str] = []  # answers that should not be
        self.fallen: list[str] = []  # last words of processes that ended by themselves

    def start(self) -> None:
        self._number += 1
        self._port = free_port()
        words = ["chaos.api", "serve", "--role", "api", "--port", str(self._port), "--db", self._url]
        self._process = NodeProcess(
            self._folder, words, f"api-{self._number}", 0, self._environment, says=READY
        )

    def kill(self) -> None:
        """End it, whatever it is doing, and start another one."""
        if self._process is not None:
            self._process.kill()
        self.start()

    async def put(self, path: str, body: Mapping[str, Any]) -> int | None:
        """Ask once; the status. None: there was no answer, and what came of it is to be looked up."""
        await self._until_running()
        try:
            answer = await self._client.put(f"http://127.0.0.1:{self._port}/api/v3{path}", json=body)
        except httpx.HTTPError:
            self.answers[0] += 1
            await asyncio.sleep(PAUSE)
            return None
        self.answers[answer.status_code] += 1
        if answer.is_success:
            return GOOD
        if answer.status_code not in TRY_AGAIN:
            self.refusals.append(f"PUT {path} was answered {answer.status_code}: {answer.text[:500]}")
        await asyncio.sleep(PAUSE)
        return answer.status_code

    async def _until_running(self) -> None:
        """One that found no database when it started may have ended; one that was running must not."""
        while (process := self._process) is None or not process.is_running:
            if process is None or process.code is not None:
                if process is not None:
                    process.close()
                if process is not None and process.was_running:
                    self.fallen.append(f"the API: exit code {process.code}: {process.said[-2_000:]}")
                self.start()
            await asyncio.sleep(PAUSE)

    async def close(self) -> None:
        if self._process is not None:
            self._process.kill()
        await self._client.aclose()


def _end_with_input() -> None:
    while sys.stdin.buffer.read(1_000):
        pass
    os._exit(1)


if __name__ == "__main__":
    from stretto.cli.main import main

    shed()
    Thread(target=_end_with_input, daemon=True).start()
    main()
