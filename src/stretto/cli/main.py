"""`stretto`: the entry point. Commands are imported only when they are called, so `--help` is quick."""

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Final

import click

import stretto

READER_GONE: Final = 141  # as if SIGPIPE had ended it

# name -> (module with a click command called `command`, what `stretto --help` says of it)
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "answer": ("stretto.cli.answer", "Answer for a step that waits for somebody, on a server."),
    "config": ("stretto.cli.config", "Show the settings, and where each came from."),
    "context": ("stretto.cli.context", "Choose the server or the database that commands work on."),
    "convert": ("stretto.cli.convert", "Write a definition as JSON or YAML, whatever form it has."),
    "db": ("stretto.cli.db", "Upgrade, check or vacuum a database."),
    "dev": ("stretto.cli.dev", "Check, draw and run a workflow whenever its file changes."),
    "graph": ("stretto.cli.graph", "Draw a workflow's steps: a tree, Mermaid, DOT, SVG or JSON."),
    "logs": ("stretto.cli.logs", "Show what the steps of a run have printed, and print."),
    "quarantine": ("stretto.cli.quarantine", "List runs that were set aside, and let them go on."),
    "push": ("stretto.cli.push", "Publish definitions on a server."),
    "restart": ("stretto.cli.restart", "Restart a run on a server, as a whole or from a step on."),
    "run": ("stretto.cli.run", "Run a workflow in this process, and show how it goes."),
    "runs": ("stretto.cli.runs", "List the runs in a database, or on a server."),
    "runtimes": ("stretto.cli.runtimes", "List the types that steps may have, and what each takes."),
    "schema": ("stretto.cli.schema", "Print the JSON Schema of a definition."),
    "sel": ("stretto.cli.sel", "Evaluate an expression, a file of cases, or start a prompt."),
    "serve": ("stretto.cli.serve", "Serve the HTTP API, and run what is asked for there."),
    "show": ("stretto.cli.show", "Show a run with its steps, or a step with its outputs."),
    "start": ("stretto.cli.start", "Start a workflow on a server, and follow how it goes."),
    "stop": ("stretto.cli.stop", "Stop a run, or a step of it, on a server."),
    "validate": ("stretto.cli.validate", "Check definitions and report every error with its place."),
    "why": ("stretto.cli.why", "Say what a run, or a step of it, waits for."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help, and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(stretto.__version__, prog_name="stretto")
def cli() -> None:
    """Stretto runs workflows: versioned, typed, durable, from a laptop to a cluster."""


def collect_rarely() -> None:
    """Look for cycles seldom. A definition has none, and looking through a large one again and again while
    it is read makes the time grow faster than its size.
    """
    gc.set_threshold(200_000, 50, 100)


def main() -> None:
    """Run the command line. Bad input ends with exit code 2 and a message, never with a traceback. If the
    reader of the output goes away, the exit code is 141, as a shell says it of other commands.
    """
    collect_rarely()
    out = sys.stdout
    try:
        cli(prog_name="stretto")
    except BrokenPipeError:  # of a message about an error
        _hush()
        sys.exit(READER_GONE)
    except SystemExit:
        if sys.stdout is out:
            raise
        _hush()  # click has put something else in its place, for the same reason, and ends with 1
        sys.exit(READER_GONE)


def _hush() -> None:
    """Nobody reads: what is still in buffers must not be complained of at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):  # it is closed, or there is none
            os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
