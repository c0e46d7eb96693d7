"""The first example of the documentation, killed in the middle and run again."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.acceptance.processes import PATIENCE, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "durable.py"


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own example
        [sys.executable, str(EXAMPLE)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )


def test_a_program_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with (
        out.open("wb") as file,
        subprocess.Popen(  # noqa: S603 - our own example
            [sys.executable, str(EXAMPLE)], cwd=tmp_path, stdout=file
        ) as process,
    ):
        until(lambda: "adding to 3" in out.read_text(), "the third step began")
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    again = run(tmp_path)
    assert again.stdout.splitlines()[-1] == "5"
    done = again.stdout.splitlines()[:-1]
    assert set(done) <= {"adding to 2", "adding to 3", "adding to 4"}
    assert "adding to 1" not in done
    once_more = run(tmp_path)
    assert once_more.stdout == "5\n"
