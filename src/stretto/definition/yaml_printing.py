"""JSON value -> YAML text.

Structure is written here, line by line; how a text is quoted is PyYAML's affair. Its own emitter needs a
second for 5,000 steps.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from io import StringIO
from typing import Any, Final

import yaml

from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.yaml_scalars import plain_value

WIDE: Final = 1_000_000  # never fold a line: an expression is easier to read whole
TEXT: Final = "tag:yaml.org,2002:str"
INDENT: Final = "  "
ITEM: Final = "- "
LONGEST_KEY: Final = 100  # characters; PyYAML writes long keys in a form of its own
END: Final = "...\n"  # behind a text that keeps its last line breaks, if nothing else comes behind it
BARE: Final = frozenset({"\n", END})  # lines that are never indented
SIMPLE: Final = re.compile(r"[\w.+-]{1,80}", re.ASCII)
WORDS: Final = {True: "true", False: "false", None: "null"}


def yaml_text(value: dict[str, Any]) -> str:
    """Long texts as blocks, no quotes where none are needed."""
    if not value:
        return _dumped(value)
    *lines, last = _block(value)
    return "".join([*(line for line in lines if line != END), last])


def _block(value: Any) -> Iterator[str]:
    """The lines of an object or a list that is not empty, without indentation."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _member(key, item)
    else:
        for item in value:
            yield from _element(item)


def _member(key: Any, value: Any) -> Iterator[str]:
    name = _plain(key) if isinstance(key, str) and len(key) <= LONGEST_KEY else None
    if name is None:
        yield from _lines(_dumped({key: value}))
    elif isinstance(value, (dict, list, tuple)) and value:
        yield f"{name}:\n"
        for line in _block(value):
            yield line if line in BARE else INDENT + line
    elif (text := _simple(value)) is not None:
        yield f"{name}: {text}\n"
    else:
        yield from _lines(_dumped({key: value}))


def _element(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list, tuple)) and value:
        for number, line in enumerate(_block(value)):
            yield line if line in BARE else (INDENT if number else ITEM) + line
    elif (text := _simple(value)) is not None:
        yield f"{ITEM}{text}\n"
    else:
        yield from _lines(_dumped([value]))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# ---------------------------------------------------------------------------------------------------- scalars
def _simple(value: Any) -> str | None:
    """A scalar on its line; None: PyYAML says how it is written."""
    if isinstance(value, str):
        return _plain(value) or _quoted(value)
    if value is None or isinstance(value, bool):
        return WORDS[value]
    return str(value) if type(value) is int else None


@lru_cache(maxsize=10_000)
def _plain(text: str) -> str | None:
    """A text of one line, if it needs no quotes."""
    if not text or not _is_plain(text):
        return None
    emitter = _emitter()
    is_text = emitter.resolve(yaml.ScalarNode, text, (True, False)) == TEXT
    return text if is_text and emitter.analyze_scalar(text).allow_block_plain else None


def _quoted(text: str) -> str | None:
    """A text that would be something else without quotes, if nothing in it must be escaped."""
    is_simple = SIMPLE.fullmatch(text) is not None and not _is_plain(text)
    return f'"{text}"' if is_simple else None


@lru_cache(maxsize=1)
def _emitter() -> Any:
    return _Dumper(StringIO(), allow_unicode=True, width=WIDE)


def _dumped(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes scalars so that the core schema of YAML 1.2 reads them back as they were; texts in 1.1 too."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - an equal value twice is no alias
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value and _fits_block(value) else None if _is_plain(value) else '"'
    return dumper.represent_scalar(TEXT, value, style=style)


def _is_plain(value: str) -> bool:
    """Whether it is read as text without quotes. Line breaks of other scripts would be folded away."""
    try:
        return value.isprintable() and isinstance(plain_value(value), str)
    except BadNumber:
        return False


def _fits_block(value: str) -> bool:
    """A block keeps text only if no line ends in a space and every character can be printed."""
    lines = value.split("\n")
    return all(line == line.rstrip() and line.isprintable() for line in lines) and bool(value.strip())


def _number(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    """Without quotes, whatever YAML 1.1 takes it for: `1E+3` is a number in 1.2 only."""
    text = str(value)
    tag: str = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(tag, text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _number)
