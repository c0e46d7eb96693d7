"""Values that JSON has no word for, as JSON, and back.

    codec(Money, encode=lambda money: [money.amount, money.currency], decode=lambda parts: Money(*parts))

Such a value is stored as `{"$stretto": [name, content]}`. A dictionary that has this key itself is stored as
one whose keys are no texts, so that data can not name a codec.

Bytes, `nan`, `inf`, fractions, complex numbers and dictionaries whose keys are no texts are known; so are
arrays and tables of numpy, pandas and pyarrow, where these are installed. A codec of a program is registered
where its class is defined, so that every process that imports the class knows it.
"""

import base64
import importlib
import math
import secrets
import threading
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.source import importable
from stretto.sel.text import TAG, float_tag

BINARY: Final = (bytes, bytearray, memoryview)
KEYS: Final = (str, int, float, bool, type(None))  # what the keys of a dictionary may be
LIBRARIES: Final = frozenset({"numpy", "pandas", "pyarrow"})
MARK: Final = f"{TAG}:{secrets.token_hex(16)}"  # what a codec makes; no data of a program has this key
ARRAYS: Final = "stretto.runtimes.python.arrays"


class Codec(NamedTuple):
    """How values of a class are stored."""

    name: str
    cls: type
    encode: Callable[[Any], Any]  # to anything that can be stored
    decode: Callable[[Any], Any]


class UnknownCodec(InvalidRequest):
    """A stored value of a class for which no codec is registered."""

    id = "unknown-codec"


_lock: Final = threading.Lock()
_by_type: Final[dict[type, Codec]] = {}
_by_name: Final[dict[str, Codec]] = {}


def codec(
    cls: type,
    *,
    encode: Callable[[Any], Any],
    decode: Callable[[Any], Any],
    name: str | None = None,
) -> None:
    """Say how values of a class, and of its subclasses, are stored. `encode` gives anything that can be
    stored, `decode` makes the value of it. `name`, by default `module:class`, is stored with each value: keep
    it when the class moves.
    """
    if not isinstance(cls, type):
        raise InvalidRequest(f"`{cls!r}` is not a class", hint="a codec is for the values of a class")
    made = Codec(name or _name(cls), cls, encode, decode)
    with _lock:
        known = _by_name.get(made.name)
        if known is not None and _name(known.cls) != _name(cls):
            raise InvalidRequest(
                f"the codec `{made.name}` is that of `{_name(known.cls)}` already", hint="give another `name`"
            )
        _by_type[cls] = _by_name[made.name] = made


def _name(cls: type) -> str:
    return f"{importable(cls.__module__)}:{cls.__qualname__}"


def codec_of(cls: type) -> Codec | None:
    """The codec of a class, or of the first of its base classes that has one."""
    if cls.__module__.partition(".")[0] in LIBRARIES:
        importlib.import_module(ARRAYS)
    return next((_by_type[each] for each in cls.__mro__ if each in _by_type), None)


def stored(value: Any) -> dict[str, Any] | None:
    """A value as its codec stores it, marked for `tagged`; None if it has none."""
    found = codec_of(type(value))
    return None if found is None else {MARK: [found.name, found.encode(value)]}


codec(
    complex,
    name="complex",
    encode=lambda value: [value.real, value.imag],
    decode=lambda parts: complex(*parts),
)
codec(
    Fraction,
    name="Fraction",
    encode=lambda value: [value.numerator, value.denominator],
    decode=lambda parts: Fraction(*parts),
)


# ---------------------------------------------------------------------------------------------- plain values
def tagged(value: Any) -> Any:
    """Plain data in which everything that JSON has no word for is tagged. Raises TypeError for other keys."""
    if isinstance(value, list | tuple):
        return [tagged(each) for each in value]
    if isinstance(value, dict):
        if MARK in value:
            return {TAG: tagged(value[MARK])}
        if TAG not in value and all(type(key) is str for key in value):
            return {key: tagged(each) for key, each in value.items()}
        if not all(isinstance(key, KEYS) for key in value):
            raise TypeError("keys are texts, numbers, flags or None")
        return {TAG: ["map", [[tagged(key), tagged(each)] for key, each in value.items()]]}
    if isinstance(value, BINARY):
        return {TAG: ["bytes", base64.b64encode(value).decode()]}
    if isinstance(value, float) and not math.isfinite(value):
        return float_tag(value)
    return value


def untagged(value: Any) -> Any:
    """The values that were tagged."""
    if isinstance(value, list):
        return [untagged(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1 and isinstance(content := value.get(TAG), list) and len(content) == 2:
        return _decoded(*content)
    return {key: untagged(each) for key, each in value.items()}


def _decoded(name: str, content: Any) -> Any:
    if name == "bytes":
        return base64.b64decode(content)
    if name == "float":
        return float(content)
    if name == "map":
        return {untagged(key): untagged(each) for key, each in content}
    if name not in _by_name and name.partition(".")[0] in LIBRARIES:
        importlib.import_module(ARRAYS)
    found = _by_name.get(name)
    if found is None:
        raise UnknownCodec(
            f"a value of `{name}` can not be read: no codec of that name is registered here",
            hint="import the module that registers it",
        )
    return found.decode(untagged(content))
