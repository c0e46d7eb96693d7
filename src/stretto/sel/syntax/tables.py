"""The grammar as tables, and the machine that follows them.

Making the tables of grammar.lark takes longer than a small workflow, so that is done before: tables.json is
generated.
"""

from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any, Final

import msgspec

from stretto.sel.syntax.tokens import END, Token

PARTS: Final = "[]"


class Unexpected(Exception):
    """A token that can not stand where it does."""

    def __init__(self, token: Token) -> None:
        super().__init__(token)
        self.token = token


class Rule(msgspec.Struct, frozen=True, array_like=True):
    """What `size` values make a `name`: `make` is called with those of them that `picks` says.

    A pick is the place of a value, or None for an optional part that is not there; of the place `~pick` all
    parts are taken. Without `make` the only pick is handed on; with `PARTS` they are parts of the next rule.
    """

    name: str
    size: int
    make: str | None
    picks: tuple[int | None, ...]


class Tables(msgspec.Struct, frozen=True):
    """What to do in each state about each symbol: go on in a state, or (`~number`) follow a rule."""

    start: int
    end: int
    words: dict[str, str]  # text -> terminal, of those that are always the same text
    rules: list[Rule]
    states: list[dict[str, int]]


def stored_tables() -> Tables:
    """Those of grammar.lark."""
    return msgspec.json.decode(files("stretto.sel.syntax").joinpath("tables.json").read_bytes(), type=Tables)


class Machine:
    """An LALR(1) parser. It keeps its own stack: nothing here recurses."""

    def __init__(self, tables: Tables, builder: object) -> None:
        self._tables = tables
        self._rules = [(rule, _maker(rule.make, builder)) for rule in tables.rules]

    def run(self, tokens: Iterable[Token]) -> Any:
        """What the builder makes of all the tokens; `Unexpected` at the first that does not fit."""
        states, values = [self._tables.start], list[Any]()
        for token in tokens:
            step = self._settled(token, states, values)
            if step is None:
                raise Unexpected(token)
            states.append(step)
            values.append(token)
        end = Token(END, "", 0)
        self._settled(end, states, values)
        if states[-1] != self._tables.end:
            raise Unexpected(end)
        return values[-1]

    def _settled(self, token: Token, states: list[int], values: list[Any]) -> int | None:
        """Follow all rules that end before the token; then where to go on with it, if it fits."""
        while (step := self._tables.states[states[-1]].get(token.type)) is not None and step < 0:
            self._follow(~step, states, values)
        return step

    def _follow(self, number: int, states: list[int], values: list[Any]) -> None:
        rule, make = self._rules[number]
        first = len(values) - rule.size
        value = make(_picked(rule.picks, values[first:]))
        del values[first:], states[first + 1 :]
        states.append(self._tables.states[states[-1]][rule.name])
        values.append(value)


def _picked(picks: tuple[int | None, ...], values: list[Any]) -> list[Any]:
    picked: list[Any] = []
    for pick in picks:
        if pick is None:
            picked.append(None)
        elif pick >= 0:
            picked.append(values[pick])
        elif picked:
            picked += values[~pick]
        else:  # a long list grows by one part at a time, and is not copied for each
            picked = values[~pick]
    return picked


def _maker(name: str | None, builder: object) -> Callable[[list[Any]], Any]:
    if name is None:
        return lambda picked: picked[0]
    if name == PARTS:
        return lambda picked: picked
    make: Callable[..., Any] = getattr(builder, name)
    return lambda picked: make(*picked)
