"""Definition files given on the command line: read, with a size limit and clear errors."""

import sys
from pathlib import Path

import click

from stretto.definition.limits import Limits
from stretto.definition.reading.read import Format, too_large
from stretto.model.problem import Problem

STDIN = "-"


class Unreadable(click.ClickException):
    """A file that can not be read at all."""

    exit_code = 2


def read_file(name: str, limits: Limits) -> bytes | Problem:
    """The bytes of a file or of standard input; a problem if there are more than the limit allows."""
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(limits.text_bytes + 1)
            return too_large(len(data), limits) if len(data) > limits.text_bytes else data
        path = Path(name)
        size = path.stat().st_size
        if size > limits.text_bytes:
            return too_large(size, limits)
        return path.read_bytes()
    except FileNotFoundError:
        raise Unreadable(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise Unreadable(f"{name}: this is a folder, give the files in it") from None
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from None


def format_of(name: str) -> Format | None:
    """By the file's ending; None where it says nothing."""
    return {".json": Format.JSON, ".yaml": Format.YAML, ".yml": Format.YAML}.get(Path(name).suffix.lower())
