"""What a plain YAML scalar means: the core schema of YAML 1.2, which is JSON's idea of values.

So `yes`, `on` and `2020-01-01` are texts, as a reader of JSON would expect.
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
        message = f"{text} is not a finite number"
        raise BadNumber(message)
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
