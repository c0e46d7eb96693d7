"""JSON text -> JSON value. The quick way is the standard scanner; the slow one knows every position."""

import json
import re
from decimal import Decimal
from typing import Any, Final, NoReturn

from stretto.definition.reading.located import LocatedDict, LocatedList, Spot
from stretto.model.problem import Code, Problem


class DuplicateKey(Exception):
    """Some object names a key twice; the located reader says which."""


class BadNumber(ValueError):
    """NaN, Infinity, or more digits than a number may have."""


MOST_DIGITS: Final = 400


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise DuplicateKey
    return made


def _constant(text: str) -> NoReturn:
    message = f"{text} is not a JSON number"
    raise BadNumber(message)


def read_int(text: str) -> int:
    """A whole number of bounded length: converting digits takes quadratic time."""
    if len(text) > MOST_DIGITS:
        message = f"the number has {len(text)} digits"
        raise BadNumber(message)
    return int(text)


def read_json(text: str) -> Any:
    """The quick way. Raises json.JSONDecodeError, DuplicateKey, BadNumber or RecursionError."""
    return json.loads(
        text, object_pairs_hook=_unique, parse_float=Decimal, parse_int=read_int, parse_constant=_constant
    )


_TOKEN: Final = re.compile(
    r'[ \t\r\n]*(?:(?P<mark>[{}\[\],:])|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>[^\s{}\[\],:"]+))'
)


class LocatedJson:
    """The slow way, for text that `read_json` could read, but for duplicate keys: keeps every spot."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.problems: list[Problem] = []

    def read(self) -> Any:
        tokens = _TOKEN.finditer(self._text)
        stack: list[LocatedDict | LocatedList] = []
        keys: list[tuple[str, Spot] | None] = []
        root: Any = None
        line = 0
        for token in tokens:
            kind = token.lastgroup or "mark"
            text = token[kind]
            start = token.start(kind)
            while line + 1 < len(self._starts) and self._starts[line + 1] <= start:
                line += 1
            spot = Spot(line + 1, start - self._starts[line] + 1)
            if kind == "mark" and text in ",:":
                continue
            if text in {"}", "]"}:
                stack.pop()
                keys.pop()
                continue
            if kind == "text" and stack and isinstance(stack[-1], LocatedDict) and keys[-1] is None:
                keys[-1] = (json.loads(text), spot)
                continue
            value = self._value(kind, text, spot)
            if stack:
                self._put(stack[-1], keys, value, spot)
            else:
                root = value
            if isinstance(value, LocatedDict | LocatedList):
                stack.append(value)
                keys.append(None)
        return root

    @staticmethod
    def _value(kind: str, text: str, spot: Spot) -> Any:
        if kind == "mark":
            return LocatedDict(spot) if text == "{" else LocatedList(spot)
        return json.loads(text, parse_float=Decimal)

    def _put(
        self, parent: LocatedDict | LocatedList, keys: list[tuple[str, Spot] | None], value: Any, spot: Spot
    ) -> None:
        if isinstance(parent, LocatedList):
            parent.put(value, spot)
            return
        named = keys[-1]
        if named is None:
            return
        key, key_at = named
        keys[-1] = None
        if key in parent:
            self.problems.append(
                Problem(
                    code=Code.DUPLICATE_KEY,
                    path=key,
                    message=f"the key `{key}` is given twice in one object",
                    hint=f"first at line {parent.keys_at[key].line}",
                    line=key_at.line,
                    column=key_at.column,
                )
            )
        parent.put(key, value, key_at, spot)
