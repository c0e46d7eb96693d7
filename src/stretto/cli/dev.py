"""`stretto dev`: a workflow is checked, drawn and run again whenever its file changes."""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from stretto.cli import style
from stretto.cli.definitions import PYTHON, is_python
from stretto.cli.files import shown

LOOK_EVERY: Final = 0.2  # seconds
END_WITHIN: Final = 10.0  # seconds for a run that is interrupted
COMMAND: Final = (sys.executable, "-c", "from stretto.cli.main import main; main()")

Seen = dict[Path, tuple[int, int]]  # when each file was changed, and how long it is


@click.command(name="dev")
@click.argument("file")
@click.option(
    "-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the workflow."
)
@click.option("--workflow", "workflow_id", metavar="ID", help="Which workflow; else the first of the file.")
@click.option("--no-run", is_flag=True, help="Check and draw only.")
@click.option("--once", is_flag=True, help="Do it once, and end.")
@click.option(
    "--database",
    "--db",
    "database",
    metavar="URL",
    default="memory:",
    help="Where runs are kept; else nowhere.",
)
def command(
    file: str,
    *,
    params: tuple[str, ...],
    workflow_id: str | None,
    no_run: bool,
    once: bool,
    database: str,
) -> None:
    """Check, draw and run a workflow, now and whenever its file changes; Ctrl-C ends it.

    FILE is a workflow in Python (flows.py, flows.py:etl) or a definition in YAML or JSON. Of Python all files
    beside it are watched, too. A run that is under way when something changes is interrupted.

    \b
    Examples:
      stretto dev flows.py:etl -p day=2026-11-15
      stretto dev etl.yaml --no-run
    """
    chosen = [] if workflow_id is None else ["--workflow", workflow_id]
    rounds: list[Sequence[str]] = [("validate", file), ("graph", file, *chosen)]
    if not no_run:
        given = [part for each in params for part in ("-p", each)]
        rounds.append(("run", file, *chosen, *given, "--db", database, "--plain"))
    code = 0
    try:
        while True:
            seen = _settled(file)
            code = _round(file, rounds, seen)
            if once:
                break
            click.echo(style.paint(f"Waiting for {shown(file)} to change ...", style.CALM), err=True)
            while _snapshot(file) == seen:
                time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    sys.exit(code)


def _round(file: str, rounds: Sequence[Sequence[str]], seen: Seen) -> int:
    """Each command in a process of its own, so that nothing of an earlier version is left. The first that
    fails ends the round, and so does a change.
    """
    for words in rounds:
        code = _watched(words, file, seen)
        if code != 0:
            return code
    return 0


def _watched(words: Sequence[str], file: str, seen: Seen) -> int:
    """The exit code of a command; it is interrupted if something changes."""
    with subprocess.Popen([*COMMAND, *words]) as process:  # noqa: S603 - ourselves
        try:
            while process.poll() is None:
                if _snapshot(file) != seen:
                    process.send_signal(signal.SIGINT)
                    return process.wait(END_WITHIN)
                time.sleep(LOOK_EVERY / 4)
        except subprocess.TimeoutExpired:
            process.kill()
        except KeyboardInterrupt:  # it has got the same
            process.wait()
            raise
        return process.wait()


def _settled(file: str) -> Seen:
    """What is watched, once nobody writes to it any more."""
    seen = _snapshot(file)
    while True:
        time.sleep(LOOK_EVERY / 4)
        later = _snapshot(file)
        if later == seen:
            return seen
        seen = later


def _snapshot(file: str) -> Seen:
    """What is watched, as it is now."""
    seen: Seen = {}
    for path in _watched_files(file):
        try:
            stat = path.stat()
        except OSError:  # it is being written anew
            continue
        seen[path] = stat.st_mtime_ns, stat.st_size
    return seen


def _watched_files(file: str) -> list[Path]:
    if not is_python(file):
        return [Path(file)]
    found = PYTHON.fullmatch(file)
    assert found is not None  # noqa: S101 - it is Python
    folder = Path(found["file"]).resolve().parent if found["file"] else Path.cwd()
    return sorted(folder.glob("*.py")) if found["file"] else sorted(folder.rglob("*.py"))
