"""The real command, in a process of its own, with bounds on time and memory."""

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

STRETTO = Path(sys.executable).with_name("stretto")
MEMORY = 1 << 30  # bytes of address space; the interpreter and its libraries alone take about a quarter
SECONDS = 60


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def files(self) -> list[dict[str, Any]]:
        """Results of `validate --json`."""
        made: list[dict[str, Any]] = json.loads(self.out)["files"]
        return made


def stretto(*arguments: str | Path, given: bytes | None = None) -> Ended:
    """Run it. No end in time is an error; so is a traceback, whatever the exit code."""
    done = subprocess.run(  # noqa: S603 - our own command
        [STRETTO, *arguments],
        input=given,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    err = done.stderr.decode(errors="replace")
    assert "Traceback" not in err, err[-2_000:]
    return Ended(done.returncode, done.stdout.decode(), err)


def validate(files: Sequence[Path]) -> list[dict[str, Any]]:
    """All the files at once; every one of them must be refused."""
    ended = stretto("validate", "--json", *files)
    assert (ended.code, ended.err) == (2, "")
    results = ended.files
    assert [each["file"] for each in results] == [str(file) for file in files]
    assert [each["file"] for each in results if each["valid"]] == []
    return results
