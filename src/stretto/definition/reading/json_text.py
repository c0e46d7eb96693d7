"""JSON text -> JSON value. The quick way is the standard scanner; the slow one knows every position."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from stretto.definition.reading.located import LocatedDict, LocatedList, Spot
from stretto.definition.reading.numbers import BadNumber, read_decimal, read_int
from stretto.model.problem import LONGEST_KEY, Code, Place, Problem, problem_at, shortened


class DuplicateKey(Exception):
    """Some object names a key twice: this one. The located reader says where."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _constant(text: str) -> NoReturn:
    message = f"{text} is not a JSON number"
    raise BadNumber(message)


def read_json(text: str) -> Any:
    """The quick way. Raises json.JSONDecodeError, DuplicateKey, BadNumber or RecursionError."""
    twice: list[str] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # Only noted here: what follows may be no JSON at all, and that is the greater problem.
        value = dict(pairs)
        if len(value) != len(pairs):
            twice[:] = twice or [_first_again(pairs)]
        return value

    value = json.loads(
        text, object_pairs_hook=made, parse_float=read_decimal, parse_int=read_int, parse_constant=_constant
    )
    if twice:
        raise DuplicateKey(twice[0])
    return value


def _first_again(pairs: list[tuple[str, Any]]) -> str:
    return next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)


_TOKEN: Final = re.compile(
    r'[ \t\r\n]*(?:(?P<mark>[{}\[\],:])|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>[^\s{}\[\],:"]+))'
)


_WORDS: Final = {"true": True, "false": False, "null": None}


class _Token(NamedTuple):
    kind: str  # mark, text or word
    text: str
    spot: Spot


def _tokens(text: str) -> Iterator[_Token]:
    line, start = 1, 0  # of the line at hand
    following = text.find("\n")
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        position = match.start(kind)
        while 0 <= following < position:
            line, start = line + 1, following + 1
            following = text.find("\n", start)
        yield _Token(kind, match[kind], Spot(line, position - start + 1))


def too_deep_at(text: str, nesting: int) -> Spot | None:
    """Where the first list or object opens that is deeper than allowed."""
    depth = 0
    for kind, mark, spot in _tokens(text):
        if kind == "mark":
            depth += (mark in "[{") - (mark in "]}")
            if depth > nesting:
                return spot
    return None


def bad_number_at(text: str) -> Spot | None:
    """Where the first number stands that `read_json` refuses."""
    for kind, word, spot in _tokens(text):
        if kind == "word":
            try:
                read_json(word)
            except BadNumber:
                return spot
            except json.JSONDecodeError:  # reading stopped at the number, so what follows may be anything
                continue
    return None


class LocatedJson:
    """The slow way, for text that `read_json` could read, but for duplicate keys: keeps every spot."""

    def __init__(self, text: str, problems: list[Problem] | None = None) -> None:
        self._text = text
        self._stack: list[tuple[LocatedDict | LocatedList, Place]] = []
        self._key: tuple[str, Spot] | None = None  # of the value that comes next
        self.problems = [] if problems is None else problems  # keys that are given twice

    def read(self) -> Any:
        root: Any = None
        for kind, text, spot in _tokens(self._text):
            if kind == "mark" and text in ",:":
                continue
            if kind == "mark" and text in "]}":
                self._stack.pop()
            elif kind == "text" and self._key is None and self._in_object():
                self._key = (json.loads(text), spot)
            else:
                value = self._value(kind, text, spot)
                place = self._put(value, spot)
                if place is None:
                    root = value
                if kind == "mark":
                    self._stack.append((value, place))
        return root

    def _in_object(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1][0], LocatedDict)

    @staticmethod
    def _value(kind: str, text: str, spot: Spot) -> Any:
        if kind == "mark":
            return LocatedDict(spot) if text == "{" else LocatedList(spot)
        if kind == "text":
            return json.loads(text)
        if text in _WORDS:
            return _WORDS[text]
        return int(text) if text.removeprefix("-").isdigit() else Decimal(text)

    def _put(self, value: Any, spot: Spot) -> Place:
        """Into the list or object at hand; the place where it went, None for the root."""
        if not self._stack:
            return None
        parent, at = self._stack[-1]
        if isinstance(parent, LocatedList):
            parent.put(value, spot)
            return (at, len(parent) - 1)
        key, key_at = self._key or ("", spot)
        self._key = None
        if key in parent:
            self.problems.append(duplicate_key((at, key), parent, key_at))
        parent.put(key, value, key_at, spot)
        return (at, key)


def given_twice(key: str) -> str:
    """What is said of a key that is given again."""
    return f"the key `{shortened(key, LONGEST_KEY)}` is given twice in one object"


def duplicate_key(at: Place, parent: LocatedDict, spot: Spot) -> Problem:
    """The problem of a key that is given again, here and in YAML."""
    key = str(at[1]) if at else ""
    message = given_twice(key)
    problem = problem_at(at, Code.DUPLICATE_KEY, message, f"first at line {parent.keys_at[key].line}")
    return msgspec.structs.replace(problem, line=spot.line, column=spot.column)


MARKS: Final = ",:[{"  # each begins a value or a key
SLICE: Final = 64 * 1024  # characters at once: one call into C holds the interpreter


def count_nodes(text: str, enough: int) -> int:
    """The keys, values, lists and objects of JSON text; an empty list or object counts twice. A number up to
    `enough` may be too high: then the marks in texts are counted, too, which is quicker.
    """
    found = _marks(text)
    return 1 + (found if found < enough else sum(map(_marks, _outside_texts(text))))


def _marks(text: str) -> int:
    return sum(map(text.count, MARKS))


def _outside_texts(text: str) -> Iterator[str]:
    """The text without what stands in quotes."""
    begin, inside = 0, 0
    while begin < len(text):
        part = text[begin : begin + SLICE]
        if (len(part) - len(part.rstrip("\\"))) % 2 and begin + SLICE < len(text):
            part = part[:-1]  # it escapes what comes next
        begin += len(part)
        quoted = part.replace("\\\\", "").replace('\\"', "").split('"')
        yield "".join(quoted[inside::2])
        inside ^= (len(quoted) - 1) % 2
