"""`--config`, `--set`, `--database`, `--server` and `--context`, for commands that need settings."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from stretto.config import Flag, Loaded, load, surroundings
from stretto.config.file import FLAG as CONFIG
from stretto.config.given import SET

DATABASE = "--database"
SERVER = "--server"
CONTEXT = "--context"


def _once(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The one value, if there is one. Of two, one would be left out in silence."""
    if len(values) > 1:
        raise click.BadParameter("it is given twice; keep one of them", context, parameter)
    return values[0] if values else None


_FILE = click.option(
    CONFIG,
    "config_file",
    multiple=True,
    callback=_once,
    metavar="FILE",
    help="A file of settings. Else STRETTO_CONFIG, ./stretto.toml or .yaml, the user's folder.",
)
_SET = click.option(
    SET, "assignments", multiple=True, metavar="NAME=VALUE", help="Set one setting. Repeatable."
)
_DATABASE = click.option(
    DATABASE,
    "--db",
    "database",
    multiple=True,
    callback=_once,
    metavar="URL",
    help="The same as `--set database.url=URL`.",
)
_SERVER = click.option(
    SERVER,
    "server",
    multiple=True,
    callback=_once,
    metavar="URL",
    help="The server to talk to; the same as `--set client.server=URL`.",
)
_CONTEXT = click.option(
    CONTEXT,
    "context",
    multiple=True,
    callback=_once,
    metavar="NAME",
    help="The context to work in; else STRETTO_CONTEXT, else the one in use (`stretto context`).",
)
_USER = click.option(
    "--user", metavar="NAME", help="Who calls; else the user of the context, or of this machine."
)


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where settings come from; hand their values to `loaded_config`."""
    return _FILE(_SET(_DATABASE(command)))


def looking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for what can be read from a database, and from a server."""
    return _SERVER(_CONTEXT(config_options(command)))


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """For commands that talk to a server, and to nothing else."""
    return _SERVER(_CONTEXT(_USER(_FILE(_SET(command)))))


def loaded_config(
    config_file: str | None, assignments: Iterable[str], database: str | None, server: str | None = None
) -> Loaded:
    """The settings. Raises InvalidConfig."""
    flags = [Flag(SET, each) for each in assignments]
    if database is not None:
        flags.append(Flag(DATABASE, f"database.url={database}"))
    if server is not None:
        flags.append(Flag(SERVER, f"client.server={server}"))
    return load(surroundings(), file=config_file, flags=flags)
