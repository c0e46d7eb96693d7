"""`stretto db`: what an operator does with a database."""

from typing import Any

import click

from stretto.cli.config_options import config_options
from stretto.cli.database import Place, Refused, place_of, prepare
from stretto.model.errors import StrettoError
from stretto.store.opening import module_of
from stretto.store.sql.version import HEAD, Standing


@click.group(name="db")
def command() -> None:
    """Look after a database: its tables, and the room that it takes."""


@command.command(name="upgrade")
@config_options
def upgrade(*, config_file: str | None, assignments: tuple[str, ...], database: str | None) -> None:
    """Make the tables, or bring them up to date with this version of Stretto.

    A SQLite file is brought up to date by whoever opens it, and an empty database on a server gets its tables
    from the first process. A database of an older version on a server is brought up to date here, once,
    before the first process of the new version starts.

    \b
    Examples:
      stretto db upgrade --db postgresql://stretto@db.example.com/stretto
    """
    place = place_of(config_file, assignments, database)
    prepare(place)
    _asked(place, "upgrade")
    _standing, found = _asked(place, "check")
    click.echo(f"{place.shown} has schema {found}")


@command.command(name="check")
@config_options
def check(*, config_file: str | None, assignments: tuple[str, ...], database: str | None) -> None:
    """Say whether a database can be used by this version of Stretto. Nothing is changed.

    Exit code 0: it can be used as it is; 1: it must be upgraded, or is none of ours.
    """
    place = place_of(config_file, assignments, database)
    standing, found = (Standing.EMPTY, None) if place.is_missing else _asked(place, "check")
    number = "" if found is None else f", schema {found}"
    click.echo(f"{place.shown}: {standing.value}{number}; this version needs schema {HEAD}")
    if not standing.is_usable:
        raise SystemExit(1)


@command.command(name="vacuum")
@config_options
def vacuum(*, config_file: str | None, assignments: tuple[str, ...], database: str | None) -> None:
    """Give the room of deleted rows back to the disk. Writers wait meanwhile."""
    place = place_of(config_file, assignments, database)
    if place.is_missing:
        raise Refused(f"there is no database at {place.shown}", "name one with --db URL")
    _asked(place, "vacuum")
    click.echo(f"{place.shown} is vacuumed")


def _asked(place: Place, what: str) -> Any:
    """Have the database's own code do it."""
    if place.in_memory:
        raise Refused("a database in memory has nothing to look after", "name one that is kept: --db URL")
    try:
        return getattr(module_of(place.url, "upkeep"), what)(place.url)
    except StrettoError as error:
        raise Refused(error.message, error.hint) from None
