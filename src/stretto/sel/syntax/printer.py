"""Tree to text: a script that parses to the same tree again."""

from collections.abc import Callable
from typing import Any, Final

from stretto.sel.numbers import double_text
from stretto.sel.syntax import tree

ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\b": "\\b", "\r": "\\r", "\f": "\\f"}
)


WORDS: Final = {True: "true", False: "false", None: "null"}


def quoted(text: str) -> str:
    """A text as a literal of the language."""
    return f"'{text.translate(ESCAPES)}'"


def show(node: tree.Node) -> str:
    """The text of a node."""
    return PRINTERS[type(node)](node)


def _list(nodes: tuple[tree.Expr, ...]) -> str:
    return ", ".join(map(show, nodes))


# ------------------------------------------------------------------------------------------ expressions
def _show_literal(node: tree.Literal) -> str:
    value = node.value
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return double_text(value)
    return WORDS[value] if value is None or isinstance(value, bool) else str(value)


def _show_name(node: tree.Name) -> str:
    return node.name


def _show_group(node: tree.Group) -> str:
    return "(" * node.layers + show(node.inner) + ")" * node.layers


def _show_signed(node: tree.Signed) -> str:
    return " ".join((*node.operators, show(node.operand)))


def _show_chain(node: tree.Chain) -> str:
    return show(node.first) + "".join(f" {link.operator} {show(link.operand)}" for link in node.rest)


def _show_conditional(node: tree.Conditional) -> str:
    return f"{show(node.condition)} ? {show(node.chosen)} : {show(node.otherwise)}"


def _show_access(node: tree.Access) -> str:
    base = show(node.base)
    return base + "".join(map(show, node.suffixes))


def _show_field(node: tree.Field) -> str:
    return f".{node.name}"


def _show_call(node: tree.Call) -> str:
    return f".{node.name}({_list(node.arguments)})"


def _show_subscript(node: tree.Subscript) -> str:
    return f"[{show(node.index)}]"


def _show_assign(node: tree.Assign) -> str:
    index = "" if node.index is None else f"[{show(node.index)}]"
    return f"{node.target}{index} {node.operator} {show(node.value)}"


def _show_new_array(node: tree.NewArray) -> str:
    return f"new {node.type}[{show(node.size)}]"


def _show_array_of(node: tree.ArrayOf) -> str:
    return f"new {node.type}[]{{{_list(node.elements)}}}"


def _show_new(node: tree.New) -> str:
    return f"new {node.type}({_list(node.arguments)})"


# ------------------------------------------------------------------------------------------- statements
def _show_declare(node: tree.Declare) -> str:
    return f"{_declaration(node)};"


def _declaration(node: tree.Declare) -> str:
    names = (
        item.name if item.value is None else f"{item.name} = {show(item.value)}" for item in node.declarators
    )
    return f"{node.type.name}{'[]' if node.type.array else ''} {', '.join(names)}"


def _show_evaluate(node: tree.Evaluate) -> str:
    return f"{show(node.expression)};"


def _show_block(node: tree.Block) -> str:
    return " ".join(("{", *map(show, node.items), "}"))


def _show_if(node: tree.If) -> str:
    otherwise = "" if node.otherwise is None else f" else {show(node.otherwise)}"
    return f"if ({show(node.condition)}) {show(node.chosen)}{otherwise}"


def _show_while(node: tree.While) -> str:
    return f"while ({show(node.condition)}) {show(node.body)}"


def _show_for(node: tree.For) -> str:
    start = (
        _declaration(node.start) if isinstance(node.start, tree.Declare) else node.start and show(node.start)
    )
    condition = node.condition and show(node.condition)
    update = node.update and show(node.update)
    return f"for ({start or ''}; {condition or ''}; {update or ''}) {show(node.body)}"


def _show_leave(node: tree.Leave) -> str:
    return f"{node.word};"


def _show_return(node: tree.Return) -> str:
    return f"return {show(node.value)};"


def _show_throw(node: tree.Throw) -> str:
    return f"throw {show(node.message)};"


def _show_script(node: tree.Script) -> str:
    return "\n".join((*(f"{name};" for name in node.imports), *map(show, node.statements)))


PRINTERS: Final[dict[type[tree.Node], Callable[[Any], str]]] = {
    tree.Literal: _show_literal,
    tree.Name: _show_name,
    tree.Group: _show_group,
    tree.Signed: _show_signed,
    tree.Chain: _show_chain,
    tree.Conditional: _show_conditional,
    tree.Access: _show_access,
    tree.Field: _show_field,
    tree.Call: _show_call,
    tree.Subscript: _show_subscript,
    tree.Assign: _show_assign,
    tree.NewArray: _show_new_array,
    tree.ArrayOf: _show_array_of,
    tree.New: _show_new,
    tree.Declare: _show_declare,
    tree.Evaluate: _show_evaluate,
    tree.Block: _show_block,
    tree.If: _show_if,
    tree.While: _show_while,
    tree.For: _show_for,
    tree.Leave: _show_leave,
    tree.Return: _show_return,
    tree.Throw: _show_throw,
    tree.Script: _show_script,
}
