"""The methods of MAP."""

from typing import Final

from stretto.sel.errors import class_cast
from stretto.sel.runtime.frame import Frame, Method
from stretto.sel.values import Value, type_of

ENTRY_SIZE: Final = 64  # of memory, besides key and value


def key_of(value: Value) -> str:
    """A key, which must be a STRING."""
    if type(value) is str:
        return value
    raise class_cast("a STRING as the key", type_of(value))


def put(frame: Frame, receiver: dict[str, Value], key: Value, value: Value) -> Value:
    """Set an entry; gives the value it had."""
    name = frame.kept(key_of(key))
    if name not in receiver:
        frame.pay(ENTRY_SIZE)
    old = receiver.get(name)
    receiver[name] = frame.kept(value)
    return old


METHODS: Final[dict[str, Method]] = {
    "size/0": lambda _, receiver: len(receiver),
    "get/1": lambda _, receiver, key: receiver.get(key_of(key)),
    "containsKey/1": lambda _, receiver, key: key_of(key) in receiver,
    "put/2": put,
    "getOrDefault/2": lambda _, receiver, key, default: receiver.get(key_of(key), default),
}
UNSET: Final[dict[str, Method]] = {
    "size/0": lambda _, __: 0,
    "containsKey/1": lambda _, __, key: bool(key_of(key)) and False,
}
"""What a map that was declared and never set can still answer."""
