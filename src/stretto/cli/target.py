"""Which server or database a command works on. Commands that look at runs, or act on them, follow one rule:

    1. the options --server, --db and --context, and --set of the settings behind them
    2. the variables STRETTO_CLIENT_SERVER and STRETTO_DATABASE_URL, and a file of settings that is named
    3. the variable STRETTO_CONTEXT
    4. the context in use (`stretto context use`)
    5. a file of settings that is found: in the current folder, or the user's
    6. .stretto/stretto.db in the current folder; for commands that need a server, the one of this machine

Where one of them names both, the server counts.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import click

from stretto.cli.config_options import CONTEXT, DATABASE, SERVER
from stretto.cli.database import Place, Refused, caller, options_of, place_of, settings_of, url_given
from stretto.cli.remote.server import Remote
from stretto.config import Loaded, Source, surroundings
from stretto.config.contexts import Context, chosen_context, read_contexts
from stretto.config.file import VARIABLE as CONFIG_VARIABLE
from stretto.model.errors import InvalidRequest

SERVER_URL: Final = "client.server"
DATABASE_URL: Final = "database.url"


class Given(NamedTuple):
    """What the options of a command say."""

    config_file: str | None
    assignments: tuple[str, ...]
    server: str | None = None
    database: str | None = None
    context: str | None = None
    user: str | None = None


def target_of(given: Given) -> Remote | Place:
    """For a command that reads from a server, or from a database."""
    _check(given)
    database = url_given(given.database)
    loaded = settings_of(given.config_file, given.assignments, database, given.server)
    for name in _named(loaded, given):
        if name == SERVER_URL:
            return _remote(loaded, given, loaded.config.client.server)
        if name == DATABASE_URL:
            break
        context = _context(name)
        if context.server is not None:
            return _remote(loaded, given, context.server, context)
        return _place(given, context.database)
    return _place(given, database)


def server_of(given: Given) -> Remote:
    """For a command that needs a server."""
    _check(given)
    loaded = settings_of(given.config_file, given.assignments, None, given.server)
    for name in _named(loaded, given):
        if name == SERVER_URL:
            break
        if name == DATABASE_URL:
            continue
        context = _context(name)
        if context.server is None:
            raise Refused(
                f"the context `{name}` is a database, and this is done by a server",
                f"name a server: {SERVER} URL, or another context: `stretto context use NAME`",
            )
        return _remote(loaded, given, context.server, context)
    return _remote(loaded, given, loaded.config.client.server)


def _check(given: Given) -> None:
    """Of two targets one would be left out in silence."""
    names = {SERVER: given.server, DATABASE: given.database, CONTEXT: given.context}
    chosen = [name for name, value in names.items() if value is not None]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} name different targets: leave all but one out")


def _named(loaded: Loaded, given: Given) -> Iterable[str]:
    """The settings and contexts that name a target, the first one counts."""
    around = surroundings()
    is_told = given.config_file is not None or CONFIG_VARIABLE in around.environ
    levels: tuple[frozenset[Source], ...] = (
        frozenset({Source.FLAG}),
        frozenset({Source.ENVIRONMENT, *([Source.FILE] if is_told else [])}),
    )
    for level in levels:
        if level == {Source.FLAG} and given.context is not None:
            yield given.context
        yield from _settings(loaded, level)
    try:
        context = chosen_context(around)
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None
    if context is not None:
        yield context
    yield from _settings(loaded, frozenset({Source.FILE}))


def _settings(loaded: Loaded, sources: frozenset[Source]) -> Iterable[str]:
    return [name for name in (SERVER_URL, DATABASE_URL) if loaded.origins[name].source in sources]


def _context(name: str) -> Context:
    try:
        return read_contexts(surroundings()).named(name)
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None


def _place(given: Given, database: str | None) -> Place:
    place = place_of(given.config_file, given.assignments, database)
    if given.context is None:
        return place
    return place._replace(options=(*options_of(given.config_file, given.assignments), CONTEXT, given.context))


def _remote(loaded: Loaded, given: Given, url: str, context: Context | None = None) -> Remote:
    options = options_of(given.config_file, given.assignments)
    options += [] if given.user is None else ["--user", given.user]
    options += [] if given.server is None else [SERVER, url]
    options += [] if given.context is None else [CONTEXT, given.context]
    named = given.user or (None if context is None else context.user)
    return Remote(url, named or caller().user.name, loaded.config, tuple(options))


def pinned(place: Place, given: Given) -> Place:
    """A database that was used whatever else is named. Commands that are suggested for it must name it if the
    same options would lead them elsewhere: to a context, or to a server.
    """
    if given.database is not None:
        return place
    try:
        target = target_of(given)
    except Refused:  # a context that can not be read can not be used either
        target = None
    if isinstance(target, Place) and target.url == place.url:
        return place
    return place._replace(options=(*place.options, "--db", place.shown_url))
