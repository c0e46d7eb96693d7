"""What an expression computes with.

STRING, LONG, DOUBLE, BOOLEAN and NULL are plain Python data; an array is a list that knows its element
type, a map is a dict. Python's exact type of a value therefore decides its SEL type, in one lookup.
"""

from enum import StrEnum
from typing import Any, ClassVar, Final, TypeAlias

from stretto.sel.dates.datetime import DateTime, Days, Property
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.zones import Zone


class Type(StrEnum):
    """The types of the language."""

    STRING = "STRING"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    STRING_ARRAY = "STRING_ARRAY"
    LONG_ARRAY = "LONG_ARRAY"
    DOUBLE_ARRAY = "DOUBLE_ARRAY"
    BOOLEAN_ARRAY = "BOOLEAN_ARRAY"
    MAP = "MAP"
    DATETIME = "DATETIME"
    DATETIME_ZONE = "DATETIME_ZONE"
    DATETIME_FORMATTER = "DATETIME_FORMATTER"
    DATETIME_PROPERTY = "DATETIME_PROPERTY"
    DATETIME_DAYS = "DATETIME_DAYS"
    UUID = "UUID"
    MATH = "MATH"
    PRESET_PARAMS = "PRESET_PARAMS"
    PRESET_UTIL_FUNCTION = "PRESET_UTIL_FUNCTION"
    PRESET_JSON_FUNCTION = "PRESET_JSON_FUNCTION"
    PRESET_MISC_FUNC_FIELDS = "PRESET_MISC_FUNC_FIELDS"
    NULL = "NULL"
    VOID = "VOID"
    ERROR = "ERROR"


class Array(list[Any]):
    """An array of SEL. A string element may be None: `new String[2]` starts that way."""

    __slots__ = ()
    type: ClassVar[Type]
    element: ClassVar[Type]
    default: ClassVar[object]


class StringArray(Array):
    """STRING_ARRAY."""

    __slots__ = ()
    type = Type.STRING_ARRAY
    element = Type.STRING
    default = None


class LongArray(Array):
    """LONG_ARRAY."""

    __slots__ = ()
    type = Type.LONG_ARRAY
    element = Type.LONG
    default = 0


class DoubleArray(Array):
    """DOUBLE_ARRAY."""

    __slots__ = ()
    type = Type.DOUBLE_ARRAY
    element = Type.DOUBLE
    default = 0.0


class BooleanArray(Array):
    """BOOLEAN_ARRAY."""

    __slots__ = ()
    type = Type.BOOLEAN_ARRAY
    element = Type.BOOLEAN
    default = False


class Unset:
    """A value that has a type and nothing in it: a variable declared without a value, or a class name."""

    __slots__ = ("type",)

    def __init__(self, type_: Type) -> None:
        self.type = type_

    def __repr__(self) -> str:
        return f"Unset({self.type})"


class Preset:
    """A class that is only a door to functions or fields: `Math`, `Util`, `Json`, `System`, `params`."""

    __slots__ = ("text", "type")

    def __init__(self, type_: Type, text: str) -> None:
        self.type = type_
        self.text = text


class Uuid:
    """The result of `UUID.randomUUID()`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Thrown:
    """The result of a script that ended with `throw`."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Void:
    """The result of a script that ended without a value."""

    __slots__ = ()


Value: TypeAlias = Any
"""str | int | float | bool | None | Array | dict | DateTime ... : see TYPES for the whole list."""

VOID: Final = Void()
MATH: Final = Preset(Type.MATH, "MATH")
UTIL: Final = Preset(Type.PRESET_UTIL_FUNCTION, "Preset SEL Utility Function Class")
JSON: Final = Preset(Type.PRESET_JSON_FUNCTION, "Preset SEL JSON Function Class")
SYSTEM: Final = Preset(Type.PRESET_MISC_FUNC_FIELDS, "SEL Miscellaneous Function Class")
PARAMS: Final = Preset(Type.PRESET_PARAMS, "PRESET_PARAMS")
UNSET: Final = {
    kind: Unset(kind)
    for kind in (
        Type.STRING,
        Type.MAP,
        Type.DATETIME,
        Type.DATETIME_ZONE,
        Type.DATETIME_FORMATTER,
        Type.DATETIME_PROPERTY,
        Type.DATETIME_DAYS,
        Type.UUID,
    )
}
ARRAYS: Final[dict[Type, type[Array]]] = {
    kind.element: kind for kind in (StringArray, LongArray, DoubleArray, BooleanArray)
}
TYPES: Final[dict[type, Type]] = {
    str: Type.STRING,
    int: Type.LONG,
    float: Type.DOUBLE,
    bool: Type.BOOLEAN,
    type(None): Type.NULL,
    StringArray: Type.STRING_ARRAY,
    LongArray: Type.LONG_ARRAY,
    DoubleArray: Type.DOUBLE_ARRAY,
    BooleanArray: Type.BOOLEAN_ARRAY,
    dict: Type.MAP,
    DateTime: Type.DATETIME,
    Zone: Type.DATETIME_ZONE,
    Formatter: Type.DATETIME_FORMATTER,
    Property: Type.DATETIME_PROPERTY,
    Days: Type.DATETIME_DAYS,
    Uuid: Type.UUID,
    Void: Type.VOID,
    Thrown: Type.ERROR,
}


def type_of(value: Value) -> Type:
    """The SEL type of a value."""
    known = TYPES.get(type(value))
    if known is not None:
        return known
    own: Type = value.type
    return own


def is_null(value: Value) -> bool:
    """Whether there is nothing in a value: null itself, or something declared and never set."""
    return value is None or type(value) is Unset


# ------------------------------------------------------------------------------------------ class names
CLASSES: Final[dict[str, Type]] = {
    "int": Type.LONG,
    "long": Type.LONG,
    "Integer": Type.LONG,
    "Long": Type.LONG,
    "float": Type.DOUBLE,
    "double": Type.DOUBLE,
    "Float": Type.DOUBLE,
    "Double": Type.DOUBLE,
    "boolean": Type.BOOLEAN,
    "Boolean": Type.BOOLEAN,
    "String": Type.STRING,
    "Map": Type.MAP,
    "HashMap": Type.MAP,
    "LinkedHashMap": Type.MAP,
    "DateTime": Type.DATETIME,
    "DateTimeZone": Type.DATETIME_ZONE,
    "DateTimeFormatter": Type.DATETIME_FORMATTER,
    "DateTimeFormat": Type.DATETIME_FORMATTER,
    "Property": Type.DATETIME_PROPERTY,
    "Days": Type.DATETIME_DAYS,
    "UUID": Type.UUID,
}
DEFAULTS: Final[dict[Type, Value]] = {**UNSET, Type.LONG: 0, Type.DOUBLE: 0.0, Type.BOOLEAN: False}
CLASS_NAMES: Final[dict[str, Value]] = {
    **{name: DEFAULTS[kind] for name, kind in CLASSES.items()},
    "Math": MATH,
    "Util": UTIL,
    "Json": JSON,
    "System": SYSTEM,
    "Arrays": SYSTEM,
    "DateTimeConstants": SYSTEM,
}
"""Names a script can use without anybody binding them. A class name reads as an unset value of its type."""
PRESETS: Final[dict[str, Value]] = {**CLASS_NAMES, "params": PARAMS}
