"""`--config`, `--set` and `--database`, for commands that need settings."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from stretto.config import Flag, Loaded, load, surroundings
from stretto.config.file import FLAG as CONFIG
from stretto.config.given import SET

DATABASE = "--database"


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where settings come from; hand their values to `loaded_config`."""
    decorate = (
        click.option(
            CONFIG,
            "config_file",
            metavar="FILE",
            help="A file of settings. Else STRETTO_CONFIG, ./stretto.toml or .yaml, the user's folder.",
        ),
        click.option(
            SET, "assignments", multiple=True, metavar="NAME=VALUE", help="Set one setting. Repeatable."
        ),
        click.option(
            DATABASE, "--db", "database", metavar="URL", help="The same as `--set database.url=URL`."
        ),
    )
    for option in reversed(decorate):
        command = option(command)
    return command


def loaded_config(config_file: str | None, assignments: Iterable[str], database: str | None) -> Loaded:
    """The settings. Raises InvalidConfig."""
    flags = [Flag(SET, each) for each in assignments]
    if database is not None:
        flags.append(Flag(DATABASE, f"database.url={database}"))
    return load(surroundings(), file=config_file, flags=flags)
