"""Expressions to closures. Each closure takes the frame of an evaluation and gives a value."""

from collections.abc import Callable
from typing import Any, Final

from stretto.sel.errors import SelError, mismatch
from stretto.sel.library import constructors
from stretto.sel.runtime import operators
from stretto.sel.runtime.access import compile_call, compile_field, read_element, write_element
from stretto.sel.runtime.frame import VALUE_SIZE, Frame
from stretto.sel.runtime.segment import Code, Segment
from stretto.sel.syntax import tree
from stretto.sel.values import UNSET, Type, Value, type_of

ABSENT = object()
UNSET_STRING = UNSET[Type.STRING]


def compile_node(node: tree.Expr, segment: Segment, depth: int) -> Code:
    """The closure of an expression that begins with `depth` operands on the stack."""
    while isinstance(node, tree.Group):
        segment.visit(2 * node.layers)
        node = node.inner
    return COMPILERS[type(node)](node, segment, depth)


def compile_slot(node: tree.Expr, segment: Segment, depth: int) -> Code:
    """An expression where any may stand (an argument, an index, a condition): one visit more."""
    segment.visit(1)
    return compile_node(node, segment, depth)


def compile_branch(node: tree.Expr, depth: int) -> Code:
    """An expression that may not be reached: charged only if it is."""
    segment = Segment()
    code = compile_slot(node, segment, depth)
    return segment.charged(code, node.at)


# ------------------------------------------------------------------------------------------------ leaves
def _compile_literal(node: tree.Literal, segment: Segment, depth: int) -> Code:
    segment.visit(2)
    segment.hold(depth + 1)
    value = node.value
    return lambda _: value


def _compile_name(node: tree.Name, segment: Segment, depth: int) -> Code:
    segment.visit(2)
    segment.hold(depth + 1)
    name, at = node.name, node.at

    def read(frame: Frame) -> Value:
        value = frame.names.get(name, ABSENT)
        if value is not ABSENT:
            return value
        try:
            return frame.bind(name)
        except SelError as error:
            raise error.placed(at) from None

    return read


# --------------------------------------------------------------------------------------------- operators
def _compile_signed(node: tree.Signed, segment: Segment, depth: int) -> Code:
    segment.visit(len(node.operators))
    segment.make(len(node.operators))
    operand, at = compile_node(node.operand, segment, depth), node.at
    steps = [operators.UNARY[operator] for operator in reversed(node.operators)]

    def apply(frame: Frame) -> Value:
        value = operand(frame)
        try:
            for step in steps:
                value = step(frame, value)
        except SelError as error:
            raise error.placed(at) from None
        return value

    return apply


def _compile_chain(node: tree.Chain, segment: Segment, depth: int) -> Code:
    segment.visit(len(node.rest))
    segment.make(len(node.rest))
    if node.rest[0].operator in {"&&", "||"}:
        return _compile_logic(node, segment, depth)
    first = compile_node(node.first, segment, depth)
    if len(node.rest) > 1:
        return _compile_fold(first, node, segment, depth)
    link = node.rest[0]
    second, at = compile_node(link.operand, segment, depth + 1), link.at
    function = operators.binary(link.operator)

    def apply(frame: Frame) -> Value:
        left = first(frame)
        right = second(frame)
        try:
            return function(frame, left, right)
        except SelError as error:
            raise error.placed(at) from None

    return apply


def _compile_fold(first: Code, node: tree.Chain, segment: Segment, depth: int) -> Code:
    rest = [
        (operators.binary(link.operator), compile_node(link.operand, segment, depth + 1), link.at)
        for link in node.rest
    ]

    def apply(frame: Frame) -> Value:
        value = first(frame)
        for function, operand, at in rest:
            right = operand(frame)
            try:
                value = function(frame, value, right)
            except SelError as error:
                raise error.placed(at) from None
        return value

    return apply


def _compile_logic(node: tree.Chain, segment: Segment, depth: int) -> Code:
    """`&&` and `||`: the first operand that decides is the last one evaluated."""
    operator = node.rest[0].operator
    deciding = operator == "||"
    first = compile_node(node.first, segment, depth)
    rest: list[tuple[Code, int]] = []
    for link in node.rest:
        own = Segment()
        rest.append((own.charged(compile_node(link.operand, own, depth + 1), link.at), link.at))

    def apply(frame: Frame) -> Value:
        value = first(frame)
        for operand, at in rest:
            if value is deciding:
                break
            right = operand(frame)
            if type(value) is not bool or type(right) is not bool:
                raise operators.not_logical(operator, value, right).placed(at)
            value = right
        return value

    return apply


def _compile_conditional(node: tree.Conditional, segment: Segment, depth: int) -> Code:
    segment.visit(1)
    condition, at = compile_node(node.condition, segment, depth), node.at
    chosen, otherwise = compile_branch(node.chosen, depth), compile_branch(node.otherwise, depth)

    def choose(frame: Frame) -> Value:
        value = condition(frame)
        if value is True:
            return chosen(frame)
        if value is False:
            return otherwise(frame)
        raise operators.no_condition(value).placed(at)

    return choose


# ------------------------------------------------------------------------------------------------ access
def _compile_access(node: tree.Access, segment: Segment, depth: int) -> Code:
    base = compile_node(node.base, segment, depth)
    steps: list[Callable[[Frame, Value], Value]] = []
    for suffix in node.suffixes:
        segment.visit(2)
        match suffix:
            case tree.Subscript():
                steps.append(_compile_subscript(suffix, segment, depth))
            case tree.Field():
                segment.make()
                segment.hold(depth + 2)
                steps.append(compile_field(suffix.name, suffix.at))
            case _:
                steps.append(_compile_call(suffix, segment, depth))
    if len(steps) == 1:
        step = steps[0]
        return lambda frame: step(frame, base(frame))

    def apply(frame: Frame) -> Value:
        value = base(frame)
        for step in steps:
            value = step(frame, value)
        return value

    return apply


def _compile_subscript(
    suffix: tree.Subscript, segment: Segment, depth: int
) -> Callable[[Frame, Value], Value]:
    index, at = compile_slot(suffix.index, segment, depth + 1), suffix.at

    def element(frame: Frame, value: Value) -> Value:
        position = index(frame)
        try:
            return read_element(frame, value, position)
        except SelError as error:
            raise error.placed(at) from None

    return element


def _compile_call(suffix: tree.Call, segment: Segment, depth: int) -> Callable[[Frame, Value], Value]:
    segment.visit(2)
    segment.make()
    segment.hold(depth + 2)
    arguments = [
        compile_slot(argument, segment, depth + 2 + number)
        for number, argument in enumerate(suffix.arguments)
    ]
    return compile_call(suffix.name, arguments, suffix.at)


def _compile_assign(node: tree.Assign, segment: Segment, depth: int) -> Code:
    segment.visit(3)
    if node.index is not None:
        return _compile_element_assignment(node, node.index, segment, depth)
    value = compile_slot(node.value, segment, depth)
    name, operator, at = node.target, node.operator, node.at

    def assign(frame: Frame) -> Value:
        names = frame.names
        try:
            if operator == "=":
                new = value(frame)
                old = names.get(name, ABSENT)
                if old is ABSENT and frame.knows(name):
                    old = frame.bind(name)
            else:  # the old value is read before the new one is computed
                old = names[name] if name in names else frame.bind(name)
                new = value(frame)
            # A new name may get anything a variable can hold: it is as if the old value had its type.
            result = names[name] = operators.assigned(frame, operator, new if old is ABSENT else old, new)
        except SelError as error:
            raise error.placed(at) from None
        return result

    return assign


def _compile_element_assignment(
    node: tree.Assign, index_node: tree.Expr, segment: Segment, depth: int
) -> Code:
    segment.visit(1)
    index = compile_slot(index_node, segment, depth)
    value = compile_slot(node.value, segment, depth + 1)
    name, operator, at = node.target, node.operator, node.at

    def assign(frame: Frame) -> Value:
        try:
            target = frame.names[name] if name in frame.names else frame.bind(name)
            position = index(frame)
            return write_element(frame, target, position, operator, value)
        except SelError as error:
            raise error.placed(at) from None

    return assign


# --------------------------------------------------------------------------------------------------- new
def _compile_new(node: tree.New, segment: Segment, depth: int) -> Code:
    segment.visit(5)
    segment.make()
    segment.hold(depth + 1)
    arguments = [
        compile_slot(argument, segment, depth + 1 + number) for number, argument in enumerate(node.arguments)
    ]
    name, at = node.type, node.at

    def construct(frame: Frame) -> Value:
        values = [argument(frame) for argument in arguments]
        try:
            return constructors.construct(frame, name, values)
        except SelError as error:
            raise error.placed(at) from None

    return construct


def _compile_new_array(node: tree.NewArray, segment: Segment, depth: int) -> Code:
    segment.visit(4)
    segment.make()
    segment.hold(depth + 1)
    size, name, at = compile_slot(node.size, segment, depth + 1), node.type, node.at

    def allocate(frame: Frame) -> Value:
        length = size(frame)
        try:
            array = constructors.array_class(name)
            constructors.check_length(frame, length)
            frame.pay(VALUE_SIZE * length)
            return array([array.default] * length)
        except SelError as error:
            raise error.placed(at) from None

    return allocate


def _compile_array_of(node: tree.ArrayOf, segment: Segment, depth: int) -> Code:
    segment.visit(4)
    segment.make(1 + len(node.elements))
    segment.hold(depth + 1)
    elements = [
        compile_slot(element, segment, depth + 1 + number) for number, element in enumerate(node.elements)
    ]
    name, at = node.type, node.at

    def allocate(frame: Frame) -> Value:
        values = [frame.kept(element(frame)) for element in elements]
        try:
            array = constructors.array_class(name)
            constructors.check_length(frame, len(values))
            for value in values:
                if type_of(value) is not array.element:
                    raise mismatch(array.element, type_of(value))
            return array([None if value is UNSET_STRING else value for value in values])
        except SelError as error:
            raise error.placed(at) from None

    return allocate


COMPILERS: Final[dict[type[tree.Node], Callable[[Any, Segment, int], Code]]] = {
    tree.Literal: _compile_literal,
    tree.Name: _compile_name,
    tree.Signed: _compile_signed,
    tree.Chain: _compile_chain,
    tree.Conditional: _compile_conditional,
    tree.Access: _compile_access,
    tree.Assign: _compile_assign,
    tree.New: _compile_new,
    tree.NewArray: _compile_new_array,
    tree.ArrayOf: _compile_array_of,
}
