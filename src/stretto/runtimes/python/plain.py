"""Values of Python programs as plain JSON values; what can not be one is refused with its place."""

import dataclasses
import math
import numbers
import os
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import date, timedelta
from enum import Enum
from typing import Any, Final

import msgspec

from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.model.wire.scalars import MOST_WHOLE, MOST_WHOLE_DIGITS
from stretto.params.requests import MOST_SIZE
from stretto.runtimes.python.codecs import BINARY, KEYS, MARK, codec_of, stored, tagged
from stretto.sel.text import TAG

_EASY: Final = frozenset(
    {str, bool, int, type(None)}
)  # nothing in them can be wrong that the encoder does not see
_ENCODER: Final = msgspec.json.Encoder()
_SORTED: Final = msgspec.json.Encoder(order="deterministic")
MOST_DEPTH: Final = 200  # to which the part that is to blame is looked for
HEXADECIMAL: Final = "such as `hex(...)`, which `int(text, 16)` reads"
TIMES: Final = (date, timedelta)
MOST_ELEMENTS: Final = MOST_SIZE // 2  # of a list: each takes two bytes at least
NUMBERS: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (numbers.Integral, int),
    (numbers.Real, float),
    (numbers.Complex, complex),
)
_NUL: Final = b"\\u0000"


class Unserialisable(InvalidRequest):
    """A value that can not be stored, with the place inside it."""

    id = "unserialisable"


def json_text(value: Any, what: str, *, ordered: bool = False, strict: bool = False) -> str:
    """The JSON text of a value; `what` is its name in errors. `ordered`: one text for equal maps. `strict`:
    refuse what JSON has no word for, instead of tagging it, unless it is a number.
    """
    try:
        hook = _simpler if strict else _simpler_or_stored
        plain = msgspec.to_builtins(value, builtin_types=BINARY, enc_hook=hook)
        is_json = _is_json(plain)
        encoder = _SORTED if ordered else _ENCODER
        refused = strict and not is_json and not _is_json(plain, numbers=True)
        text = b"" if refused else encoder.encode(plain if is_json else tagged(plain))
    except Exception as error:  # a property of a user's object may raise anything
        _refuse(value, what, set(), strict=strict)
        raise Unserialisable(
            f"`{what}` can not be written as JSON: {type(error).__name__}: {error}"
        ) from error
    if not text or _NUL in text:
        _refuse(value, what, set(), strict=strict)
    if not text:
        raise Unserialisable(f"`{what}` can not be written as JSON")
    return text.decode()


def _is_json(value: Any, *, numbers: bool = False) -> bool:
    """Whether plain data holds only what JSON has a word for; `numbers`: or what is a number."""
    kind = type(value)
    if kind is list or kind is tuple:
        return _EASY.issuperset(map(type, value)) or all(_is_json(each, numbers=numbers) for each in value)
    if kind is dict:
        return not (TAG in value or MARK in value) and all(
            type(key) is str and _is_json(each, numbers=numbers) for key, each in value.items()
        )
    if kind is float:
        return numbers or math.isfinite(value)
    return kind in _EASY


def _simpler(value: Any) -> Any:
    """A value that the encoder does not know as one that it may know."""
    found = simple(value)
    if found is value or (isinstance(found, float) and found != value and value == value):  # noqa: PLR0124
        raise TypeError(f"a {type(value).__name__} can not be stored")
    return found


def _simpler_or_stored(value: Any) -> Any:
    found = stored(value)
    return _simpler(value) if found is None else found


def simple(value: Any) -> Any:
    """What stands for a value of a class that JSON has no word for; the value itself if nothing does."""
    if isinstance(value, str):
        return str.__str__(value)
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return _item(value)
    for kind, make in NUMBERS:  # numbers of other libraries, too
        if isinstance(value, kind):
            return make(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set) or (isinstance(value, range) and not value[MOST_ELEMENTS:]):
        return list(value)
    return value  # a range that is too long to be stored is not made a list: it is refused


def _item(value: Any) -> Any:
    """A scalar of numpy as one of Python; the scalar itself if it has fields, is finer than Python's times,
    or is the time that is none.
    """
    found = value.item()
    kind = value.dtype.kind
    if kind == "V" or (kind in "mM" and not isinstance(found, TIMES)):
        return value
    return float(value) if kind == "f" else found


# ------------------------------------------------------------------------------------------------- refusing
def _refuse(value: Any, place: str, above: set[int], *, strict: bool) -> None:
    """Look for the part that can not be stored, and raise Unserialisable for it."""
    if len(above) > MOST_DEPTH:
        raise Unserialisable(f"`{place[:100]}...` is nested too deeply: use a list, or several values")
    wrong = fault_of(value, strict=strict)
    if wrong is not None:
        raise Unserialisable(f"`{place}` {wrong}")
    if id(value) in above:
        raise Unserialisable(f"`{place}` contains itself: a value that is stored has an end")
    above.add(id(value))
    for key, part in _parts(value):
        _refuse(part, f"{place}{key}", above, strict=strict)
    above.discard(id(value))


def fault_of(value: Any, *, strict: bool = True) -> str | None:
    """What is wrong with a value itself, whatever it holds; `strict`: as a parameter that is no JSON."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, Enum):
        return fault_of(value.value, strict=strict)
    if isinstance(value, str):
        return _wrong_text(value)
    if strict and isinstance(value, (float, int, *BINARY)):
        return _wrong_scalar(value)
    if isinstance(value, Mapping):
        return next(filter(None, (_wrong_key(key, strict=strict) for key in value)), None)
    try:
        hook = _simpler if strict else _simpler_or_stored
        msgspec.to_builtins(_hollow(value), builtin_types=BINARY, enc_hook=hook)
    except Exception as error:  # noqa: BLE001 - as above
        name = a_name(type(value).__qualname__)
        if codec_of(type(value)) is not None:
            return f"is {name}, and its codec failed: {type(error).__name__}: {error}"
        return f"is {name}, which can not be stored: use plain data that says the same, or a `codec`"
    return None


def _wrong_scalar(value: Any) -> str | None:
    """Integers that are too large, and bytes where JSON, which holds them, is not allowed."""
    if isinstance(value, BINARY):
        hint = "use a text (base64, for example), or write a file and return its path"
        return f"is `{type(value).__name__}`: {hint}"
    if isinstance(value, float) or -MOST_WHOLE < value < MOST_WHOLE:
        return None
    return f"is an integer of more than {MOST_WHOLE_DIGITS:,} digits: return it as text, {HEXADECIMAL}"


def _wrong_text(text: str) -> str | None:
    if "\0" in text:
        return "holds a NUL character, which databases refuse"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"holds half of a character at position {error.start}, which is not valid text"
    return None


def _wrong_key(key: Any, *, strict: bool) -> str | None:
    if not isinstance(key, str):
        if not strict and isinstance(key, KEYS):
            return None
        wanted = "texts" if strict else "texts, numbers, flags or None"
        return f"has the key {key!r:.100}, {a_name(type(key).__qualname__)}: keys are {wanted}"
    if strict and key == TAG:
        return f"has the key `{TAG}`, which has a meaning of its own in a map: use another one"
    wrong = _wrong_text(key)
    return None if wrong is None else f"has a key that {wrong}"


def _hollow(value: Any) -> Any:
    """A value whose parts are looked at one by one need not be tried as a whole."""
    return None if next(_parts(value), None) is not None or isinstance(value, list | tuple | Set) else value


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value is made of, with the way to each part as one would write it."""
    if isinstance(value, Mapping):
        yield from ((f"[{_quoted(key)}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif isinstance(value, Set):
        yield from (("{...}", part) for part in value)
    elif isinstance(value, msgspec.Struct):
        yield from ((f".{name}", getattr(value, name)) for name in value.__struct_fields__)
    elif dataclasses.is_dataclass(value):
        yield from ((f".{each.name}", getattr(value, each.name)) for each in dataclasses.fields(value))


def _quoted(key: Any) -> str:
    return '"' + str(key).replace("\\", "\\\\").replace('"', '\\"')[:100] + '"'
