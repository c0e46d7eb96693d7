"""What a person sees of a server: where it is, and what to try."""

import shutil
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

import stretto
from stretto.cli.database import Place
from stretto.server.lifecycle import Notices
from stretto.server.roles import API, ROLES

NAME: Final = "stretto"


class Printed(Notices):
    """Notices of a server on a database, printed."""

    def __init__(self, place: Place, roles: Collection[str]) -> None:
        self._place = place
        self._roles = roles

    def started(self, url: str, loaded: Mapping[str, int]) -> None:
        tell_start(url, self._place, self._roles, loaded)

    def say(self, text: str) -> None:
        say(text)


def tell_start(url: str, place: Place, roles: Collection[str], loaded: Mapping[str, int]) -> None:
    """Where the server is, what it works on, and three commands that work now."""
    named = ", ".join(each for each in ROLES if each in roles)
    lines = [f"Stretto {stretto.__version__} listens on {url} ({named})", f"database: {place.shown}"]
    if loaded:
        lines.append("loaded: " + ", ".join(f"{name} (version {number})" for name, number in loaded.items()))
    if API in roles:
        lines += _hints(url, next(iter(loaded), None))
    kept = "everything is lost then: it is kept in memory" if place.in_memory else "nothing is lost"
    lines.append(f"Ctrl-C ends it; {kept}")
    say(*lines)


def _hints(url: str, workflow_id: str | None) -> list[str]:
    if workflow_id is None:
        return [f"try: curl {url}/health"]
    command = _own_name()
    return [
        "try, in another terminal:",
        f"  {command} start {workflow_id} --follow --server {url}",
        f"  {command} show {workflow_id}/1 --server {url}",
        f"  {command} runs --server {url}",
        f"or look at {url}/docs",
    ]


def _own_name() -> str:
    """How this program is called from here: by its name if the shell finds it by that, else by its path."""
    own = sys.argv[0]
    if Path(own).stem != NAME:
        return NAME
    found = shutil.which(NAME)
    return NAME if found is not None and Path(found).samefile(own) else own


def say(*lines: str) -> None:
    """Write lines; a reader who has gone away is no reason to stop serving."""
    with suppress(OSError):
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
