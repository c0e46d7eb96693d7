"""The server is composed and served by a program that can not import the command line."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("served_by_a_program.py")


def test_a_program_serves_without_the_command_line(tmp_path: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, str(PROGRAM)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "{'doubled': 1} SUCCEEDED, exit code 0",
        "command line imported: False",
    ]
