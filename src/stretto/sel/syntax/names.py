"""The names a script refers to, found without running it."""

from dataclasses import dataclass
from typing import NamedTuple

from stretto.sel.syntax import tree
from stretto.sel.values import CLASS_NAMES


class ParamsCall(NamedTuple):
    """`params.method('a', b)`: the arguments, as far as they are texts. `params.a` and `params['a']` are
    `params.get('a')`.
    """

    method: str
    arguments: tuple[str | None, ...]

    def __str__(self) -> str:
        said = ", ".join("..." if each is None else f"'{each}'" for each in self.arguments)
        return f"params.{self.method}({said})"


@dataclass(frozen=True, slots=True)
class Names:
    """What a script reads and writes.

    `symbols` says of each name whether its first occurrence is a read. `required` are those read first,
    without classes: somebody must bind them. `optional` are those whose first occurrence is their own
    update (`x += 1`, `x = x + 1`, `x[0] = 1`): they should be bound if somebody has them. `calls` are what it
    asks of `params`.
    """

    symbols: dict[str, bool]
    required: frozenset[str]
    optional: frozenset[str]
    calls: tuple[ParamsCall, ...] = ()


def names_of(script: tree.Script) -> Names:
    """Every name of the script."""
    symbols: dict[str, bool] = {}
    updated: set[str] = set()
    calls: dict[ParamsCall, None] = {}
    _walk(script, symbols, updated, calls)
    required = {name for name, is_read in symbols.items() if is_read}
    return Names(
        symbols,
        frozenset(required - CLASS_NAMES.keys()),
        frozenset(updated - CLASS_NAMES.keys()),
        tuple(calls),
    )


def _walk(
    node: tree.Node, symbols: dict[str, bool], updated: set[str], calls: dict[ParamsCall, None]
) -> None:
    """Visit in the order of the text; an assignment's target comes before its value."""
    match node:
        case tree.Name():
            symbols.setdefault(node.name, True)
        case tree.Declarator():
            symbols.setdefault(node.name, False)
        case tree.Assign():
            if node.target not in symbols:
                symbols[node.target] = False
                if node.operator != "=" or node.index is not None or reads(node.value, node.target):
                    updated.add(node.target)
        case tree.Access(base=tree.Name(name="params"), suffixes=(first, *_)):
            calls[_call_of(first)] = None
        case _:
            pass
    for child in tree.children(node):
        _walk(child, symbols, updated, calls)


def _call_of(suffix: tree.Field | tree.Call | tree.Subscript) -> ParamsCall:
    if isinstance(suffix, tree.Field):
        return ParamsCall("get", (suffix.name,))
    if isinstance(suffix, tree.Subscript):
        return ParamsCall("get", (_text(suffix.index),))
    return ParamsCall(suffix.name, tuple(map(_text, suffix.arguments)))


def _text(argument: tree.Node) -> str | None:
    written = isinstance(argument, tree.Literal) and isinstance(argument.value, str)
    return argument.value if written else None  # type: ignore[attr-defined]


def reads(node: tree.Node, name: str) -> bool:
    """Whether an expression contains a name."""
    return (isinstance(node, tree.Name) and node.name == name) or any(
        reads(child, name) for child in tree.children(node)
    )
