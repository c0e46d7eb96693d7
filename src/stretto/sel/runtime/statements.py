"""Statements to closures. A statement gives its value, VOID, or a signal to leave what is around it."""

from collections.abc import Callable
from typing import Any, Final

from stretto.sel.errors import Kind, SelError, mismatch
from stretto.sel.library.constructors import declared_default
from stretto.sel.runtime import operators
from stretto.sel.runtime.expressions import compile_node, compile_slot
from stretto.sel.runtime.frame import Frame
from stretto.sel.runtime.segment import Code, Segment
from stretto.sel.syntax import tree
from stretto.sel.syntax.source import utf16_length
from stretto.sel.text import described
from stretto.sel.values import VOID, Thrown, Value, type_of


class Signal:
    """Why a statement ended before the next one."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word


BREAK: Final = Signal("break")
CONTINUE: Final = Signal("continue")
RETURN: Final = Signal("return")  # the value is in `frame.result`


def compile_statement(node: tree.Statement) -> Code:
    """The closure of a statement."""
    return COMPILERS[type(node)](node)


def compile_script(script: tree.Script) -> Code:
    """The closure of a whole script. It gives the script's result."""
    entry = Segment(visits=1 + len(script.imports))
    if len(script.statements) == 1 and isinstance(script.statements[0], tree.Evaluate):
        entry.visit(1)  # most scripts are one expression: one closure less for them
        return _single(entry, script.statements[0].expression)
    body = _sequence([compile_statement(item) for item in script.statements])

    def run(frame: Frame) -> Value:
        outcome = body(frame)
        if type(outcome) is not Signal:
            return outcome
        if outcome is RETURN:
            return frame.result
        raise SelError(Kind.RUNTIME, f"{outcome.word!r} is outside of any loop", at=frame.result)

    return entry.charged(run, script.at)


def _single(entry: Segment, expression: tree.Expr) -> Code:
    code = compile_slot(expression, entry, 0)
    return entry.charged(code, expression.at)


def _sequence(items: list[Code]) -> Code:
    """One statement after the other, until one gives a signal. The value is that of the last."""

    def run(frame: Frame) -> Value:
        outcome: Value = VOID
        for item in items:
            outcome = item(frame)
            if type(outcome) is Signal:
                break
        return outcome

    return run


# ------------------------------------------------------------------------------------- simple statements
def _compile_evaluate(node: tree.Evaluate) -> Code:
    return _single(Segment(visits=1), node.expression)


def _compile_declare(node: tree.Declare) -> Code:
    segment = Segment()
    return segment.charged(compile_declaration(node, segment), node.at)


def compile_declaration(node: tree.Declare, segment: Segment) -> Code:
    """A declaration as part of a segment. Its type stays on the stack while its values are computed."""
    segment.visit(3)
    segment.hold(1)
    declared: list[tuple[str, Code | None, int]] = []
    for declarator in node.declarators:
        segment.visit(2)
        value = None if declarator.value is None else compile_slot(declarator.value, segment, 1)
        declared.append((declarator.name, value, declarator.at))
    type_name, is_array = node.type.name, node.type.array

    def declare(frame: Frame) -> Value:
        for name, code, at in declared:
            try:
                default = declared_default(type_name, is_array=is_array)
                value = default if code is None else code(frame)
                if type_of(value) is not type_of(default):
                    raise mismatch(type_of(default), type_of(value))
                frame.names[name] = frame.kept(value)
            except SelError as error:
                raise error.placed(at) from None
        return VOID

    return declare


def _compile_leave(node: tree.Leave) -> Code:
    segment = Segment(visits=2)
    signal, at = (BREAK if node.word == "break" else CONTINUE), node.at

    def leave(frame: Frame) -> Value:
        frame.result = at  # where to point if there is no loop to leave
        return signal

    return segment.charged(leave, at)


def _compile_return(node: tree.Return) -> Code:
    segment = Segment(visits=2)
    value = compile_slot(node.value, segment, 0)

    def give(frame: Frame) -> Value:
        frame.result = value(frame)
        return RETURN

    return segment.charged(give, node.at)


def _compile_throw(node: tree.Throw) -> Code:
    segment = Segment(visits=2)
    segment.make()
    message, at = compile_slot(node.message, segment, 0), node.at

    def throw(frame: Frame) -> Value:
        text = message(frame)
        if type(text) is not str:
            raise SelError(
                Kind.ILLEGAL_ARGUMENT, f"Only a string can be thrown, not {described(text)}", at=at
            )
        frame.pay_text(utf16_length(text))
        frame.result = Thrown(text)
        return RETURN

    return segment.charged(throw, at)


# ---------------------------------------------------------------------------------- blocks and branches
def _compile_block(node: tree.Block) -> Code:
    return Segment(visits=2).charged(_sequence([compile_statement(item) for item in node.items]), node.at)


def _compile_if(node: tree.If) -> Code:
    segment = Segment(visits=2)
    condition, at = compile_slot(node.condition, segment, 0), node.condition.at
    chosen = compile_statement(node.chosen)
    otherwise = None if node.otherwise is None else compile_statement(node.otherwise)

    def branch(frame: Frame) -> Value:
        if _holds(condition, frame, at):
            outcome = chosen(frame)
        elif otherwise is not None:
            outcome = otherwise(frame)
        else:
            return VOID
        return outcome if type(outcome) is Signal else VOID

    return segment.charged(branch, node.at)


def _holds(condition: Code, frame: Frame, at: int) -> bool:
    value = condition(frame)
    if value is True or value is False:
        return bool(value)
    raise operators.no_condition(value).placed(at)


# ------------------------------------------------------------------------------------------------- loops
def _compile_while(node: tree.While) -> Code:
    condition = _part(node.condition)
    return Segment(visits=2).charged(
        _loop(condition, compile_statement(node.body), None, node.condition.at), node.at
    )


def _compile_for(node: tree.For) -> Code:
    entry = Segment(visits=2)
    entry.visit(1)
    match node.start:
        case None:
            start = None
        case tree.Declare():
            start = compile_declaration(node.start, entry)
        case _:
            start = compile_node(node.start, entry, 0)
    condition = _always() if node.condition is None else _part(node.condition)
    update = _always() if node.update is None else _update(node.update)
    at = node.at if node.condition is None else node.condition.at
    loop = _loop(condition, compile_statement(node.body), update, at)

    def run(frame: Frame) -> Value:
        if start is not None:
            start(frame)
        return loop(frame)

    return entry.charged(run, node.at)


def _part(node: tree.Expr) -> Code:
    segment = Segment()
    return segment.charged(compile_slot(node, segment, 0), node.at)


def _update(node: tree.Expr) -> Code:
    segment = Segment(visits=1)
    return segment.charged(compile_node(node, segment, 0), node.at)


def _always() -> Code:
    """A part of a `for` that was left out: it costs a visit, and is true."""
    return Segment(visits=1).charged(lambda _: True, 0)


def _loop(condition: Code, body: Code, update: Code | None, at: int) -> Code:
    def run(frame: Frame) -> Value:
        limit = frame.limits.loop
        passes = 0
        while _holds(condition, frame, at):
            outcome = body(frame)
            if outcome is BREAK:
                break
            if outcome is RETURN:
                return RETURN
            if update is not None:
                update(frame)
            passes += 1
            if passes >= limit:
                raise SelError(
                    Kind.ILLEGAL_STATE, f"A loop makes {limit} passes or more", at=at, limit="loop"
                )
        return VOID

    return run


COMPILERS: Final[dict[type[tree.Node], Callable[[Any], Code]]] = {
    tree.Evaluate: _compile_evaluate,
    tree.Declare: _compile_declare,
    tree.Leave: _compile_leave,
    tree.Return: _compile_return,
    tree.Throw: _compile_throw,
    tree.Block: _compile_block,
    tree.If: _compile_if,
    tree.While: _compile_while,
    tree.For: _compile_for,
}
