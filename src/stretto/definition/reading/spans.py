"""Where what stands at a place of a text ends, so that an editor can underline it."""

import re
from collections.abc import Sequence
from typing import Final

from stretto.definition.reading.located import Spot

BREAK: Final = re.compile(r"\r\n|\r|\n")
# A text in quotes, as far as it ends in its line; a word; or whatever one character stands there.
WORD: Final = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s,:\[\]{}"'#]+|.""")


def lines_of(text: str) -> list[str]:
    return BREAK.split(text)


def end_of(lines: Sequence[str], spot: Spot) -> Spot:
    """The place behind the word that begins at a place; the place itself, if nothing is there."""
    line = lines[spot.line - 1] if 0 < spot.line <= len(lines) else ""
    found = WORD.match(line, spot.column - 1)
    return Spot(spot.line, spot.column if found is None else found.end() + 1)
