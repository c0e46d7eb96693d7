"""Expressions of SEL as trees: how a value is read is known only where it is used."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stretto.model.param import ParamType
from stretto.sel.numbers import LONG_MAX, LONG_MIN, MOST, MOST_DIGITS, double_text
from stretto.sel.syntax.printer import quoted

if TYPE_CHECKING:
    from stretto.flow.nodes import Level, Node

Scalar = str | int | float | bool | None


class Expression:
    """A piece of SEL."""

    @abstractmethod
    def leaves(self) -> "Iterator[Leaf]":
        """The values that it reads, each as often as it does."""

    @abstractmethod
    def text(self, read: "Callable[[Leaf], str]") -> str:
        """Its text, with each value that it reads as `read` spells it."""


class Leaf(Expression):
    """A value that a run has: a parameter, the result of a step, the item of a loop."""

    type: ParamType
    label: str  # for people, and for the name under which a loop hands it down

    @property
    def home(self) -> "Level | None":
        """The level of steps at which it can be read; None for one that all levels see by its name."""
        return None

    @property
    def needs(self) -> "tuple[tuple[Node, bool], ...]":
        """The steps that must have ended before, and whether it is nothing unless they ended well."""
        return ()

    def leaves(self) -> "Iterator[Leaf]":
        yield self

    def text(self, read: "Callable[[Leaf], str]") -> str:
        return read(self)


class Spelled(Leaf):
    """A value that has no name of its own."""

    @abstractmethod
    def spelled(self, read: "Callable[[Leaf], str]") -> str:
        """How it is written at its home."""


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A value that is known already."""

    value: Scalar

    def leaves(self) -> Iterator[Leaf]:
        return iter(())

    def text(self, read: Callable[[Leaf], str]) -> str:  # noqa: ARG002 - it reads nothing
        return constant_text(self.value)


@dataclass(frozen=True, slots=True)
class Joined(Expression):
    """Pieces of text and expressions, one after the other."""

    parts: tuple[str | Expression, ...]

    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts:
            if not isinstance(part, str):
                yield from part.leaves()

    def text(self, read: Callable[[Leaf], str]) -> str:
        return "".join(part if isinstance(part, str) else part.text(read) for part in self.parts)


def call(name: str, *arguments: Expression | Scalar) -> Joined:
    """`Json.text(x)`: a call of a function with expressions and constants."""
    parts: list[str | Expression] = [f"{name}("]
    for index, each in enumerate(arguments):
        parts += [", "] * bool(index)
        parts.append(each if isinstance(each, Expression) else Constant(each))
    return Joined((*parts, ")"))


def infix(left: Expression, operator: str, right: Expression) -> Joined:
    """`(a + b)`."""
    return Joined(("(", left, f" {operator} ", right, ")"))


def all_of(conditions: "list[Expression]") -> Expression:
    """Whether all of them hold."""
    made = conditions[0]
    for each in conditions[1:]:
        made = infix(made, "&&", each)
    return made


def negated(condition: Expression) -> Joined:
    return Joined(("!(", condition, ")"))


def constant_text(value: Scalar) -> str:
    """A constant as SEL writes it. Raises ValueError for what it can not write.

    What the literals of the language can not say, a function reads from a text.
    """
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -MOST < value < MOST:
            message = f"an integer has more than {MOST_DIGITS:,} digits"
            raise ValueError(message)
        if not LONG_MIN < value <= LONG_MAX:
            return f"Long.valueOf('{value}')"
        return str(value) if value >= 0 else f"({value})"
    if not math.isfinite(value):
        return f"Double.valueOf('{double_text(value)}')"
    return repr(value) if value >= 0 else f"({value!r})"
