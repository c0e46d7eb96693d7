"""What commands that turn a definition into something else have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from stretto.cli.definitions import checked
from stretto.cli.files import shown
from stretto.cli.validate import print_problem
from stretto.definition.parse import Options
from stretto.model.workflow import Definition


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--workflow` and `--output`."""
    choose = click.option(
        "--workflow", "wanted", metavar="ID", help="Which workflow, if the file holds several."
    )
    write = click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to a file instead.")
    return choose(write(command))


def valid_definitions(file: str, options: Options, wanted: str | None) -> tuple[Definition, ...]:
    """The definitions of a file, or one of them; with problems the command ends here. Warnings are said, if
    the options ask for them.
    """
    definitions, problems, warnings = checked(file, options)
    for warning in warnings:
        print_problem(shown(file), warning, "warning: ")
    if problems:
        for problem in problems:
            place = ":" if problem.line is not None else ": "  # what has no place begins with the message
            click.echo(f"{shown(file)}{place}{problem}", err=True)
        count = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
        click.echo(f"{shown(file)}: {count}; `stretto validate` shows more", err=True)
        raise SystemExit(2)
    if wanted is None:
        return definitions
    chosen = tuple(each for each in definitions if each.workflow.id == wanted)
    if not chosen:
        known = ", ".join(each.workflow.id for each in definitions)
        raise click.BadParameter(f"`{wanted}` is not in the file; it has {known}", param_hint="--workflow")
    return chosen


def write_out(text: str, output: str | None) -> None:
    """To standard output, or to a file."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror or str(error)) from None
