"""The address of a PostgreSQL database, and what it says about how the database is used."""

from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from stretto.model.errors import InvalidRequest
from stretto.store.address_settings import split_settings
from stretto.store.settings import DatabaseSettings

SHAPE: Final = (
    "write postgresql://USER:PASSWORD@HOST:PORT/NAME; in a password `/` is %2F, `@` is %40, `:` is %3A"
)
DEFAULTS: Final = DatabaseSettings()
NAMES_A_DATABASE: Final = frozenset({"dbname", "database", "service"})


class Address(NamedTuple):
    """Where a database is.

    dsn        For the driver: without our settings.
    place      For messages: without what is secret.
    """

    dsn: str
    place: str
    settings: DatabaseSettings


def address_of(url: str, settings: DatabaseSettings = DEFAULTS) -> Address:
    """What an address means. What it says itself counts more than the settings."""
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise InvalidRequest(f"the address of the database can not be read: {error}", hint=SHAPE) from error
    if parts.path in {"", "/"} and NAMES_A_DATABASE.isdisjoint(name for name, _value in pairs):
        raise InvalidRequest("the address names no database", hint=SHAPE)
    settings, others = split_settings(pairs, settings)
    others.setdefault("application_name", "stretto")
    return Address(
        dsn=f"postgresql://{parts.netloc}{parts.path}?{urlencode(others)}",
        place=_place(parts.netloc, parts.path, others),
        settings=settings,
    )


def _place(netloc: str, path: str, query: dict[str, str]) -> str:
    host = netloc.rpartition("@")[2] or query.get("host", "")
    name = path.lstrip("/") or query.get("dbname") or query.get("database") or query.get("service", "")
    return f"postgresql://{unquote(host)}/{unquote(name)}"
