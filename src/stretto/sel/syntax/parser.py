"""Text to tree, by the tables of the grammar in grammar.lark."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from stretto.sel.errors import Kind, SelError
from stretto.sel.syntax import tree
from stretto.sel.syntax.lexer import Lexer
from stretto.sel.syntax.source import Source, joined_surrogates
from stretto.sel.syntax.tables import Machine, Unexpected, stored_tables
from stretto.sel.syntax.tokens import END, Token

MAX_DEPTH: Final = 200
"""Nodes above each other. Each costs up to three Python frames, of which there are about a thousand."""

LONG_MAX: Final = 2**63 - 1
ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f", "\\": "\\", "'": "'", '"': '"'}


def parse(source: Source) -> tree.Script:
    """The tree of a script, or a `SelError` that says where it stops being one."""
    try:
        lexer, machine = _parser()
        script: tree.Script = machine.run(lexer.lex(source.decoded))
        if tree.depth(script) > MAX_DEPTH:
            raise SelError(
                Kind.PARSE, f"The script is nested more than {MAX_DEPTH} levels deep", at=0, limit="depth"
            )
    except Unexpected as refused:
        raise source.located(_unexpected(source, refused.token)) from None
    except SelError as error:
        raise source.located(error) from None
    return script


def _unexpected(source: Source, token: Token) -> SelError:
    if token.type == END:
        last = max(len(source.decoded) - 1, 0)
        return SelError(Kind.PARSE, "The script ends too early; is a ';' missing?", at=last)
    return SelError(Kind.PARSE, f"{token.text!r} was not expected here", at=token.at)


@cache
def _parser() -> tuple[Lexer, Machine]:
    tables = stored_tables()
    return Lexer(tables.words), Machine(tables, Builder())


def integer(text: str) -> int:
    """A literal as Java reads it: hexadecimal, octal or decimal, in 64 bits."""
    digits = text.rstrip("lL")
    if digits[:2] in {"0x", "0X"}:
        value = int(digits, 16)
        if value <= 2 * LONG_MAX + 1:
            return value if value <= LONG_MAX else value - 2**64
    elif len(digits) <= 23:
        value = int(digits, 8 if digits.startswith("0") else 10)
        if value <= LONG_MAX:
            return value
    raise SelError(Kind.NUMBER_FORMAT, f"{text} does not fit into 64 bits")


def unquoted(text: str) -> str:
    """A string literal's value."""

    def escaped(match: re.Match[str]) -> str:
        if match[1] not in ESCAPED:
            raise SelError(Kind.ILLEGAL_ARGUMENT, f"Octal escapes are not supported: {match[0]}")
        return ESCAPED[match[1]]

    body = text[1:-1]
    return joined_surrogates(re.sub(r"\\(.)", escaped, body) if "\\" in body else body)


class Builder:
    """Makes the nodes of the tree, bottom up, while the parser runs: nothing here recurses.

    Each method is called with the named parts of the rule of the grammar that bears its name.
    """

    def script(self, *items: Any) -> tree.Script:
        imports = tuple(item for item in items if isinstance(item, str))
        return tree.Script(imports, items[len(imports) :])

    def imported(self, static: Token | None, *rest: Token | None) -> str:
        names = [part.text for part in rest if part is not None]
        return f"import {'static ' if static else ''}{'.'.join(names)}"

    # -------------------------------------------------------------------------------------- statements
    def declaration(self, type_: tree.TypeName, *declarators: tree.Declarator) -> tree.Declare:
        return tree.Declare(type_, declarators, at=type_.at)

    def declarator(self, name: Token, value: Any) -> tree.Declarator:
        return tree.Declarator(name.text, value, at=name.at)

    def type(self, name: Token, brackets: Any) -> tree.TypeName:
        return tree.TypeName(name.text, brackets is not None, at=name.at)

    def brackets(self, _: Token) -> bool:
        return True

    def evaluate(self, expression: tree.Expr) -> tree.Evaluate:
        return tree.Evaluate(expression, at=expression.at)

    def block(self, *items: tree.Statement) -> tree.Block:
        return tree.Block(items, at=items[0].at if items else 0)

    def branch(
        self, condition: tree.Expr, chosen: tree.Statement, otherwise: tree.Statement | None
    ) -> tree.If:
        return tree.If(condition, chosen, otherwise, at=condition.at)

    def while_loop(self, condition: tree.Expr, body: tree.Statement) -> tree.While:
        return tree.While(condition, body, at=condition.at)

    def for_loop(self, start: Any, condition: Any, update: Any, body: tree.Statement) -> tree.For:
        first = next(part for part in (start, condition, update, body) if part is not None)
        return tree.For(start, condition, update, body, at=first.at)

    def break_loop(self, word: Token) -> tree.Leave:
        return tree.Leave(word.text, at=word.at)

    continue_loop = break_loop

    def give(self, value: tree.Expr) -> tree.Return:
        return tree.Return(value, at=value.at)

    def throw(self, word: Token, message: tree.Expr) -> tree.Throw:
        return tree.Throw(message, at=word.at)

    # ------------------------------------------------------------------------------------- expressions
    def assignment(self, target: tree.Name | tree.Access, operator: Token, value: tree.Expr) -> tree.Assign:
        if isinstance(target, tree.Name):
            return tree.Assign(target.name, None, operator.text, value, at=target.at)
        base, subscript = target.base, target.suffixes[0]
        assert isinstance(base, tree.Name)  # noqa: S101 - the grammar allows nothing else before `=`
        assert isinstance(subscript, tree.Subscript)  # noqa: S101
        return tree.Assign(base.name, subscript.index, operator.text, value, at=target.at)

    def conditional(self, condition: tree.Expr, mark: Token, *branches: tree.Expr) -> tree.Conditional:
        return tree.Conditional(condition, *branches, at=mark.at)

    def chain(self, first: tree.Expr, *rest: Any) -> tree.Chain:
        links = (
            tree.Link(operator.text, operand, at=operator.at)
            for operator, operand in zip(rest[::2], rest[1::2], strict=True)
        )
        return tree.Chain(first, tuple(links), at=rest[0].at)

    def signed(self, *parts: Any) -> tree.Signed:
        return tree.Signed(tuple(part.text for part in parts[:-1]), parts[-1], at=parts[0].at)

    def access(self, base: tree.Expr, *suffixes: tree.Field | tree.Call | tree.Subscript) -> tree.Access:
        if isinstance(base, tree.Access):  # an element: its subscript is the first suffix
            return tree.Access(base.base, (*base.suffixes, *suffixes), at=base.at)
        return tree.Access(base, suffixes, at=base.at)

    def element(self, name: Token, subscript: tree.Subscript) -> tree.Access:
        return tree.Access(self.name(name), (subscript,), at=name.at)

    def field(self, name: Token) -> tree.Field:
        return tree.Field(name.text, at=name.at)

    def call(self, name: Token, arguments: tuple[tree.Expr, ...]) -> tree.Call:
        return tree.Call(name.text, arguments, at=name.at)

    def subscript(self, bracket: Token, index: tree.Expr) -> tree.Subscript:
        return tree.Subscript(index, at=bracket.at)

    def arguments(self, *items: tree.Expr | None) -> tuple[tree.Expr, ...]:
        return tuple(item for item in items if item is not None)

    def group(self, inner: tree.Expr) -> tree.Group:
        if isinstance(inner, tree.Group):
            return tree.Group(inner.inner, inner.layers + 1, at=inner.at)
        return tree.Group(inner, 1, at=inner.at)

    def new_array(self, word: Token, type_: Token, _: Token, size: tree.Expr) -> tree.NewArray:
        return tree.NewArray(type_.text, size, at=word.at)

    def array_of(self, word: Token, type_: Token, _: Token, *elements: tree.Expr | None) -> tree.ArrayOf:
        return tree.ArrayOf(type_.text, self.arguments(*elements), at=word.at)

    def new(self, word: Token, type_: Token, arguments: tuple[tree.Expr, ...]) -> tree.New:
        return tree.New(type_.text, arguments, at=word.at)

    def name(self, name: Token) -> tree.Name:
        return tree.Name(name.text, at=name.at)

    # ---------------------------------------------------------------------------------------- literals
    def integer(self, token: Token) -> tree.Literal:
        return self._literal(token, integer)

    def real(self, token: Token) -> tree.Literal:
        return self._literal(token, lambda text: float(text.rstrip("fFdD")))

    def text(self, token: Token) -> tree.Literal:
        return self._literal(token, unquoted)

    def true(self, token: Token) -> tree.Literal:
        return tree.Literal(True, at=token.at)

    def false(self, token: Token) -> tree.Literal:
        return tree.Literal(False, at=token.at)

    def null(self, token: Token) -> tree.Literal:
        return tree.Literal(None, at=token.at)

    @staticmethod
    def _literal(token: Token, read: Callable[[str], str | int | float]) -> tree.Literal:
        try:
            return tree.Literal(read(token.text), at=token.at)
        except SelError as error:
            raise error.placed(token.at) from None
