"""The names a script refers to, found without running it."""

from dataclasses import dataclass

from stretto.sel.syntax import tree
from stretto.sel.values import CLASS_NAMES


@dataclass(frozen=True, slots=True)
class Names:
    """What a script reads and writes.

    `symbols` says of each name whether its first occurrence is a read. `required` are those read first,
    without classes: somebody must bind them. `optional` are those whose first occurrence is their own
    update (`x += 1`, `x = x + 1`, `x[0] = 1`): they should be bound if somebody has them.
    """

    symbols: dict[str, bool]
    required: frozenset[str]
    optional: frozenset[str]


def names_of(script: tree.Script) -> Names:
    """Every name of the script."""
    symbols: dict[str, bool] = {}
    updated: set[str] = set()
    _walk(script, symbols, updated)
    required = {name for name, is_read in symbols.items() if is_read}
    return Names(symbols, frozenset(required - CLASS_NAMES.keys()), frozenset(updated - CLASS_NAMES.keys()))


def _walk(node: tree.Node, symbols: dict[str, bool], updated: set[str]) -> None:
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
        case _:
            pass
    for child in tree.children(node):
        _walk(child, symbols, updated)


def reads(node: tree.Node, name: str) -> bool:
    """Whether an expression contains a name."""
    return (isinstance(node, tree.Name) and node.name == name) or any(
        reads(child, name) for child in tree.children(node)
    )
