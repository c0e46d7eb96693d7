"""`${name}` and `$name` in texts: compiled once, rendered by a lookup of names."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from stretto.sel.runtime.boxing import boxed
from stretto.sel.text import SIMPLE, json_text

# At a `$`: a variable; or `$$`, which is `$`, or with a name behind it that name's text. A lone `$` stays.
VARIABLE: Final = r"\$(?:([A-Za-z][A-Za-z0-9_]*)|\{([A-Za-z][A-Za-z0-9_./-]*)\})"
PARTS: Final = re.compile(rf"(?P<variable>{VARIABLE})|\$(?P<literal>\$(?:{VARIABLE[2:]})?)", re.ASCII)
REFERENCE: Final = re.compile(rf"(?P<dollars>\$*){VARIABLE}", re.ASCII)

Lookup = Callable[[str], Any]
"""Gives the value of a name, or raises whatever the caller wants to see."""


class Template:
    """A text with variables. `names` are those it refers to, in order, each once."""

    __slots__ = ("_parts", "names", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: tuple[str, ...] = tuple(dict.fromkeys(_references(text)))
        self._parts = _parts_of(text)

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    @property
    def parts(self) -> tuple[str, ...]:
        """Literal texts and names in turn, beginning and ending with a literal."""
        return self._parts

    def render(self, lookup: Lookup) -> str:
        """The text with each variable replaced by its value's text: arrays and maps as JSON."""
        parts = self._parts
        if len(parts) == 1:
            return parts[0]
        pieces = list(parts)
        for at in range(1, len(pieces), 2):
            value = lookup(pieces[at])
            pieces[at] = value if type(value) is str else shown(value)
        return "".join(pieces)


def _parts_of(text: str) -> tuple[str, ...]:
    """Literal texts and names in turn, beginning and ending with a literal."""
    parts: list[str] = []
    literal, end = "", 0
    for match in PARTS.finditer(text):
        literal += text[end : match.start()]
        end = match.end()
        if match["variable"] is None:
            literal += match["literal"]
        else:
            parts += (literal, match[2] or match[3])
            literal = ""
    return (*parts, literal + text[end:])


def _references(text: str) -> list[str]:
    """A variable counts unless exactly one `$` stands before its own.

    So `$$$$x` refers to x although it renders as text: the rule of the reference.
    """
    return [match[2] or match[3] for match in REFERENCE.finditer(text) if len(match["dollars"]) != 1]


def shown(value: Any) -> str:
    """A value inside a text: scalars in Java's notation, arrays and maps as compact JSON."""
    simple = SIMPLE.get(type(value))
    return json_text(boxed(value, exact=True), _unlimited) if simple is None else simple(value)


def _unlimited(_: int) -> None:
    """What is interpolated was paid for when it was computed."""


@lru_cache(maxsize=4096)
def compile_template(text: str) -> Template:
    """The compiled form of a text, from a cache."""
    return Template(text)
