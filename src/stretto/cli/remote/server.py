"""Which server a command talks to; what goes wrong there ends the command with a message."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from stretto.cli.address import readable
from stretto.cli.config_options import DATABASE, SERVER
from stretto.cli.database import Refused, caller, options_of, settings_of
from stretto.config import Config, Loaded, Source
from stretto.model.errors import StrettoError, TimedOut, Unavailable

if TYPE_CHECKING:
    from stretto.client import Client

TRIES: Final = 3  # a person would rather know
SETTING: Final = "client.server"


class Remote(NamedTuple):
    """A server, and who talks to it."""

    url: str
    user: str
    config: Config
    options: tuple[str, ...]  # that a user gives to come here again

    def again(self, *words: str) -> str:
        """A command on the same server, as one would type it."""
        return shlex.join(["stretto", *words, *self.options])


def remote_of(
    config_file: str | None, assignments: Iterable[str], server: str | None, user: str | None
) -> Remote:
    """The server that options, environment and files of settings name; else the one of this machine."""
    assignments = tuple(assignments)
    options = [*options_of(config_file, assignments), *([] if user is None else ["--user", user])]
    return _remote(settings_of(config_file, assignments, None, server), server, user, options)


def remote_if_any(
    config_file: str | None, assignments: Iterable[str], database: str | None, server: str | None
) -> Remote | None:
    """For commands that also read databases: a server, if somebody names one and no database beside it."""
    if database is not None:
        if server is not None:
            raise click.UsageError(f"read a database or ask a server: leave {DATABASE} or {SERVER} out")
        return None
    assignments = tuple(assignments)
    loaded = settings_of(config_file, assignments, None, server)
    if loaded.origins[SETTING].source is Source.DEFAULT:
        return None
    return _remote(loaded, server, None, options_of(config_file, assignments))


def _remote(loaded: Loaded, server: str | None, user: str | None, options: list[str]) -> Remote:
    url = loaded.config.client.server
    flag = [] if server is None else [SERVER, url]
    name = user if user is not None else caller().user.name
    return Remote(url, name, loaded.config, (*options, *flag))


@contextmanager
def talking(remote: Remote) -> Iterator["Client"]:
    """A client of the server. What is refused is said, with the way out."""
    from stretto.client import Client, Retries  # noqa: PLC0415 - the help need not wait for it

    within = remote.config.client.answer_within / 1_000
    try:
        with Client(remote.url, user=remote.user, within=within, retries=Retries(tries=TRIES)) as client:
            yield client
    except StrettoError as error:
        hint = error.hint
        if isinstance(error, Unavailable) and hint is not None:
            hint = f"start one with `stretto serve`, or name another: {SERVER} URL"
        if isinstance(error, TimedOut) and hint is None:
            hint = "look what keeps it busy, or wait longer: --set client.answer_within=2m"
        more = [f"\n  {readable(each)}" for each in error.details] if len(error.details) > 1 else []
        raise Refused(readable(error.message) + "".join(more), hint) from None
