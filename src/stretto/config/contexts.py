"""Contexts: names for the servers and databases that a user works with, and which of them is in use.

They are kept in the user's folder for settings:

    current = "production"

    [contexts.production]
    server = "https://stretto.example.com"
    user = "ann"

    [contexts.local]
    database = "sqlite:////home/ann/work.db"
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from stretto.config.database_url import DatabaseUrl
from stretto.config.folders import Surroundings, config_folder
from stretto.config.problems import BadValue
from stretto.config.server_url import ServerUrl
from stretto.config.toml_text import NotToml, read_toml
from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean

VARIABLE: Final = "STRETTO_CONTEXT"
FILE: Final = "contexts.toml"
LONGEST: Final = 64  # characters of a name
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_KEYS: Final = ("server", "database", "user")


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A server, with who talks to it, or a database."""

    server: str | None = None
    database: str | None = None
    user: str | None = None


class Contexts(msgspec.Struct, frozen=True, kw_only=True):
    """All contexts of a user, and the one that is in use."""

    by_name: Mapping[str, Context] = {}
    current: str | None = None

    def named(self, name: str) -> Context:
        """One of them; `InvalidRequest`, if there is none of this name."""
        found = self.by_name.get(name)
        if found is None:
            known = f"there are {', '.join(sorted(self.by_name))}" if self.by_name else "there is none yet"
            hint = did_you_mean(name, self.by_name) or f"{known}; `stretto context add` makes one"
            raise InvalidRequest(f"there is no context `{name[:LONGEST]}`", hint=hint)
        return found


def checked_context(name: str, context: Context) -> Context:
    """The context as it is kept; `InvalidRequest`, if it can not be."""
    if len(name) > LONGEST or _NAME.fullmatch(name) is None:
        hint = f"letters, digits and `_.-`, at most {LONGEST}, such as `production`"
        raise InvalidRequest(f"`{name[:LONGEST]}` can not be the name of a context", hint=hint)
    if (context.server is None) is (context.database is None):
        raise InvalidRequest(
            f"the context `{name}` must have a server or a database, and not both",
            hint="give --server URL or --db URL",
        )
    if context.database is not None and context.user is not None:
        raise InvalidRequest("a user is for a server; a database knows none", hint="leave --user out")
    try:
        server = None if context.server is None else ServerUrl().parse(context.server)
        database = None if context.database is None else DatabaseUrl().parse(context.database)
    except BadValue as bad:
        raise InvalidRequest(f"the context `{name}`: {bad.message}", hint=bad.hint) from None
    return Context(server=server, database=database, user=context.user)


def contexts_file(around: Surroundings) -> Path | None:
    """Where they are kept; None: there is no user to speak of."""
    folder = config_folder(around)
    return None if folder is None else folder / FILE


def read_contexts(around: Surroundings) -> Contexts:
    """Those that the user has made; `InvalidRequest`, if the file can not be understood."""
    path = contexts_file(around)
    if path is None:
        return Contexts()
    try:
        values = read_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Contexts()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} can not be read: {error}") from None
    except NotToml as error:
        raise InvalidRequest(f"{path}: {error}", hint="put it right, or delete it") from None
    tables = values.get("contexts", {})
    current = values.get("current")
    if not isinstance(tables, dict) or not (current is None or isinstance(current, str)):
        raise InvalidRequest(f"{path} does not hold contexts", hint="put it right, or delete it")
    return Contexts(
        by_name={name: _context(path, name, table) for name, table in tables.items()}, current=current
    )


def _context(path: Path, name: str, table: Any) -> Context:
    if not isinstance(table, dict) or not all(
        key in _KEYS and isinstance(value, str) for key, value in table.items()
    ):
        hint = f"it has {', '.join(_KEYS)}, each a text"
        raise InvalidRequest(f"{path}: the context `{name}` can not be understood", hint=hint)
    return checked_context(name, Context(**table))


def write_contexts(around: Surroundings, contexts: Contexts) -> Path:
    """Keep them, as a whole or not at all; nobody else may read them, as addresses may hold passwords."""
    path = contexts_file(around)
    if path is None:
        raise InvalidRequest("there is no folder to keep contexts in", hint="set HOME or XDG_CONFIG_HOME")
    new = path.with_name(f"{FILE}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(_text(contexts))
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise InvalidRequest(f"{path} can not be written: {error.strerror or error}") from None
    return path


def _text(contexts: Contexts) -> str:
    lines = [] if contexts.current is None else [f"current = {json.dumps(contexts.current)}"]
    for name, context in sorted(contexts.by_name.items()):
        values = {"server": context.server, "database": context.database, "user": context.user}
        lines += ["", f"[contexts.{json.dumps(name)}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines).lstrip("\n") + "\n"


def chosen_context(around: Surroundings) -> str | None:
    """The name of the context in use: STRETTO_CONTEXT, else the current one. An empty variable says: none."""
    if VARIABLE in around.environ:
        return around.environ[VARIABLE] or None
    return read_contexts(around).current
