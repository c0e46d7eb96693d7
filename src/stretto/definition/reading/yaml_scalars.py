"""What a plain YAML scalar means: the core schema of YAML 1.2, which is JSON's idea of values.

So `yes`, `on` and `2020-01-01` are texts, as a reader of JSON would expect. Maestro reads YAML 1.1: there
`yes` and `on` are booleans, `017` is octal and `1_000` a number; dates and `1:30` stay texts.
"""

import re
from decimal import Decimal
from typing import Any, Final

from stretto.definition.reading.numbers import BadNumber, read_decimal, read_int

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_MAY_BE_NUMBER: Final = frozenset("0123456789+-.")
_INT: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def plain_value(text: str) -> Any:
    """The value of an unquoted scalar. Raises BadNumber for numbers that JSON can not hold."""
    if text[:1] in _MAY_BE_NUMBER:
        return _number_or_text(text) if text else None
    return _WORDS.get(text, text)


def _number_or_text(text: str) -> Any:
    if _INT.fullmatch(text):
        return read_int(text)
    if _FLOAT.fullmatch(text):
        return read_decimal(text)
    if _BASED.fullmatch(text):
        return read_int(text[2:], 8 if text[1] == "o" else 16)
    if _NOT_FINITE.fullmatch(text):
        message = f'{text} is not a finite number: a DOUBLE takes the text "NaN", "Infinity" or "-Infinity"'
        raise BadNumber(message)
    return text


_MAESTRO_WORDS: Final[dict[str, Any]] = {
    **_WORDS,
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF"), False),
}
_MAESTRO_INT: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0b(?P<two>[01_]+)|0x(?P<sixteen>[0-9a-fA-F_]+)|0(?P<eight>[0-7_]+)"
    r"|(?P<ten>0|[1-9][0-9_]*))"
)
_MAESTRO_FLOAT: Final = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
)
_BASES: Final = {"two": 2, "eight": 8, "ten": 10, "sixteen": 16}
# A text without any of these means the same in both versions.
MAY_DIFFER: Final = re.compile(r"\b(?:yes|no|on|off|0[0-9bo_])|[0-9]_|_[0-9]|[-+]0x", re.IGNORECASE)


def maestro_value(text: str) -> Any:
    """The value that Maestro gives to an unquoted scalar. Raises BadNumber as `plain_value` does."""
    if text[:1] not in _MAY_BE_NUMBER or not text:
        return _MAESTRO_WORDS.get(text, text)
    whole = _MAESTRO_INT.fullmatch(text)
    if whole is not None:
        base = str(whole.lastgroup)
        digits = whole[base].replace("_", "")
        return read_int(whole["sign"] + digits, _BASES[base]) if digits else text
    if _MAESTRO_FLOAT.fullmatch(text):
        return read_decimal(text.replace("_", ""))
    if _NOT_FINITE.fullmatch(text):
        return plain_value(text)
    return text


_TAGS: Final = "tag:yaml.org,2002:"


def tagged_value(tag: str, text: str) -> Any:
    """The value of a scalar with an explicit tag such as `!!str`. Raises ValueError for any other tag."""
    kind = tag.removeprefix(_TAGS)
    if kind == "str":
        return text
    value = plain_value(text)
    fits = {
        "int": type(value) is int,
        "float": isinstance(value, Decimal | int) and not isinstance(value, bool),
        "bool": isinstance(value, bool),
        "null": value is None,
    }
    if kind not in fits:
        message = f"the tag `{tag}` has no meaning here"
        raise ValueError(message)
    if not fits[kind]:
        message = f"`{text}` is not of the type `{kind}` that its tag names"
        raise ValueError(message)
    return Decimal(value) if kind == "float" else value
