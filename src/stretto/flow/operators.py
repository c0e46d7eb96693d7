"""What can be computed with values that are not known yet. It means what it means in Python."""

from typing import Any, Final, get_args, get_origin

from stretto.flow.convert import look_into, plain, value_in, word
from stretto.flow.errors import TraceError
from stretto.flow.expressions import (
    Constant,
    Expression,
    Joined,
    Scalar,
    Spelled,
    call,
    constant_text,
    infix,
    negated,
)
from stretto.flow.trace import Value
from stretto.model.param import ParamType
from stretto.runtimes.python.kinds import bare, is_optional
from stretto.runtimes.python.values import JSON_TEXT, Kind

P = ParamType
NUMBERS: Final = (P.LONG, P.DOUBLE)
KINDS: Final[dict[type, Kind]] = {
    bool: Kind(P.BOOLEAN),
    int: Kind(P.LONG),
    float: Kind(P.DOUBLE),
    str: Kind(P.STRING),
    type(None): JSON_TEXT,
}
TYPES: Final[dict[Kind, type]] = {kind: python for python, kind in KINDS.items() if kind != JSON_TEXT}
BOOLEAN: Final = Kind(P.BOOLEAN)
FUNCTIONS: Final = {
    "/": "Math.divide",
    "//": "Math.floorDiv",
    "%": "Math.floorMod",
    "**": "Math.power",
}
IN_A_STEP: Final = "compute it in a step"


class _Operand:
    """One side of an operation: its kind, and the expression that computes with it."""

    def __init__(self, kind: Kind, expression: Expression, label: str, annotation: Any = None) -> None:
        self.kind = kind
        self.expression = expression
        self.label = label
        self.is_anything = kind == JSON_TEXT and (bare(annotation) is Any or is_optional(annotation))


def _operand_of(value: Value) -> "_Operand":
    return _Operand(value.kind, plain(value), value.label, value.annotation)


def _operand(given: Any, other: Value) -> _Operand:
    value = value_in(given)
    if value is not None:
        return _operand_of(other.trace.check(value))
    if type(given) not in KINDS:
        raise TraceError(f"{other.label} can not be computed with a {type(given).__name__}", IN_A_STEP)
    try:
        constant_text(given)
    except ValueError as error:
        raise TraceError(f"{other.label} can not be computed with it: {error}", IN_A_STEP) from None
    return _Operand(KINDS[type(given)], Constant(given), repr(given))


def _sides(value: Value, other: Any, *, swapped: bool) -> tuple[_Operand, _Operand]:
    own, given = _operand_of(value.trace.check(value)), _operand(other, value)
    return (given, own) if swapped else (own, given)


def _made(value: Value, expression: Expression, kind: Kind, label: str) -> Value:
    return Value(value.trace, expression, kind, TYPES.get(kind, Any), label)


# -------------------------------------------------------------------------------------------- arithmetic
def compute(value: Value, operator: str, other: Any, *, swapped: bool = False) -> Value:
    """`a + b` and its sisters."""
    left, right = _sides(value, other, swapped=swapped)
    kind = _kind(left, right, operator)
    label = f"({left.label} {operator} {right.label})"
    made = _computed(left.expression, right.expression, operator)
    return _made(value, call("Json.text", made) if kind == JSON_TEXT else made, kind, label)


def _kind(left: _Operand, right: _Operand, operator: str) -> Kind:
    """What comes out. A value that may be anything may be a number with digits behind the point, too."""
    sides = (left, right)
    known = {each.kind for each in sides if not each.is_anything}
    if operator == "+" and known == {Kind(P.STRING)}:
        return Kind(P.STRING)
    if operator == "**" and not isinstance(right.expression, Constant):
        raise TraceError(f"the exponent {right.label} is not known while the workflow is traced", IN_A_STEP)
    numbers = (P.LONG,) if operator in {"//", "%"} else NUMBERS
    if any(kind.type not in numbers for kind in known):
        what = f"`{operator}` of {word(left.kind)} and {word(right.kind)}"
        raise TraceError(f"{what}, {left.label} and {right.label}, can not be computed here", IN_A_STEP)
    if operator == "/" or Kind(P.DOUBLE) in known or (operator == "**" and _is_negative(right)):
        return Kind(P.DOUBLE)
    return JSON_TEXT if any(each.is_anything for each in sides) else Kind(P.LONG)


def _is_negative(side: _Operand) -> bool:
    """Whether an exponent makes a fraction of a whole number."""
    constant = side.expression
    return isinstance(constant, Constant) and isinstance(constant.value, int) and constant.value < 0


def _computed(left: Expression, right: Expression, operator: str) -> Expression:
    """Division and remainder differ in SEL: there `7 / 2` is 3, and `-7 % 3` is -1."""
    function = FUNCTIONS.get(operator)
    return infix(left, operator, right) if function is None else call(function, left, right)


def absolute(value: Value) -> Value:
    """`abs(a)`."""
    side = _operand_of(value.trace.check(value))
    if not side.is_anything and side.kind.type not in NUMBERS:
        raise TraceError(f"{side.label} is {word(side.kind)}: it has no absolute value", IN_A_STEP)
    made = call("Math.absolute", side.expression)
    kind = side.kind
    return _made(value, call("Json.text", made) if kind == JSON_TEXT else made, kind, f"abs({side.label})")


# -------------------------------------------------------------------------------------------- comparison
def compare(value: Value, operator: str, other: Any) -> Value:
    """`a == b` and its sisters."""
    left, right = _sides(value, other, swapped=False)
    label = f"({left.label} {operator} {right.label})"
    kinds = [left.kind, right.kind]
    if any(kind.type.is_array for kind in kinds) or not _comparable(*kinds):
        what = f"{left.label} is {word(left.kind)} and {right.label} is {word(right.kind)}"
        raise TraceError(f"{what}: they can not be compared", "compare them in a step that returns a bool")
    if operator not in {"==", "!="} and kinds == [Kind(P.STRING)] * 2:
        order = Joined((left.expression, ".compareTo(", right.expression, ")"))
        return _made(value, infix(order, operator, Constant(0)), BOOLEAN, label)
    return _made(value, infix(left.expression, operator, right.expression), BOOLEAN, label)


def _comparable(left: Kind, right: Kind) -> bool:
    return left == right or JSON_TEXT in {left, right} or (left.type in NUMBERS and right.type in NUMBERS)


def condition(value: Value, what: str) -> Expression:
    """A value as a condition."""
    if value.kind not in {BOOLEAN, JSON_TEXT}:
        raise TraceError(
            f"{what} is {word(value.kind)}, not a condition", "compare it with something, such as `x > 0`"
        )
    return plain(value)


def combine(value: Value, operator: str, other: Any, *, swapped: bool = False) -> Value:
    """`a & b`, `a | b`."""
    left, right = _sides(value, other, swapped=swapped)
    for each in (left, right):
        if each.kind not in {BOOLEAN, JSON_TEXT}:
            word_of = {"&&": "&", "||": "|"}[operator]
            raise TraceError(
                f"`{word_of}` combines conditions, and {each.label} is {word(each.kind)}",
                "put comparisons in parentheses: `(x > 0) & (y > 0)`",
            )
    label = f"({left.label} {operator} {right.label})"
    return _made(value, infix(left.expression, operator, right.expression), BOOLEAN, label)


def inverted(value: Value) -> Value:
    """`~a`."""
    value.trace.check(value)
    return _made(value, negated(condition(value, value.label)), BOOLEAN, f"~{value.label}")


# ------------------------------------------------------------------------------------------------- others
def fixed_length(value: Value) -> int | None:
    """How many elements every value of its annotation has; None if that differs."""
    annotation = bare(value.annotation)
    args = get_args(annotation)
    return len(args) if get_origin(annotation) is tuple and Ellipsis not in args else None


def length(value: Value) -> Value:
    """How many elements, entries or characters it has."""
    value.trace.check(value)
    kind = value.kind
    if kind == JSON_TEXT:
        found: Expression = look_into("size", value.expression)
    elif kind.type.is_array:
        found = Joined((value.expression, ".length"))
    elif kind.type is P.STRING:
        found = Joined((value.expression, ".length()"))
    else:
        raise TraceError(f"{value.label} is {word(kind)}, which has no size", IN_A_STEP)
    return _made(value, found, Kind(P.LONG), f"size({value.label})")


def joined_text(parts: "list[Value | Scalar]", first: Value) -> Value:
    """Texts and values, one after the other, as one text."""
    pieces: list[str | Expression] = ["(''"]
    for part in parts:
        side = _shown(first.trace.check(part)) if isinstance(part, Value) else Constant(part)
        pieces += [" + ", side]
    return _made(first, Joined((*pieces, ")")), Kind(P.STRING), "the text")


def _shown(value: Value) -> Expression:
    """A value in a text. One that is missing is shown as an f-string shows it."""
    side = plain(value)
    if not isinstance(value.expression, Spelled) and value.kind != JSON_TEXT:
        return side  # an argument, or computed: nothing is computed with what is missing
    return Joined(("(", side, " == null ? 'None' : ", side, ")"))
