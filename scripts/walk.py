"""Follows one request through the code: which files and functions a start over HTTP passes until its run has
ended, and which a read of that run does.

    python -m scripts.walk

The server, the node and the worker of the step are those of a release; nothing is traced before everything
has run once. What is done again and again without a request (beats, sweeps) is traced first, and left out.
"""

import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from tests.api.serving import Served, served, shell

import stretto
from stretto.engine.records import RunKey

PACKAGE: Final = Path(stretto.__file__).parent
IDLE: Final = 3.0  # seconds in which a node does all that it does without being asked
WORK: Final = shell("work", "true")


class Walk(NamedTuple):
    """What was passed."""

    files: frozenset[str]
    functions: frozenset[tuple[str, str]]

    def without(self, other: "Walk") -> "Walk":
        """What the other does not pass, too."""
        return Walk(self.files - other.files, self.functions - other.functions)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(url=f"sqlite:///{folder}/walk.db") as server:
        server.push("walk", WORK)
        for _ in range(2):
            start_and_wait(server)
            read(server)
        with walking(server) as idle:
            time.sleep(IDLE)
        with walking(server) as start:
            start_and_wait(server)
        with walking(server) as get:
            read(server)
    show("POST start, to the end of the run", start().without(idle()))
    show("GET of the run", get().without(idle()))


def start_and_wait(server: Served) -> None:
    server.wait_for(RunKey("walk", server.start("walk")["workflow_instance_id"], 1))


def read(server: Served) -> None:
    server.get("/workflows/walk/instances/1/runs/1")


@contextmanager
def walking(server: Served) -> Iterator[Callable[[], Walk]]:
    """Notes each call in the server's thread, and in those that it begins."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code.co_filename.startswith(str(PACKAGE)):
                seen.add((code.co_filename, code.co_qualname))

    async def watch(profile: Any) -> None:
        sys.setprofile(profile)

    threading.setprofile(note)
    server.run(watch(note))
    try:
        yield lambda: Walk(frozenset(name for name, _function in seen), frozenset(seen))
    finally:
        server.run(watch(None))
        threading.setprofile(None)


def show(title: str, walk: Walk) -> None:
    packages = Counter(Path(name).relative_to(PACKAGE).parts[0] for name in walk.files)
    print(f"{title}: {len(walk.files)} files, {len(walk.functions)} functions")
    for package, files in sorted(packages.items()):
        print(f"    {package:<24}{files:>4}")


if __name__ == "__main__":
    main()
