"""SEL, the expression language of parameters: a small, safe subset of Java with dates.

    expression = compile_expression("new DateTime(ts).plusDays(7).toString('yyyy-MM-dd');")
    expression.names.required                                    # {"ts"}
    expression.evaluate({"ts": 0}, Environment(now_millis=0))    # "1970-01-08"

Promise: no clock, no dice, no I/O. The same text, bindings and environment give the same result, within
the limits of the environment, and nothing is shared between evaluations. No name in a script ever reaches
a Python attribute. Failure: one exception, `SelError`, with its kind, line and column.
"""

from stretto.sel.environment import BUDGET, Budget, Environment, Host, Limits, Missing
from stretto.sel.errors import Kind, SelError
from stretto.sel.expression import Expression, compile_expression
from stretto.sel.maestro import evaluate_maestro, sanitize
from stretto.sel.syntax.names import Names, ParamsCall
from stretto.sel.template import Template, compile_template
from stretto.sel.values import (
    VOID,
    BooleanArray,
    DoubleArray,
    LongArray,
    StringArray,
    Thrown,
    Type,
    Value,
    type_of,
)

__all__ = [
    "BUDGET",
    "VOID",
    "BooleanArray",
    "Budget",
    "DoubleArray",
    "Environment",
    "Expression",
    "Host",
    "Kind",
    "Limits",
    "LongArray",
    "Missing",
    "Names",
    "ParamsCall",
    "SelError",
    "StringArray",
    "Template",
    "Thrown",
    "Type",
    "Value",
    "compile_expression",
    "compile_template",
    "evaluate_maestro",
    "sanitize",
    "type_of",
]
