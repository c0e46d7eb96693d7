"""Definition files given on the command line: read, with a size limit and clear errors."""

import sys
from pathlib import Path

import click

from stretto.definition.limits import Limits
from stretto.definition.reading.read import Format, too_large
from stretto.model.problem import Code, Problem

STDIN = "-"


def read_file(name: str, limits: Limits) -> bytes | Problem:
    """The bytes of a file or of standard input, or what keeps us from reading them.

    Never more than the limit is read: a pipe or a device does not say how much there is.
    """
    most = limits.text_bytes
    try:
        if name == STDIN:
            if sys.stdin is None:
                return _unreadable("standard input is closed")
            data = sys.stdin.buffer.read(most + 1)
        else:
            size = Path(name).stat().st_size
            if size > most:
                return too_large(size, limits)
            with Path(name).open("rb") as file:
                data = file.read(most + 1)
    except FileNotFoundError:
        return _unreadable("there is no such file")
    except IsADirectoryError:
        return _unreadable("this is a folder, give the files in it")
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        return _unreadable(getattr(error, "strerror", None) or str(error))
    return too_large(len(data), limits) if len(data) > most else data


def _unreadable(message: str) -> Problem:
    return Problem(code=Code.UNREADABLE, path="", message=message)


def shown(name: str) -> str:
    """A file's name for people and for JSON: bytes that are no UTF-8 are replaced."""
    return click.format_filename(name)


def format_of(name: str) -> Format | None:
    """By the file's ending; None where it says nothing."""
    return {".json": Format.JSON, ".yaml": Format.YAML, ".yml": Format.YAML}.get(Path(name).suffix.lower())
