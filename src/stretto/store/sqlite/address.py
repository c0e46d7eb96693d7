"""The file that an address names."""

from pathlib import Path
from typing import Final

from stretto.model.errors import InvalidRequest

PREFIX: Final = "sqlite:///"


def path_of(url: str) -> Path:
    """`sqlite:///PATH`: what follows the three slashes, which is absolute if it begins with a fourth."""
    path = url.removeprefix(PREFIX)
    if path == url or not path or "?" in path:
        raise InvalidRequest(
            f"[{url}] names no SQLite file",
            hint="write sqlite:///PATH; with an absolute path there are four slashes",
        )
    return Path(path).expanduser().absolute()
