"""Where the output of steps is kept, for each database."""

from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from stretto.runtimes.settings import RuntimeSettings

SUFFIX: Final = ".logs"
FOLDER: Final = "logs"
HASH: Final = 12  # hexadecimal digits


def folder_of(url: str, settings: RuntimeSettings, data: Path) -> Path | None:
    """The folder that the settings name; else beside the file of a database, or for one on a server in the
    user's folder for data. None: the database is in memory, and its output ends with the process, too.
    """
    if settings.logs is not None:
        return Path(settings.logs).expanduser().absolute()
    scheme, _, rest = url.partition("://")
    if scheme == "memory":
        return None
    if scheme == "sqlite":
        path = _path(rest)
        return path.with_name(path.name.removesuffix(".db") + SUFFIX)
    return data / FOLDER / fingerprint_of(url)


def fingerprint_of(url: str) -> str:
    """The same for all who come to a database, under whatever name and by whatever driver."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        text = str(_path(rest))
    else:
        parts = urlsplit(url)
        query = parse_qs(parts.query)  # the folder of a socket comes there
        host, port = query.get("host", [parts.hostname]), query.get("port", [parts.port])
        text = f"{parts.scheme.partition('+')[0]} {host[0]} {port[0]} {parts.path}"
    return sha256(text.encode()).hexdigest()[:HASH]


def _path(rest: str) -> Path:
    return Path(rest.removeprefix("/")).expanduser().absolute()
