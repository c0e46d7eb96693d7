"""The reference of the command line, made from the commands themselves."""

import inspect
from collections.abc import Iterator
from typing import Final

import click

from stretto.cli.main import COMMANDS, cli

INTRO: Final = """\
# Command line

<!-- Made by scripts/generate.py from stretto.cli; change the commands there. -->

`stretto COMMAND --help` prints what this page says. Results go to standard output, problems and errors to
standard error. `run`, `serve` and `db` change a database, `push`, `start`, `stop` and `restart` what a server
has, `context` a file of the user; no other command changes anything, but for `-o`.

| Exit code | Meaning |
|---|---|
| 0 | done; for `validate`: every file is valid; for `run`: the run succeeded; for `serve`: it was stopped |
| 1 | the result can not be shown or written; for `run`, `start` and `restart`: the run did not succeed |
| 2 | bad input: a definition or an expression with problems, a file that can not be read, an unknown option |
| 2 | a server that refuses what is asked for, or is not there |
| 130, 143, 129 | `run` was interrupted by Ctrl-C, or the signals TERM or HUP; `serve` was so a second time |
| 141 | the reader of the output went away, as in a pipe to `head` |

| Command | What it does |
|---|---|
"""


def cli_reference() -> str:
    """Every command with its usage, its text, its arguments and its options."""
    rows = "".join(f"| [`{name}`](#stretto-{name}) | {COMMANDS[name][1]} |\n" for name in sorted(COMMANDS))
    with click.Context(cli, info_name="stretto", **cli.context_settings) as context:
        sections = [
            section
            for name in sorted(COMMANDS)
            for section in _sections(name, cli.get_command(context, name), context)
        ]
        return "\n".join([INTRO + rows, _options(cli, context), *sections])


def _sections(name: str, command: click.Command | None, parent: click.Context) -> Iterator[str]:
    """Of a command; of a group, and then of the commands in it."""
    if command is None:
        raise LookupError(name)
    with click.Context(command, info_name=name, parent=parent) as context:
        usage = command.get_usage(context).removeprefix("Usage: ")
        head = [f"## `{context.command_path}`\n", f"```text\n{usage}\n```\n"]
        yield "\n".join([*head, _text(command), _options(command, context)])
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield from _sections(inner, command.get_command(context, inner), context)


def _text(command: click.Command) -> str:
    """The help: paragraphs as they are; those that click must not wrap become blocks."""
    parts = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n".join(_block(part) if part.startswith("\b\n") else f"{_joined(part)}\n" for part in parts)


def _joined(paragraph: str) -> str:
    return " ".join(paragraph.split("\n"))


def _block(paragraph: str) -> str:
    title, *lines = paragraph.removeprefix("\b\n").split("\n")
    return f"{title}\n\n```shell\n{inspect.cleandoc(chr(10).join(['', *lines]))}\n```\n"


def _options(command: click.Command, context: click.Context) -> str:
    rows = [
        record
        for each in command.get_params(context)
        if isinstance(each, click.Option) and (record := each.get_help_record(context))
    ]
    lines = "".join(f"| `{_cell(option)}` | {_cell(text)} |\n" for option, text in rows)
    return f"| Option | Meaning |\n|---|---|\n{lines}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
