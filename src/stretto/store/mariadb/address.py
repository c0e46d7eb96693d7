"""The address of a MariaDB database, and what it says about how the database is used."""

import ssl
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean
from stretto.store.address_settings import SETTINGS, split_settings
from stretto.store.settings import DatabaseSettings

SHAPE: Final = (
    "write mariadb://USER:PASSWORD@HOST:PORT/NAME; in a password `/` is %2F, `@` is %40, `:` is %3A"
)
PORT: Final = 3306
TLS: Final = ("ssl", "ssl_ca", "ssl_cert", "ssl_key")
OPTIONS: Final = ("unix_socket", *TLS)
DEFAULTS: Final = DatabaseSettings()


class Address(NamedTuple):
    """Where a database is.

    user       None: who runs this process.
    tls        None: not encrypted.
    place      For messages: without what is secret.
    """

    user: str | None
    password: bytes
    host: str
    port: int
    database: str
    unix_socket: str | None
    tls: ssl.SSLContext | None
    place: str
    settings: DatabaseSettings


def address_of(url: str, settings: DatabaseSettings = DEFAULTS) -> Address:
    """What an address means. What it says itself counts more than the settings."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise InvalidRequest(f"the address of the database can not be read: {error}", hint=SHAPE) from error
    database = unquote(parts.path.lstrip("/"))
    if not database:
        raise InvalidRequest("the address names no database", hint=SHAPE)
    settings, options = split_settings(pairs, settings)
    for name in options:
        if name not in OPTIONS:
            raise InvalidRequest(
                f"in the address of the database, [{name[:40]}] means nothing",
                hint=did_you_mean(name, (*SETTINGS, *OPTIONS))
                or f"known are {', '.join((*SETTINGS, *OPTIONS))}",
            )
    return Address(
        user=None if parts.username is None else unquote(parts.username),
        password=unquote(parts.password or "").encode(),
        host=parts.hostname or "localhost",
        port=port,
        database=database,
        unix_socket=options.get("unix_socket"),
        tls=_tls(options),
        place=_place(parts, database, options.get("unix_socket")),
        settings=settings,
    )


def _place(parts: SplitResult, database: str, unix_socket: str | None) -> str:
    kind = parts.scheme.partition("+")[0]
    if unix_socket is not None:
        return f"{kind}://{unix_socket}/{database}"
    return f"{kind}://{parts.netloc.rpartition('@')[2] or 'localhost'}/{database}"


def _tls(options: dict[str, str]) -> ssl.SSLContext | None:
    """`ssl=true` encrypts, and believes any server; `ssl=verify` and `ssl_ca=FILE` ask for a certificate."""
    wanted = options.get("ssl", "verify" if "ssl_ca" in options else "false")
    if wanted not in {"true", "false", "verify"}:
        raise InvalidRequest(
            f"in the address of the database, ssl is {wanted[:20]!r}", hint="write true, verify or false"
        )
    if wanted == "false":
        return None
    try:
        context = ssl.create_default_context(cafile=options.get("ssl_ca"))
        if wanted == "true":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if "ssl_cert" in options:
            context.load_cert_chain(options["ssl_cert"], options.get("ssl_key"))
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"a certificate or key that the address of the database names can not be read: {error}",
            hint="look at the files of ssl_ca, ssl_cert and ssl_key",
        ) from error
    return context
