"""Examples in the documentation: found, run, and compared by a test or written again.

A page is run from top to bottom in an empty folder. Three kinds of fenced blocks take part:

    ```yaml title="etl.yaml"   a block with a title is a file; a later one of the same name replaces it
    ```console                 a line with `$ ` is a command; the lines below it are what it prints
    ```pycon                   Python as at its prompt

A command is `stretto ...` (with `< FILE` or `> FILE` at its end), `python FILE`, `pytest -q FILE`, `cat FILE`
or `echo $?`. `stretto serve ... &` is a server for the rest of the page, at any port: to `export` its address
makes the commands below talk to it, and it is printed as if the port were 8080. Commands in any other kind of
block (`shell`, `text`) are not run. What differs from one run to the next, times and the user's name, is
printed as if it were always the same.

python -m scripts.doc_examples           run every page and write the outputs again
"""

import doctest
import getpass
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import chdir, closing
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from stretto.cli.main import cli

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK: Final = re.compile(
    r"^```(?P<kind>\w+)(?P<options>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
TITLE: Final = re.compile(r'title="([^"]+)"')
TIMED: Final = frozenset(
    {"restart", "run", "runs", "show", "start", "stop", "why"}
)  # commands that print when something was, and by whom
STEADY: Final = (
    (re.compile(r"\b\d{2}:\d{2}:\d{2}\b"), "12:00:00"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}(?= 12:00:00)"), "2026-11-01"),
    (re.compile(r"\b\d+\.\ds\b"), "0.1s"),
    (re.compile(r" in \d+\.\d+s\b"), " in 0.10s"),
    (re.compile(r"(?<= by )" + re.escape(getpass.getuser()) + r"\b"), "ann"),
    (re.compile(r"(?i)(?<=\buser \[)" + re.escape(getpass.getuser()) + r"(?=\])"), "ann"),
)


# What `stretto run` says of a step that takes long: on a busy machine each one may.
LASTING: Final = re.compile(
    r"^12:00:00 \S+ \S+ (?:RUNNING|STARTING|WAITING_FOR_\w+(?:: .*)?)\n", re.MULTILINE
)
SERVER: Final = "http://127.0.0.1:8080"  # of every example
SERVER_VARIABLE: Final = "STRETTO_CLIENT_SERVER"


class ExampleError(Exception):
    """An example that can not be run as it is written."""


class Session:
    """The prompt of one page. Commands run inside this process, which takes milliseconds each, unless they
    import the reader's own Python: that must not stay here.
    """

    def __init__(self) -> None:
        self._status = 0
        self._server: subprocess.Popen[str] | None = None
        self._url = SERVER

    def close(self) -> None:
        """The page is over, and with it the server."""
        os.environ.pop(SERVER_VARIABLE, None)
        if self._server is not None:
            self._server.terminate()
            self._server.communicate(timeout=30)

    def run(self, command: str) -> str:
        """What a command prints on both of its outputs."""
        text = self._said(command)
        return LASTING.sub("", text) if command.startswith("stretto run ") else text

    def _said(self, command: str) -> str:
        match shlex.split(command):
            case ["stretto", "serve", *arguments, "&"]:
                return self._serve(arguments)
            case ["export", assignment] if assignment == f"{SERVER_VARIABLE}={SERVER}":
                os.environ[SERVER_VARIABLE] = self._url
                return ""
            case ["stretto", *arguments] if any(".py" in each for each in arguments):
                return self._apart("-c", "from stretto.cli.main import main; main()", *arguments)
            case ["stretto", *arguments]:
                return self._stretto(arguments)
            case ["python", name]:
                return self._apart(name)
            case ["pytest", *arguments]:
                return self._apart("-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, *arguments)
            case ["cat", name]:
                return Path(name).read_text(encoding="utf-8")
            case ["echo", "$?"]:
                return f"{self._status}\n"
            case _:
                message = f"`{command}` is no command that an example may use"
                raise ExampleError(message)

    def _serve(self, arguments: list[str]) -> str:
        """In the background; whatever it says is not shown."""
        command = ["-c", "from stretto.cli.main import main; main()", "serve", "--port", "0", *arguments]
        self._server = subprocess.Popen(  # noqa: S603 - our own examples
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        told = ""
        while "Ctrl-C ends it" not in told:
            line = self._server.stdout.readline() if self._server.stdout is not None else ""
            if not line:
                message = f"the server of an example has not started: {told}"
                raise ExampleError(message)
            told += line
        self._url = told.partition("listens on ")[2].split()[0]
        return ""

    def _apart(self, *arguments: str) -> str:
        # What is asked of the tests around us is not asked of an example.
        around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        done = subprocess.run(  # noqa: S603 - our own examples
            [sys.executable, *arguments],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**around, "COLUMNS": "80"},
        )
        self._status = done.returncode
        return steady(done.stdout)

    def _stretto(self, arguments: list[str]) -> str:
        given = output = None
        match arguments:
            case [*rest, "<", name]:
                arguments, given = rest, Path(name).read_bytes()
            case [*rest, ">", name]:
                arguments, output = rest, Path(name)
            case _:
                pass
        result = CliRunner().invoke(cli, arguments, input=given, prog_name="stretto")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        self._status = result.exit_code
        if output is not None:
            output.write_bytes(result.stdout_bytes)
            return result.stderr
        text = result.output.replace(self._url, SERVER)
        return steady(text) if arguments[:1] and arguments[0] in TIMED else text


def steady(text: str) -> str:
    """A text without what only this run has."""
    for pattern, instead in STEADY:
        text = pattern.sub(instead, text)
    return text


def printed(page: str) -> str:
    """The page with the outputs that its commands have now."""
    session = Session()
    names: dict[str, Any] = {}

    def visit(block: re.Match[str]) -> str:
        title = TITLE.search(block["options"])
        if title is not None:
            Path(title[1]).write_text(block["body"], encoding="utf-8")
        elif block["kind"] == "console":
            return f"```console{block['options']}\n{_console(block['body'], session)}```"
        elif block["kind"] == "pycon":
            _python(block["body"], names)
        return block[0]

    with tempfile.TemporaryDirectory() as folder, chdir(folder), closing(session):
        return BLOCK.sub(visit, page)


def _console(body: str, session: Session) -> str:
    commands = [line for line in body.splitlines() if line.startswith("$ ")]
    if not commands or not body.startswith("$ "):
        message = f"a console block begins with `$ `, this one does not: {body[:60]!r}"
        raise ExampleError(message)
    return "".join(f"{line}\n{_line(session.run(line[2:]))}" for line in commands)


def _line(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _python(body: str, names: dict[str, Any]) -> None:
    example = doctest.DocTestParser().get_doctest(body, names, "example", None, None)
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    if runner.run(example, out=report.write, clear_globs=False).failed:
        raise ExampleError(report.getvalue())
    names.update(example.globs)


def main() -> None:
    for path in PAGES:
        old = path.read_text(encoding="utf-8")
        new = printed(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
