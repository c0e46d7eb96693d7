"""The tree of a script. `at` is an offset in the text; two trees are equal when they say the same.

Long chains (`a + b - c`, `a.b().c[0]`, `- - a`, `((a))`) are one node each, so that a long expression is
not a deep one.
"""

from collections.abc import Iterator

import msgspec


class Node(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Anything with a place in the text."""

    at: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and type(self) is type(other) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash((type(self), self._said()))

    def _said(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "at")


# ----------------------------------------------------------------------------------------- expressions
class Literal(Node, frozen=True):
    """A string, number, boolean or null."""

    value: str | int | float | bool | None


class Name(Node, frozen=True):
    """A variable, a binding or a class."""

    name: str


class Group(Node, frozen=True):
    """An expression in `layers` pairs of parentheses."""

    inner: "Expr"
    layers: int


class Signed(Node, frozen=True):
    """Unary operators before an operand, the outermost first."""

    operators: tuple[str, ...]
    operand: "Expr"


class Link(Node, frozen=True):
    """An operator of a chain and what stands on its right."""

    operator: str
    operand: "Expr"


class Chain(Node, frozen=True):
    """Binary operators of one precedence, computed from left to right."""

    first: "Expr"
    rest: tuple[Link, ...]


class Conditional(Node, frozen=True):
    """`condition ? chosen : otherwise`."""

    condition: "Expr"
    chosen: "Expr"
    otherwise: "Expr"


class Field(Node, frozen=True):
    """The suffix `.name`."""

    name: str


class Call(Node, frozen=True):
    """The suffix `.name(arguments)`."""

    name: str
    arguments: tuple["Expr", ...]


class Subscript(Node, frozen=True):
    """The suffix `[index]`."""

    index: "Expr"


class Access(Node, frozen=True):
    """A value and the fields, calls and subscripts applied to it in turn."""

    base: "Expr"
    suffixes: tuple[Field | Call | Subscript, ...]


class Assign(Node, frozen=True):
    """`name = value`, `name[index] = value`, and with `+=` and its sisters."""

    target: str
    index: "Expr | None"
    operator: str
    value: "Expr"


class NewArray(Node, frozen=True):
    """`new type[size]`."""

    type: str
    size: "Expr"


class ArrayOf(Node, frozen=True):
    """`new type[]{elements}`."""

    type: str
    elements: tuple["Expr", ...]


class New(Node, frozen=True):
    """`new type(arguments)`."""

    type: str
    arguments: tuple["Expr", ...]


Expr = Literal | Name | Group | Signed | Chain | Conditional | Access | Assign | NewArray | ArrayOf | New


# ------------------------------------------------------------------------------------------ statements
class TypeName(Node, frozen=True):
    """The type of a declaration."""

    name: str
    array: bool


class Declarator(Node, frozen=True):
    """One name of a declaration, with its value if it has one."""

    name: str
    value: Expr | None


class Declare(Node, frozen=True):
    """`int a, b = 2`."""

    type: TypeName
    declarators: tuple[Declarator, ...]


class Evaluate(Node, frozen=True):
    """An expression as a statement."""

    expression: Expr


class Block(Node, frozen=True):
    """`{ ... }`."""

    items: tuple["Statement", ...]


class If(Node, frozen=True):
    """`if (condition) chosen else otherwise`."""

    condition: Expr
    chosen: "Statement"
    otherwise: "Statement | None"


class While(Node, frozen=True):
    """`while (condition) body`."""

    condition: Expr
    body: "Statement"


class For(Node, frozen=True):
    """`for (start; condition; update) body`, each part of the head optional."""

    start: Declare | Expr | None
    condition: Expr | None
    update: Expr | None
    body: "Statement"


class Leave(Node, frozen=True):
    """`break` or `continue`."""

    word: str


class Return(Node, frozen=True):
    """`return value`."""

    value: Expr


class Throw(Node, frozen=True):
    """`throw message`."""

    message: Expr


Statement = Declare | Evaluate | Block | If | While | For | Leave | Return | Throw


class Script(Node, frozen=True):
    """A whole script; its imports do nothing but cost a visit."""

    imports: tuple[str, ...]
    statements: tuple[Statement, ...]


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below, in the order of the text."""
    for part in node.__struct_fields__:
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
