"""Which database a command works on, and how it is opened; what goes wrong ends the command with a message.

Who names none gets `.stretto/stretto.db` in the current folder: what is run in a folder stays with it.
"""

import asyncio
import getpass
import shlex
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from stretto.actions.caller import Caller
from stretto.cli.address import readable
from stretto.cli.config_options import loaded_config
from stretto.config import Config, InvalidConfig, Loaded, Source
from stretto.config.catalogue import SETTINGS
from stretto.config.database_url import masked
from stretto.config.folders import server_database, surroundings
from stretto.config.settings import with_values
from stretto.model.errors import StrettoError
from stretto.model.user import User
from stretto.ports.store import Store
from stretto.store.opening import open_store
from stretto.store.sqlite.address import path_of

T = TypeVar("T")

FOLDER: Final = ".stretto"
LOCAL: Final = f"sqlite:///{FOLDER}/stretto.db"
MEMORY: Final = "memory://"
SQLITE: Final = "sqlite:"
FUNCTION_WITHIN: Final = "engine.function_within"


class Place(NamedTuple):
    """A database, and the settings around it."""

    url: str
    config: Config
    options: tuple[str, ...]  # that a user gives to come here again

    @property
    def shown(self) -> str:
        """For people: a file by its name, a server without its password."""
        return str(_relative(path_of(self.url))) if self.url.startswith(SQLITE) else masked(self.url)

    @property
    def shown_url(self) -> str:
        """As one would type it, without a password."""
        return masked(self.url)

    @property
    def is_missing(self) -> bool:
        """Whether it would be made by opening it."""
        return self.url.startswith(SQLITE) and not path_of(self.url).exists()

    @property
    def in_memory(self) -> bool:
        return self.url == MEMORY

    def again(self, *words: str) -> str:
        """A command on the same database, as one would type it."""
        return shlex.join(["stretto", *words, *self.options])


def _relative(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def place_of(
    config_file: str | None, assignments: Iterable[str], database: str | None, *, local: bool = True
) -> Place:
    """The database that options, environment and files of settings name; where none does, that of the folder
    or, not `local`, that of the user. Bad settings end the command.
    """
    assignments = tuple(assignments)
    given = url_given(database)
    loaded = settings_of(config_file, assignments, given)
    options = options_of(config_file, assignments)
    if given is not None:
        options += ["--db", masked(given)]
    url = loaded.config.database.url
    if url is None or (local and loaded.origins["database.url"].source is Source.DEFAULT):
        url = LOCAL
    config = loaded.config
    if local and loaded.origins[FUNCTION_WITHIN].source is Source.DEFAULT:
        # Who runs something in this process sees at once that its function is nowhere.
        config = with_values(config, {SETTINGS[FUNCTION_WITHIN].path: 0})
    return Place(url, config, tuple(options))


def url_given(database: str | None) -> str | None:
    """What `--db` says; `memory:` is enough for a database in memory."""
    return MEMORY if database == "memory:" else database


def settings_of(
    config_file: str | None,
    assignments: Iterable[str],
    database: str | None = None,
    server: str | None = None,
) -> Loaded:
    """The settings; bad ones end the command."""
    try:
        return loaded_config(config_file, assignments, database, server)
    except InvalidConfig as error:
        for problem in error.problems:
            click.echo(f"{problem}", err=True)
        raise SystemExit(2) from None


def options_of(config_file: str | None, assignments: Iterable[str]) -> list[str]:
    """The options that lead to the same settings again."""
    options = [] if config_file is None else ["--config", config_file]
    for each in assignments:
        options += ["--set", each]
    return options


def prepare(place: Place) -> None:
    """Make the folder of a database that nobody named: that of the current folder, or that of the user."""
    if place.url == LOCAL:
        folder, shown = Path(FOLDER), f"{FOLDER} for the database can not be made here"
    elif place.url == server_database(surroundings()):
        folder = path_of(place.url).parent
        shown = f"{folder} for the database can not be made"
    else:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if place.url == LOCAL:
            _leave_out(folder)
    except OSError as error:
        message = f"the folder {shown}: {error.strerror or error}"
        raise Refused(message, "name a database elsewhere: --db sqlite:///PATH, or --db memory:") from None


def _leave_out(folder: Path) -> None:
    """No version control should take it for a part of the project."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


class Refused(click.ClickException):
    """Bad input, or something that must be put right first: a message, the way out, exit code 2."""

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n    hint: {hint}")


def finished(work: Coroutine[Any, Any, T], run: Callable[[Coroutine[Any, Any, T]], T] = asyncio.run) -> T:
    """Run it. What was refused is said, with the way out."""
    try:
        return run(work)
    except StrettoError as error:
        raise Refused(readable(error.message), error.hint) from None


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[Store]:
    """The store, for readers. A database that is not there is not made."""
    if place.is_missing or place.in_memory:
        raise Refused(
            f"there is no database at {place.shown}: nothing was run here yet",
            "`stretto run FILE` makes one; name another with --db URL",
        )
    store = await open_store(place.url, place.config.database)
    try:
        yield store
    finally:
        await store.close()


def caller() -> Caller:
    """Who sits at the terminal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a number without a name, as in some containers
        name = "somebody"
    return Caller(user=User(name=name))
