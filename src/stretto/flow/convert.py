"""Values of one kind as values of another, and Python data with values of a run in it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.flow.errors import TraceError
from stretto.flow.expressions import Constant, Expression, Joined, call
from stretto.flow.nodes import Given, Setting
from stretto.flow.trace import Trace, Value
from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamType
from stretto.runtimes.python.kinds import element_of, members_of
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import JSON_TEXT, JSON_TEXTS, Kind, json_text, literal
from stretto.sel.text import TAG

P = ParamType
SCALARS: Final = frozenset({P.STRING, P.LONG, P.DOUBLE, P.BOOLEAN})
WORDS: Final[Mapping[ParamType, str]] = {
    P.STRING: "text",
    P.LONG: "a whole number",
    P.DOUBLE: "a number",
    P.BOOLEAN: "a flag",
}
# `parse` makes an array of what it finds: of whole numbers no DOUBLE_ARRAY, of a mix one of JSON texts.
ARRAYS: Final[Mapping[ParamType, str]] = {P.DOUBLE_ARRAY: "doubles", P.STRING_ARRAY: "strings"}


@dataclasses.dataclass(frozen=True, slots=True)
class JsonPart(Expression):
    """A part of a JSON text."""

    whole: Expression
    path: tuple[str | int, ...]

    def leaves(self) -> Any:
        return self.whole.leaves()

    def text(self, read: Any) -> str:
        return look_into("part", self).text(read)


def look_into(function: str, json: Expression) -> Joined:
    """`Json.parse(order, 'lines', 0)`: what a function of `Json` finds in a JSON text."""
    if isinstance(json, JsonPart):
        return call(f"Json.{function}", json.whole, *json.path)
    return call(f"Json.{function}", json)


def converted(expression: Expression, have: Kind, want: Kind) -> Expression | None:
    """The same value as another kind; None if there is no way."""
    if have == want or (have.type is P.LONG and want == Kind(P.DOUBLE)):
        return expression
    if want == JSON_TEXT:
        return as_json(expression, have)
    if have == JSON_TEXT:
        return of_json(expression, want)
    if (have.type.is_array and want.type.is_array) and (
        JSON_TEXTS in {have, want} or (have.type, want.type) == (P.LONG_ARRAY, P.DOUBLE_ARRAY)
    ):
        return of_json(as_json(expression, have), want)
    return None


def as_json(expression: Expression, have: Kind) -> Expression:
    """The JSON text of a value, which everything has."""
    if have == JSON_TEXT:
        return expression
    return call("Json.array" if have == JSON_TEXTS else "Json.text", expression)


def of_json(text: Expression, want: Kind) -> Expression:
    """The value of a JSON text. If it is another one than wanted, that is found out when it is read."""
    if want == JSON_TEXT:
        return text
    if want == JSON_TEXTS:
        return look_into("texts", text)
    return look_into(ARRAYS.get(want.type, "parse"), text)


def plain(value: Value) -> Expression:
    """The value as expressions compute with it."""
    return look_into("parse", value.expression) if value.kind == JSON_TEXT else value.expression


def setting(trace: Trace, given: Any, kind: Kind, what: str) -> Setting:
    """A parameter of a kind with what Python gave for it: a constant, a value of the run, or both mixed."""
    value = value_in(given)
    if value is not None:
        trace.check(value)
        made = converted(value.expression, value.kind, kind)
        if made is None:
            raise TraceError(
                f"`{what}` is {word(kind)}, and {value.label} is {word(value.kind)}",
                "change one of the annotations, or put a step between that converts it",
            )
        return Given(kind, made)
    if has_values(given):
        if kind.type in SCALARS and not kind.json:
            raise TraceError(
                f"`{what}` is {word(kind)}, and a {type(given).__name__} was given",
                "give a single value, or change the annotation",
            )
        return Given(kind, of_json(json_expression(trace, given, what), kind))
    try:
        return literal(given, kind, what)
    except InvalidRequest as error:
        made_of = "hand over what it is made of, and make it in the step"
        raise TraceError(
            error.message, made_of if kind.json else "change the value, or the annotation"
        ) from None


def refuse_errors(given: Any, annotation: Any, what: str) -> None:
    """Refuse a value that holds errors of items where the annotation has no place for them."""
    value = value_in(given)
    if value is None or StepError not in _inside(value.annotation):
        return
    if not any(each in {Any, object, StepError, Exception, BaseException} for each in _inside(annotation)):
        raise TraceError(
            f"{what} has no place for errors, and {value.label} has a `StepError` where an item failed",
            "let the annotation say so, such as `list[int | StepError]`",
        )


def _inside(annotation: Any) -> list[Any]:
    """The members of an annotation, and those of the elements of its lists."""
    found: list[Any] = []
    for each in members_of(annotation):
        element = element_of(each)
        found += [each] if element is None else members_of(element[0])
    return found


def word(kind: Kind) -> str:
    """A kind, for people."""
    if kind.type.is_array:
        return "a list"
    return "an object" if kind.json else WORDS[kind.type]


# ---------------------------------------------------------------------------------------- values in values
def value_in(given: Any) -> Value | None:
    """What a reference stands for."""
    found = getattr(type(given), "stretto_value", None)
    return None if found is None else found(given)


def has_values(given: Any) -> bool:
    """Whether values of the run are somewhere in Python data."""
    if value_in(given) is not None:
        return True
    members = _members(given)
    if members is not None:
        return any(map(has_values, members.values()))
    return isinstance(given, list | tuple | set | frozenset) and any(map(has_values, given))


def _members(given: Any) -> Mapping[Any, Any] | None:
    if isinstance(given, Mapping):
        return given
    if isinstance(given, type):
        return None
    if dataclasses.is_dataclass(given):
        return {each.name: getattr(given, each.name) for each in dataclasses.fields(given)}
    if isinstance(given, msgspec.Struct):
        return {each.encode_name: getattr(given, each.name) for each in msgspec.structs.fields(given)}
    return None


def json_expression(trace: Trace, given: Any, what: str) -> Expression:
    """The JSON text of Python data in which values of the run may be."""
    value = value_in(given)
    if value is not None:
        return as_json(trace.check(value).expression, value.kind)
    if not has_values(given):
        try:
            return Constant(json_text(given, what))
        except InvalidRequest as error:
            raise TraceError(error.message, "hand over what it is made of, and make it in the step") from None
    members = _members(given)
    if members is None:
        each = [json_expression(trace, item, f"{what}[{index}]") for index, item in enumerate(given)]
        return call("Json.array", *each) if len(each) > 1 else _one_in_a_list(given, each)
    parts: list[Expression | str] = []
    for name, member in members.items():
        if not isinstance(name, str):
            raise TraceError(f"a key of `{what}` is {a_name(type(name).__name__)}", "use texts as keys")
        parts += [name, json_expression(trace, member, f'{what}["{name}"]')]
    return _tagged(parts) if TAG in members else call("Json.object", *parts)


def _one_in_a_list(given: Any, each: list[Expression]) -> Expression:
    """A list of one element, whose text `Json.array` must not take for the whole list if it is missing."""
    found = value_in(next(iter(given)))
    return call("Json.array", look_into("part", *each) if found and found.kind == JSON_TEXT else each[0])


def _tagged(parts: list[Expression | str]) -> Expression:
    """A dictionary that must not be taken for a value with a codec, as `codecs.tagged` stores it."""
    pairs = [
        call("Json.array", call("Json.text", name), value)
        for name, value in zip(parts[::2], parts[1::2], strict=True)
    ]
    return call("Json.object", TAG, call("Json.array", '"map"', call("Json.array", *pairs)))
