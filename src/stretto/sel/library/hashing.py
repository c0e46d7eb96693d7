"""Java's hash codes, which `String.format('%h', value)` shows."""

import struct

from stretto.sel.numbers import INT_MAX, INT_MIN
from stretto.sel.values import Value


def hash_of(value: Value) -> int:
    """The hash code of a scalar; of anything else, 0: Java's would depend on the machine."""
    if type(value) is str:
        result = 0
        units = value.encode("utf-16-le", "surrogatepass")
        for at in range(0, len(units), 2):
            result = (31 * result + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
        return result
    if type(value) is bool:
        return 1231 if value else 1237
    if type(value) is int:
        return value & 0xFFFFFFFF if INT_MIN <= value <= INT_MAX else _folded(value % 2**64)
    return _folded(struct.unpack(">Q", struct.pack(">d", value))[0]) if type(value) is float else 0


def _folded(bits: int) -> int:
    return (bits ^ (bits >> 32)) & 0xFFFFFFFF
