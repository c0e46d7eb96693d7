"""How an engine behaves at its start and at its end, and the settings around it."""

import getpass
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from stretto.config import Config, Flag, Source, load, program_database, surroundings
from stretto.config.settings import with_values
from stretto.model.errors import InvalidRequest
from stretto.model.words import Word

MEMORY: Final = "memory://"
OWN_SHARE: Final = 0.25  # of the time to stop, and at most LAST_WORDS, for what is not work of steps
LAST_WORDS: Final = 2.0  # seconds


class Recover(Word):
    """What becomes of runs that the graceful stop of an engine has paused, when one starts."""

    AUTO = "AUTO"  # they go on
    MANUAL = "MANUAL"  # they stay paused until somebody resumes them


class OnStop(Word):
    """What becomes of unfinished runs when an engine stops gracefully."""

    PAUSE = "PAUSE"  # nothing new begins in them; the next engine resumes them
    FINISH = "FINISH"  # they have their time to end; what has not is paused
    HAND_OVER = "HAND_OVER"  # another process, or the next one here, goes on with them


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A database, and the settings around it."""

    url: str
    config: Config


def word(kind: type[Word], given: str, what: str) -> Any:
    """One of a few words, in any case."""
    try:
        return kind(given.upper())
    except (ValueError, AttributeError):
        known = ", ".join(f'"{each.value.lower()}"' for each in kind)
        raise InvalidRequest(f"{what}={given!r} is none of {known}") from None


def place_of(
    url: str | None,
    config: Config | str | Path | Mapping[str, Any] | None,
    stop_within: float,
    *,
    shared: bool = False,
) -> Place:
    """The database that a program names, or one beside it; settings as for everything else, read once.

    `config`: a `Config`, the name of a file of settings, or settings by name (`{"limits.steps": 100}`).
    `shared`: other processes do the work, so the database must be one that they can open.
    """
    if not stop_within > 0:
        raise InvalidRequest(f"stop_within={stop_within!r} must be a number of seconds above 0")
    address = MEMORY if url in {"memory", "memory:"} else url
    if isinstance(config, Config):
        read, found = config, config.database.url
    else:
        flags = [Flag(f"Engine(config[{name!r}])", f"{name}={value}") for name, value in _settings(config)]
        flags += [] if address is None else [Flag("Engine(url)", f"database.url={address}")]
        file = str(config) if isinstance(config, str | Path) else None
        loaded = load(surroundings(), file=file, flags=flags)
        read = loaded.config
        by_default = loaded.origins["database.url"].source is Source.DEFAULT
        found = None if by_default else read.database.url
    place = address or found or program_database(sys.argv[0])
    if shared and place.startswith(MEMORY):
        raise InvalidRequest("submit_only needs a database that other processes can open, not `memory`")
    node = stop_within - min(LAST_WORDS, OWN_SHARE * stop_within)
    return Place(
        url=place,
        config=with_values(read, {("node", "stop_within"): max(1, round(node * 1_000))}),
    )


def _settings(config: str | Path | Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    return list(config.items()) if isinstance(config, Mapping) else []


def user_name() -> str:
    """Who runs the program: the owner of what it makes."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a number without a name, as in some containers
        return "somebody"
