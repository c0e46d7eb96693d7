"""Records <-> JSON values, in the shape that Maestro's clients send and expect.

    decode(Definition, value)        -> (record, problems)    every problem at once, each with its path
    encode(record)                   -> plain JSON value      nulls left out as the record's rules say
    to_stored_json(value)            -> JSON text             that every database takes

A codec is made once per type from its annotations. What annotations can not say is said by a class
attribute `wire: ClassVar[Shape]` of the record (open objects, short forms, what is left out), by
`Wrapped` (objects with one key that names the kind), or by a codec of its own (`Own`).
"""

from stretto.model.wire.codec import Codec, Drop, Own, Shape, Sink, Wrapped
from stretto.model.wire.convert import decode, encode, from_json, json_slices, loads, to_json, weight
from stretto.model.wire.nul import to_stored_json, without_nul
from stretto.model.wire.types import codec_of

__all__ = [
    "Codec",
    "Drop",
    "Own",
    "Shape",
    "Sink",
    "Wrapped",
    "codec_of",
    "decode",
    "encode",
    "from_json",
    "json_slices",
    "loads",
    "to_json",
    "to_stored_json",
    "weight",
    "without_nul",
]
