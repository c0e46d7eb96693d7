"""`stretto run` as a process of its own: started, watched, interrupted, killed."""

import os
import resource
import select
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from tests import waiting
from tests.acceptance.command import STRETTO

PATIENCE: Final = waiting.PATIENCE


def unmeasured() -> dict[str, str]:
    """The environment, without what makes a process note at its end which lines it ran: one whose disk is
    full, or that is interrupted over and over, can not.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


class Running:
    """A command that was started. Whoever starts one leaves it ended."""

    program: ClassVar[Sequence[str | Path]] = (STRETTO,)

    def __init__(
        self,
        *arguments: str | Path,
        folder: Path,
        most_bytes: int | None = None,
        most_files: int | None = None,
    ) -> None:
        def limit() -> None:
            if most_files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
            if most_bytes is not None:  # of any file
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [*self.program, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
            preexec_fn=limit,  # noqa: PLW1509 - nothing else happens in it
            env=None if most_bytes is None else unmeasured(),
        )
        self._said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def until_it_says(self, text: str) -> None:
        """Not a byte more is read: `ended` has the rest."""
        assert self.process.stdout is not None
        while text not in self._said:
            assert select.select([self.process.stdout], [], [], PATIENCE)[0], self._said
            part = os.read(self.process.stdout.fileno(), 1)
            assert part, self._said
            self._said += part.decode("ascii", errors="replace")

    def ended(self) -> tuple[int, str, str]:
        """Exit code and outputs."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err, err[-3_000:]
        return self.process.returncode, self._said + out, err

    def killed(self) -> None:
        """As by a loss of power, as far as a process can tell."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


until = waiting.wait_until


def lives(pid: int) -> bool:
    """Zombies do not: where nobody reaps orphans, they stay as such."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def number_in(file: Path) -> int:
    """The number that a step writes into a file once it runs."""
    until(lambda: file.exists() and file.read_text().endswith("\n"), f"{file.name} was written")
    return int(file.read_text())
