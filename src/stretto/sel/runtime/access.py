"""Fields, methods and subscripts: what is found is what stands in the tables, and nothing else."""

from collections.abc import Callable
from typing import Final

from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library import datetimes, functions, json_texts, maps, params, scalars, strings
from stretto.sel.runtime.boxing import boxed
from stretto.sel.runtime.frame import Frame, Method
from stretto.sel.runtime.operators import assigned
from stretto.sel.runtime.segment import Code
from stretto.sel.syntax.source import utf16_length
from stretto.sel.values import PARAMS, UNSET, UTIL, Array, StringArray, Type, Unset, Value, type_of

METHODS: Final[dict[Type, dict[str, Method]]] = {
    Type.STRING: strings.METHODS,
    Type.LONG: scalars.LONG,
    Type.DOUBLE: scalars.DOUBLE,
    Type.MAP: maps.METHODS,
    Type.DATETIME: datetimes.DATETIME,
    Type.DATETIME_ZONE: datetimes.ZONE,
    Type.DATETIME_FORMATTER: datetimes.FORMATTER,
    Type.DATETIME_PROPERTY: datetimes.PROPERTY,
    Type.DATETIME_DAYS: datetimes.DAYS,
    Type.UUID: scalars.UUID,
    Type.MATH: scalars.MATH,
    Type.PRESET_UTIL_FUNCTION: functions.METHODS,
    Type.PRESET_JSON_FUNCTION: json_texts.METHODS,
    Type.PRESET_MISC_FUNC_FIELDS: scalars.SYSTEM,
}
"""The methods of each type by name and number of arguments."""
STATIC: Final[dict[Type, dict[str, Method]]] = {
    Type.STRING: strings.STATIC,
    Type.MAP: maps.UNSET,
    Type.DATETIME: datetimes.DATETIME_STATIC,
    Type.DATETIME_ZONE: datetimes.ZONE_STATIC,
    Type.DATETIME_FORMATTER: datetimes.FORMATTER_STATIC,
    Type.DATETIME_PROPERTY: {},
    Type.DATETIME_DAYS: datetimes.DAYS_STATIC,
    Type.UUID: scalars.UUID,
}
"""The methods of a class name, or of a variable that was never set."""
VARIADIC: Final[dict[Type, dict[str, Method]]] = {
    Type.STRING: strings.VARIADIC,
    Type.PRESET_UTIL_FUNCTION: functions.VARIADIC,
    Type.PRESET_JSON_FUNCTION: json_texts.VARIADIC,
}
"""The methods that take any number of arguments."""
GUARDED: Final = frozenset({Type.STRING, Type.DATETIME})
"""The types whose methods fail in one way, ILLEGAL_ARGUMENT, whatever the reason."""
NO_METHODS: Final[dict[str, Method]] = {}


# ---------------------------------------------------------------------------------------------- methods
def compile_call(name: str, arguments: list[Code], at: int) -> Callable[[Frame, Value], Value]:
    """The closure of `.name(arguments)`."""
    key = f"{name}/{len(arguments)}"

    def call(frame: Frame, receiver: Value) -> Value:
        values = [argument(frame) for argument in arguments]
        try:
            result = _invoke(frame, receiver, name, key, values)
            if type(result) is str:
                frame.pay_text(utf16_length(result))
        except SelError as error:
            raise error.placed(at) from None
        return result

    return call


def _invoke(frame: Frame, receiver: Value, name: str, key: str, arguments: list[Value]) -> Value:
    kind = type_of(receiver)
    table = STATIC[kind] if type(receiver) is Unset else METHODS.get(kind, NO_METHODS)
    method = table.get(key)
    if method is None or receiver is UTIL:
        return _invoke_special(frame, receiver, name, key, arguments)
    if kind not in GUARDED:
        return method(frame, receiver, *arguments)
    if type(receiver) is str:
        frame.scan(len(receiver))
    try:
        return method(frame, receiver, *arguments)
    except SelError as error:
        if error.kind is Kind.ILLEGAL_STATE:
            raise
        raise error.wrapped(Kind.ILLEGAL_ARGUMENT, f"{name} failed: {error.message}") from None


def _invoke_special(frame: Frame, receiver: Value, name: str, key: str, arguments: list[Value]) -> Value:
    """Methods of `params`, of the host, with any number of arguments; and those that do not exist."""
    kind = type_of(receiver)
    if receiver is PARAMS:
        return params.call(frame, name, arguments)
    if receiver is UTIL:
        function = frame.environment.functions.get(name)
        if function is not None:
            return frame.fresh(function(*map(boxed, arguments)))
        if key in METHODS[kind]:
            return METHODS[kind][key](frame, receiver, *arguments)
    variadic = VARIADIC.get(kind, NO_METHODS).get(name)
    if variadic is not None:
        return variadic(frame, receiver, arguments)
    if key in METHODS.get(kind, NO_METHODS):  # it exists, and there is nothing to call it on
        wrong = Kind.ILLEGAL_ARGUMENT if kind in GUARDED else Kind.NULL_POINTER
        raise SelError(wrong, f"{name} was called on a {kind} that was never set")
    if key in STATIC.get(kind, NO_METHODS):
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"{name} belongs to the class, not to a value of it")
    raise SelError(Kind.UNSUPPORTED, f"{kind} has no method {name} with {len(arguments)} arguments")


# ----------------------------------------------------------------------------------------------- fields
def compile_field(name: str, at: int) -> Callable[[Frame, Value], Value]:
    """The closure of `.name`."""

    def field(frame: Frame, receiver: Value) -> Value:
        kind = type_of(receiver)
        if isinstance(receiver, Array) and name == "length":
            return len(receiver)
        if receiver is PARAMS:
            return params.read(frame, name)
        if kind is Type.DATETIME_ZONE and name in datetimes.ZONE_FIELDS:
            return datetimes.ZONE_FIELDS[name]
        if kind is Type.PRESET_MISC_FUNC_FIELDS and name in scalars.SYSTEM_FIELDS:
            return scalars.SYSTEM_FIELDS[name]
        raise SelError(Kind.UNSUPPORTED, f"{kind} has no field {name}", at=at)

    return field


# --------------------------------------------------------------------------------------------- elements
def read_element(frame: Frame, value: Value, index: Value) -> Value:
    """`value[index]`."""
    if isinstance(value, Array) and type(index) is int:
        element = value[_checked(value, index)]
        return UNSET[Type.STRING] if element is None and type(value) is StringArray else element
    if value is PARAMS and type(index) is str:
        return params.read(frame, index)
    if type(value) is dict and type(index) is str:
        return value.get(index)
    if type_of(index) not in {Type.LONG, Type.STRING, Type.NULL}:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"{type_of(index)} can not be used as an index")
    raise class_cast("an array or a map with its kind of index", f"{type_of(value)}[{type_of(index)}]")


def write_element(frame: Frame, target: Value, index: Value, operator: str, value: Code) -> Value:
    """`target[index] operator value`: what is there now is read before the value is computed."""
    if type(target) is dict and type(index) is str:
        old = target.get(index)
        new = value(frame)
        if operator == "=":
            maps.put(frame, target, index, new)
            return new
        result = target[index] = assigned(frame, operator, old, new)
        return result
    if not isinstance(target, Array) or type(index) is not int:
        raise class_cast("an array or a map with its kind of index", f"{type_of(target)}[{type_of(index)}]")
    position = _checked(target, index)
    old = target[position]
    if old is None and type(target) is StringArray:
        old = UNSET[Type.STRING]
    result = assigned(frame, operator, target.default if old is None else old, value(frame))
    target[position] = None if type(result) is Unset else result
    return result


def _checked(array: Array, index: int) -> int:
    if 0 <= index < len(array):
        return index
    raise SelError(Kind.INDEX_OUT_OF_BOUNDS, f"{index} is outside an array of length {len(array)}")
