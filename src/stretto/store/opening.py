"""Stores by their address. A database's own code, and its driver, are imported when they are asked for."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from stretto.model.errors import InvalidRequest, PreconditionFailed
from stretto.ports.store import Store
from stretto.store.settings import DatabaseSettings

DEFAULTS: Final = DatabaseSettings()
SHAPES: Final = "sqlite:///PATH, postgresql://USER@HOST/NAME, mariadb://USER@HOST/NAME or memory://"


class Backend(NamedTuple):
    """A kind of database.

    package   It has a module `opening` with `open_url(url, settings, *, create) -> Store`, and a module
              `upkeep` with `upgrade(url)`, `check(url)` and `vacuum(url)`.
    driver    The module that must be installed for it, and the extra of ours that brings it.
    """

    package: str
    driver: str | None = None
    extra: str | None = None


_MARIADB: Final = Backend("stretto.store.mariadb", "asyncmy", "mariadb")
BACKENDS: Final[dict[str, Backend]] = {
    "memory": Backend("stretto.store.memory"),
    "sqlite": Backend("stretto.store.sqlite"),
    "postgresql": Backend("stretto.store.postgresql", "asyncpg", "postgresql"),
    "mariadb": _MARIADB,
    "mysql": _MARIADB,
}


async def open_store(url: str, settings: DatabaseSettings = DEFAULTS, *, create: bool = False) -> Store:
    """The store at an address. SQLite files and memory are made if they are missing; the tables of an empty
    database on a server are made if the caller says so.
    """
    store: Store = await module_of(url, "opening").open_url(url, settings, create=create)
    return store


def module_of(url: str, name: str) -> Any:
    """A module of the database that an address names."""
    scheme, colon, _ = url.partition(":")
    backend = BACKENDS.get(scheme.partition("+")[0])
    if not colon or backend is None:
        raise InvalidRequest(
            f"the address of a database begins with its kind, not with [{scheme[:20]}]", hint=SHAPES
        )
    if backend.driver is not None and find_spec(backend.driver) is None:
        raise PreconditionFailed(
            f"the driver for {scheme} is not installed ({backend.driver})",
            hint=f"install Stretto with it, from a clone: pip install './stretto[{backend.extra}]'",
        )
    return import_module(f"{backend.package}.{name}")
