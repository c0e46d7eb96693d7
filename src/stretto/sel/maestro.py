"""An expression as Maestro's parameters have it: the last `;` may be missing, and plain data comes out."""

from collections.abc import Mapping
from typing import Any

from stretto.sel.environment import DEFAULT, Environment, Missing
from stretto.sel.errors import Kind, SelError
from stretto.sel.expression import NO_BINDINGS, compile_expression
from stretto.sel.numbers import BLANKS
from stretto.sel.runtime.boxing import RESULTS, unboxed
from stretto.sel.runtime.frame import VALUE_SIZE, Frame
from stretto.sel.values import Thrown, Type, Unset, Value, type_of


def sanitize(text: str) -> str:
    """The script of a parameter: trimmed, and ended with `;` unless it ends a statement already."""
    script = text.strip(BLANKS)
    if not script or script.endswith(";") or (script.endswith("}") and not script.startswith('{"')):
        return script
    return f"{script};"


def evaluate_maestro(
    text: str,
    bindings: Mapping[str, Any] = NO_BINDINGS,
    environment: Environment = DEFAULT,
    *,
    nullable: bool = False,
) -> Value | Missing:
    """The plain result of a parameter's expression: STRING, LONG, DOUBLE, BOOLEAN, an array or a MAP, and
    null if the parameter is `nullable`.

    Every failure is MAESTRO_INVALID_EXPRESSION with the SEL error as its `cause`; a result of another type,
    and a `throw`, are failures too. A map with entries that are no plain data is MAESTRO_INTERNAL.
    """
    try:
        expression = compile_expression(sanitize(text), environment.limits.length)
        result = expression.evaluate(bindings, environment)
    except SelError as error:
        raise error.wrapped(
            Kind.MAESTRO_INVALID_EXPRESSION, f"The expression failed: {error.message}"
        ) from error
    if isinstance(result, Missing):
        return result
    if result is None and nullable:
        return None
    return _plain(result, environment)


def _plain(result: Value, environment: Environment) -> Value:
    if type(result) is Thrown:
        raise SelError(Kind.MAESTRO_INVALID_EXPRESSION, f"The expression throws an error: {result.message}")
    kind = type_of(result)
    if result is None:
        message = "The result of an expression can not be NULL: a value that it reads is missing"
        raise SelError(Kind.MAESTRO_INVALID_EXPRESSION, message)
    if kind not in RESULTS:
        raise SelError(Kind.MAESTRO_INVALID_EXPRESSION, f"The result of an expression can not be {kind}")
    if type(result) is Unset:
        return None if kind is Type.STRING else {}
    budget = Frame(NO_BINDINGS, environment)
    try:
        return unboxed(result, lambda count: budget.pay(VALUE_SIZE * count))
    except SelError as error:
        raise error.wrapped(Kind.MAESTRO_INTERNAL, error.message) from error
