"""Values of Python programs as plain JSON values; what can not be one is refused with its place."""

import dataclasses
import math
import numbers
import os
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from typing import Any, Final

import msgspec

from stretto.model.errors import InvalidRequest
from stretto.sel.numbers import LONG_MAX, LONG_MIN

BINARY: Final = (bytes, bytearray, memoryview)
_EASY: Final = frozenset(
    {str, bool, type(None)}
)  # nothing in them can be wrong that the encoder does not see
_ENCODER: Final = msgspec.json.Encoder()
_SORTED: Final = msgspec.json.Encoder(order="deterministic")
MOST_DEPTH: Final = 200  # to which the part that is to blame is looked for
_NUL: Final = b"\\u0000"


class Unserialisable(InvalidRequest):
    """A value that can not be stored, with the place inside it."""

    id = "unserialisable"


def json_text(value: Any, what: str, *, ordered: bool = False) -> str:
    """The JSON text of a value; `what` is its name in errors. `ordered`: one text for equal maps."""
    try:
        plain = msgspec.to_builtins(value, builtin_types=BINARY, enc_hook=_simpler)
        text = (_SORTED if ordered else _ENCODER).encode(plain) if _is_json(plain) else b""
    except Exception as error:  # a property of a user's object may raise anything
        _refuse(value, what, set())
        raise Unserialisable(
            f"`{what}` can not be written as JSON: {type(error).__name__}: {error}"
        ) from error
    if not text or _NUL in text:
        _refuse(value, what, set())
    if not text:
        raise Unserialisable(f"`{what}` can not be written as JSON")
    return text.decode()


def _is_json(value: Any) -> bool:
    """Whether plain data holds only what JSON has a word for."""
    kind = type(value)
    if kind is list or kind is tuple:
        return _EASY.issuperset(map(type, value)) or all(map(_is_json, value))
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_json, value.values()))
    if kind is float:
        return math.isfinite(value)
    if kind is int:
        return bool(LONG_MIN <= value <= LONG_MAX)
    return kind in _EASY


def _simpler(value: Any) -> Any:
    """A value that the encoder does not know as one that it may know."""
    found = simple(value)
    if found is value:
        raise TypeError(f"a {type(value).__name__} can not be stored")
    return found


def simple(value: Any) -> Any:
    """What stands for a value of a class that JSON has no word for; the value itself if nothing does."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, numbers.Integral):  # a number of another library, too
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set | range):
        return list(value)
    return value


# ------------------------------------------------------------------------------------------------- refusing
def _refuse(value: Any, place: str, above: set[int]) -> None:
    """Look for the part that can not be stored, and raise Unserialisable for it."""
    if len(above) > MOST_DEPTH:
        raise Unserialisable(f"`{place[:100]}...` is nested too deeply: use a list, or several values")
    wrong = fault_of(value)
    if wrong is not None:
        raise Unserialisable(f"`{place}` {wrong}")
    if id(value) in above:
        raise Unserialisable(f"`{place}` contains itself: a value that is stored has an end")
    above.add(id(value))
    for key, part in _parts(value):
        _refuse(part, f"{place}{key}", above)
    above.discard(id(value))


def fault_of(value: Any) -> str | None:
    """What is wrong with a value itself, whatever it holds."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, Enum):
        return fault_of(value.value)
    if isinstance(value, str):
        return _wrong_text(value)
    if isinstance(value, float):
        return (
            None if math.isfinite(value) else f"is {value}, which JSON has no word for: use None, or a text"
        )
    if isinstance(value, int):
        return None if LONG_MIN <= value <= LONG_MAX else "is an integer of more than 64 bits: use a text"
    if isinstance(value, BINARY):
        hint = "use a text (base64, for example), or write a file and return its path"
        return f"is `{type(value).__name__}`: {hint}"
    if isinstance(value, Mapping):
        return next(filter(None, map(_wrong_key, value)), None)
    try:
        msgspec.to_builtins(_hollow(value), builtin_types=BINARY, enc_hook=_simpler)
    except Exception:  # noqa: BLE001 - as above
        name = type(value).__qualname__
        return f"is a `{name}`, which can not be stored: use plain data that says the same"
    return None


def _wrong_text(text: str) -> str | None:
    if "\0" in text:
        return "holds a NUL character, which databases refuse"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"holds half of a character at position {error.start}, which is no valid text"
    return None


def _wrong_key(key: Any) -> str | None:
    if not isinstance(key, str):
        return f"has the key {key!r:.100}, a `{type(key).__qualname__}`: keys are texts"
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
