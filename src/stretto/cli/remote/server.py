"""A server that a command talks to; what goes wrong there ends the command with a message."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from stretto.cli.address import readable
from stretto.cli.config_options import SERVER
from stretto.cli.database import Refused
from stretto.config import Config
from stretto.model.errors import StrettoError, TimedOut, Unavailable

if TYPE_CHECKING:
    from stretto.client import Client

TRIES: Final = 3  # a person would rather know


class Remote(NamedTuple):
    """A server, and who talks to it."""

    url: str
    user: str
    config: Config
    options: tuple[str, ...]  # that a user gives to come here again

    def again(self, *words: str) -> str:
        """A command on the same server, as one would type it."""
        return shlex.join(["stretto", *words, *self.options])


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
            hint = f"start one with `stretto serve`, or name another: {SERVER} URL, or `stretto context use`"
        if isinstance(error, TimedOut) and hint is None:
            hint = "look what keeps it busy, or wait longer: --set client.answer_within=2m"
        details = error.details if len(error.details) > 1 else ()
        more = [f"\n  {readable(each)}" for each in details if not error.message.startswith(each)]
        raise Refused(readable(error.message) + "".join(more), hint) from None
