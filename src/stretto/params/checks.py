"""Checks by name, as validators of Maestro's samples write them: `@NotEmpty`, `@Min(1.0)`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from stretto.model.param import ParamType
from stretto.params.values import scalar_text

P = ParamType

CALL: Final = re.compile(r"(@\w+|Maestro\s*\.\s*\w+)\s*(?:\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\))?\s*")
ARGUMENT: Final = re.compile(r"\s*(?:(\w+)\s*=\s*)?(?:\"((?:[^\"\\]|\\.)*)\"|([-+.\w]+))\s*(?:,|$)")

NUMBERS: Final = frozenset({P.LONG, P.DOUBLE})
FLAGS: Final = frozenset({P.BOOLEAN})
TEXTS: Final = frozenset({P.STRING})
SCALARS: Final = NUMBERS | FLAGS | TEXTS
SIZED: Final = frozenset(P) - NUMBERS - FLAGS
ANYTHING: Final = frozenset(P)


@dataclass(frozen=True, slots=True)
class KnownCheck:
    """A check that can be named: the types it makes sense for, its arguments, and the test."""

    types: frozenset[ParamType]
    arguments: tuple[str, ...]  # names, in order; `*` stands for any number of texts
    test: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class NamedCheck:
    """A check with its arguments."""

    test: Callable[..., bool]
    arguments: Mapping[str, Any]

    def holds(self, value: Any) -> bool:
        """Whether a value passes."""
        return self.test(value, **self.arguments)


def _decimal(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _size(value: Any, min: Decimal = Decimal(0), max: Decimal | None = None) -> bool:  # noqa: A002 - Java's
    return min <= len(value) and (max is None or len(value) <= max)


CHECKS: Final[Mapping[str, KnownCheck]] = {
    "@NotNull": KnownCheck(ANYTHING, (), lambda _value: True),  # no result is ever null
    "@NotEmpty": KnownCheck(SIZED, (), lambda value: len(value) > 0),
    "@NotBlank": KnownCheck(TEXTS, (), lambda value: bool(value.strip())),
    "@Positive": KnownCheck(NUMBERS, (), lambda value: value > 0),
    "@PositiveOrZero": KnownCheck(NUMBERS, (), lambda value: value >= 0),
    "@Negative": KnownCheck(NUMBERS, (), lambda value: value < 0),
    "@NegativeOrZero": KnownCheck(NUMBERS, (), lambda value: value <= 0),
    "@Min": KnownCheck(NUMBERS, ("value",), lambda number, value: _decimal(number) >= value),
    "@Max": KnownCheck(NUMBERS, ("value",), lambda number, value: _decimal(number) <= value),
    "@DecimalMin": KnownCheck(NUMBERS, ("value",), lambda number, value: _decimal(number) >= value),
    "@DecimalMax": KnownCheck(NUMBERS, ("value",), lambda number, value: _decimal(number) <= value),
    "@Size": KnownCheck(SIZED, ("min", "max"), _size),
    "@AssertTrue": KnownCheck(FLAGS, (), bool),
    "@AssertFalse": KnownCheck(FLAGS, (), lambda value: not value),
    "Maestro.enumCheck": KnownCheck(SCALARS, ("*",), lambda value, texts: scalar_text(value) in texts),
}


def named_checks(text: str, kind: ParamType) -> tuple[NamedCheck, ...]:
    """The checks that a text names, one after the other; a `ValueError` if there is one we do not know."""
    checks: list[NamedCheck] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = CALL.match(text, at)
        if match is None:
            raise ValueError(f"there is no check at `{text[at:][:40]}`")
        checks.append(_check(re.sub(r"\s", "", match[1]), match[2] or "", kind))
        at = match.end()
    return tuple(checks)


def _check(name: str, arguments: str, kind: ParamType) -> NamedCheck:
    known = CHECKS.get(name)
    if known is None:
        raise ValueError(f"there is no check {name}, only {', '.join(CHECKS)}")
    if kind not in known.types:
        raise ValueError(f"{name} makes no sense for a {kind}")
    values = _arguments(arguments)
    if known.arguments == ("*",):
        return NamedCheck(known.test, {"texts": frozenset(text for _, text in values)})
    return NamedCheck(known.test, dict(_bound(name, known.arguments, values)))


def _arguments(text: str) -> list[tuple[str | None, str]]:
    values, at = [], 0
    while at < len(text):
        match = ARGUMENT.match(text, at)
        if match is None:
            raise ValueError(f"the arguments `{text}` can not be read")
        quoted, plain = match[2], match[3]
        values.append((match[1], plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)))
        at = match.end()
    return values


def _bound(
    name: str, names: tuple[str, ...], values: list[tuple[str | None, str]]
) -> list[tuple[str, Decimal]]:
    """Numbers by name. A check that needs its only argument must get it."""
    bound: list[tuple[str, Decimal]] = []
    for place, (key, text) in enumerate(values):
        argument = key or (names[place] if place < len(names) else None)
        if argument not in names:
            raise ValueError(f"{name} takes {' and '.join(names) or 'no argument'}")
        try:
            bound.append((argument, Decimal(text)))
        except InvalidOperation:
            raise ValueError(f"`{text}` is not a number") from None
    if names == ("value",) and not bound:
        raise ValueError(f"{name} takes a number")
    return bound
