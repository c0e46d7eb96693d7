"""Tree to text: a script that parses to the same tree again."""

from functools import singledispatch
from typing import Any, Final

from stretto.sel.numbers import double_text
from stretto.sel.syntax import tree

ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\b": "\\b", "\r": "\\r", "\f": "\\f"}
)


@singledispatch
def show(node: Any) -> str:
    """The text of a node."""
    raise TypeError(node)  # pragma: no cover - every class of the tree is registered below


def _list(nodes: tuple[tree.Expr, ...]) -> str:
    return ", ".join(map(show, nodes))


# ------------------------------------------------------------------------------------------ expressions
@show.register
def _(node: tree.Literal) -> str:
    value = node.value
    if isinstance(value, str):
        return f"'{value.translate(ESCAPES)}'"
    if isinstance(value, float):
        return double_text(value)
    return (
        {True: "true", False: "false", None: "null"}[value]
        if value is None or value is True or value is False
        else str(value)
    )


@show.register
def _(node: tree.Name) -> str:
    return node.name


@show.register
def _(node: tree.Group) -> str:
    return "(" * node.layers + show(node.inner) + ")" * node.layers


@show.register
def _(node: tree.Signed) -> str:
    return " ".join((*node.operators, show(node.operand)))


@show.register
def _(node: tree.Chain) -> str:
    return show(node.first) + "".join(f" {link.operator} {show(link.operand)}" for link in node.rest)


@show.register
def _(node: tree.Conditional) -> str:
    return f"{show(node.condition)} ? {show(node.chosen)} : {show(node.otherwise)}"


@show.register
def _(node: tree.Access) -> str:
    base = show(node.base)
    return base + "".join(map(show, node.suffixes))


@show.register
def _(node: tree.Field) -> str:
    return f".{node.name}"


@show.register
def _(node: tree.Call) -> str:
    return f".{node.name}({_list(node.arguments)})"


@show.register
def _(node: tree.Subscript) -> str:
    return f"[{show(node.index)}]"


@show.register
def _(node: tree.Assign) -> str:
    index = "" if node.index is None else f"[{show(node.index)}]"
    return f"{node.target}{index} {node.operator} {show(node.value)}"


@show.register
def _(node: tree.NewArray) -> str:
    return f"new {node.type}[{show(node.size)}]"


@show.register
def _(node: tree.ArrayOf) -> str:
    return f"new {node.type}[]{{{_list(node.elements)}}}"


@show.register
def _(node: tree.New) -> str:
    return f"new {node.type}({_list(node.arguments)})"


# ------------------------------------------------------------------------------------------- statements
@show.register
def _(node: tree.Declare) -> str:
    return f"{_declaration(node)};"


def _declaration(node: tree.Declare) -> str:
    names = (
        item.name if item.value is None else f"{item.name} = {show(item.value)}" for item in node.declarators
    )
    return f"{node.type.name}{'[]' if node.type.array else ''} {', '.join(names)}"


@show.register
def _(node: tree.Evaluate) -> str:
    return f"{show(node.expression)};"


@show.register
def _(node: tree.Block) -> str:
    return " ".join(("{", *map(show, node.items), "}"))


@show.register
def _(node: tree.If) -> str:
    otherwise = "" if node.otherwise is None else f" else {show(node.otherwise)}"
    return f"if ({show(node.condition)}) {show(node.chosen)}{otherwise}"


@show.register
def _(node: tree.While) -> str:
    return f"while ({show(node.condition)}) {show(node.body)}"


@show.register
def _(node: tree.For) -> str:
    start = (
        _declaration(node.start) if isinstance(node.start, tree.Declare) else node.start and show(node.start)
    )
    condition = node.condition and show(node.condition)
    update = node.update and show(node.update)
    return f"for ({start or ''}; {condition or ''}; {update or ''}) {show(node.body)}"


@show.register
def _(node: tree.Leave) -> str:
    return f"{node.word};"


@show.register
def _(node: tree.Return) -> str:
    return f"return {show(node.value)};"


@show.register
def _(node: tree.Throw) -> str:
    return f"throw {show(node.message)};"


@show.register
def _(node: tree.Script) -> str:
    return "\n".join((*(f"{name};" for name in node.imports), *map(show, node.statements)))
