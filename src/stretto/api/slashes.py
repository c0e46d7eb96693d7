"""Slashes that are part of a name: `%2F` in a path is no border."""

from typing import Final
from urllib.parse import unquote

SLASH: Final = "\x1f"  # stands for `%2F` in a path: it is part of a name there, and no name has it


def unquoted(raw: str) -> str:
    """A path as it was sent, with its borders only."""
    return "/".join(unquote(part).replace("/", SLASH) for part in raw.split("/"))


def slashed(name: str) -> str:
    """A name from a path, or a text about one, with the slashes that it was sent with."""
    return name.replace(SLASH, "/")
