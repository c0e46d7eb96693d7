"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from stretto.definition import MAESTRO_LIMITS, Limits
from stretto.definition.parse import DEFAULT_OPTIONS, Options
from stretto.definition.reading.read import Format
from stretto.runtimes.types import with_installed


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--template`, `--maestro-limits` and `--format-in`, for commands that read definitions."""
    decorate = (
        click.option(
            "--template",
            "templates",
            multiple=True,
            metavar="NAME=TYPE",
            help="A job template that jobs in Maestro's YAML may name, and its step type. Repeatable.",
        ),
        click.option("--maestro-limits", is_flag=True, help="Apply Maestro's limits instead of ours."),
    )
    for option in reversed(decorate):
        command = option(command)
    return command


def made_options(
    templates: tuple[str, ...],
    *,
    maestro_limits: bool,
    form: Format | None = None,
    limits: Limits = DEFAULT_OPTIONS.limits,
) -> Options:
    """The options of the parser from those of the command line."""
    known: dict[str, str] = {}
    for each in templates:
        name, separator, kind = each.partition("=")
        if not (name and separator and kind):
            raise click.BadParameter(
                f"`{each}` is not NAME=TYPE, such as spark=Notebook", param_hint="--template"
            )
        known[name] = kind
    chosen = MAESTRO_LIMITS if maestro_limits else limits
    return Options(form=form, limits=with_installed(chosen), templates=known)


def app_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--app`."""
    text = "Python code for steps: a module, a file or a folder. Repeatable."
    return click.option("--app", "apps", multiple=True, metavar="MODULE", help=text)(command)
