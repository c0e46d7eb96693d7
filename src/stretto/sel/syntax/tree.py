"""The tree of a script. `at` is an offset in the text; two trees are equal when they say the same.

Long chains (`a + b - c`, `a.b().c[0]`, `- - a`, `((a))`) are one node each, so that a long expression is
not a deep one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place in the text."""

    at: int = field(default=0, compare=False, kw_only=True)


# ----------------------------------------------------------------------------------------- expressions
@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A string, number, boolean or null."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable, a binding or a class."""

    name: str


@dataclass(frozen=True, slots=True)
class Group(Node):
    """An expression in `layers` pairs of parentheses."""

    inner: "Expr"
    layers: int


@dataclass(frozen=True, slots=True)
class Signed(Node):
    """Unary operators before an operand, the outermost first."""

    operators: tuple[str, ...]
    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Link(Node):
    """An operator of a chain and what stands on its right."""

    operator: str
    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """Binary operators of one precedence, computed from left to right."""

    first: "Expr"
    rest: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`condition ? chosen : otherwise`."""

    condition: "Expr"
    chosen: "Expr"
    otherwise: "Expr"


@dataclass(frozen=True, slots=True)
class Field(Node):
    """The suffix `.name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """The suffix `.name(arguments)`."""

    name: str
    arguments: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """The suffix `[index]`."""

    index: "Expr"


@dataclass(frozen=True, slots=True)
class Access(Node):
    """A value and the fields, calls and subscripts applied to it in turn."""

    base: "Expr"
    suffixes: tuple[Field | Call | Subscript, ...]


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`name = value`, `name[index] = value`, and with `+=` and its sisters."""

    target: str
    index: "Expr | None"
    operator: str
    value: "Expr"


@dataclass(frozen=True, slots=True)
class NewArray(Node):
    """`new type[size]`."""

    type: str
    size: "Expr"


@dataclass(frozen=True, slots=True)
class ArrayOf(Node):
    """`new type[]{elements}`."""

    type: str
    elements: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class New(Node):
    """`new type(arguments)`."""

    type: str
    arguments: tuple["Expr", ...]


Expr = Literal | Name | Group | Signed | Chain | Conditional | Access | Assign | NewArray | ArrayOf | New


# ------------------------------------------------------------------------------------------ statements
@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """The type of a declaration."""

    name: str
    array: bool


@dataclass(frozen=True, slots=True)
class Declarator(Node):
    """One name of a declaration, with its value if it has one."""

    name: str
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Declare(Node):
    """`int a, b = 2`."""

    type: TypeName
    declarators: tuple[Declarator, ...]


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """An expression as a statement."""

    expression: Expr


@dataclass(frozen=True, slots=True)
class Block(Node):
    """`{ ... }`."""

    items: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """`if (condition) chosen else otherwise`."""

    condition: Expr
    chosen: "Statement"
    otherwise: "Statement | None"


@dataclass(frozen=True, slots=True)
class While(Node):
    """`while (condition) body`."""

    condition: Expr
    body: "Statement"


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for (start; condition; update) body`, each part of the head optional."""

    start: Declare | Expr | None
    condition: Expr | None
    update: Expr | None
    body: "Statement"


@dataclass(frozen=True, slots=True)
class Leave(Node):
    """`break` or `continue`."""

    word: str


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`return value`."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Throw(Node):
    """`throw message`."""

    message: Expr


Statement = Declare | Evaluate | Block | If | While | For | Leave | Return | Throw


@dataclass(frozen=True, slots=True)
class Script(Node):
    """A whole script; its imports do nothing but cost a visit."""

    imports: tuple[str, ...]
    statements: tuple[Statement, ...]


PARTS: dict[type[Node], tuple[str, ...]] = {}
"""The names of a class's fields: looked up for every node of every tree."""


def _parts(kind: type[Node]) -> tuple[str, ...]:
    if kind not in PARTS:
        PARTS[kind] = tuple(part.name for part in fields(kind))
    return PARTS[kind]


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below, in the order of the text."""
    for part in _parts(type(node)):
        value = getattr(node, part)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Node))


def depth(root: Node) -> int:
    """How many nodes stand above each other at most, without groups and links, which cost nothing.

    Does not recurse: it guards those that do.
    """
    deepest, open_nodes = 0, [(root, 1)]
    while open_nodes:
        node, level = open_nodes.pop()
        deepest = max(deepest, level)
        below = level if isinstance(node, Group | Link) else level + 1
        open_nodes += ((child, below) for child in children(node))
    return deepest
