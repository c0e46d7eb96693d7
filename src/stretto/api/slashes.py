"""Slashes in names: `%2F` in a path is part of a name, and does not end it."""

from typing import Final

SLASH: Final = "\x1f"  # stands for `%2F` while a route is looked for; no name has it


def slashed(text: str) -> str:
    """A name from a path, or a text with such names, with the slashes that it was sent with."""
    return text.replace(SLASH, "/")
