"""Parameters: typed values, literal or expression, as an author wrote them or as a run evaluated them."""

from typing import Annotated, Any, ClassVar, Final

import msgspec

from stretto.model.problem import Code, Place, problem_at
from stretto.model.tag import Tag
from stretto.model.wire.codec import Codec, Encode, Filled, Own, Sink, wrong_type
from stretto.model.wire.scalars import Real, Whole, same, written_deep
from stretto.model.wire.types import codec_of
from stretto.model.words import Word

RESULT: Final = "result"  # the output parameter that holds what the work of a step returned
FORMAT: Final = "format"  # in the meta of a parameter
JSON: Final = "json"  # its text, or each of its texts, is JSON


class ParamType(Word):
    """The ten types of a parameter. MAP holds named parameters, STRING_MAP plain texts."""

    STRING = "STRING"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    STRING_MAP = "STRING_MAP"
    STRING_ARRAY = "STRING_ARRAY"
    LONG_ARRAY = "LONG_ARRAY"
    DOUBLE_ARRAY = "DOUBLE_ARRAY"
    BOOLEAN_ARRAY = "BOOLEAN_ARRAY"
    MAP = "MAP"

    @property
    def is_array(self) -> bool:
        return self.value.endswith("_ARRAY")


class ParamMode(Word):
    """Who may still change a parameter; each member is stricter than the one before it."""

    MUTABLE = "MUTABLE"  # at start, at restart and by output
    MUTABLE_ON_START_RESTART = "MUTABLE_ON_START_RESTART"  # at start and at restart
    MUTABLE_ON_START = "MUTABLE_ON_START"  # at start only
    IMMUTABLE = "IMMUTABLE"  # never; evaluated again at restart
    CONSTANT = "CONSTANT"  # never; kept at restart


class InternalParamMode(Word):
    """What the system asks of a parameter that it brings along."""

    OPTIONAL = "OPTIONAL"  # dropped when nobody gave a value
    REQUIRED = "REQUIRED"  # somebody must give a value
    PROVIDED = "PROVIDED"  # has a value; may be changed
    RESERVED = "RESERVED"  # the system's own; nobody may change it


class ParamSource(Word):
    """Which stage of the merge a value came from."""

    SYSTEM = "SYSTEM"
    TEMPLATE_SCHEMA = "TEMPLATE_SCHEMA"
    SYSTEM_INJECTED = "SYSTEM_INJECTED"
    SYSTEM_DEFAULT = "SYSTEM_DEFAULT"
    DEFINITION = "DEFINITION"
    SIGNAL = "SIGNAL"
    TIME_TRIGGER = "TIME_TRIGGER"
    OUTPUT_PARAMETER = "OUTPUT_PARAMETER"
    LAUNCH = "LAUNCH"
    RESTART = "RESTART"
    SUBWORKFLOW = "SUBWORKFLOW"
    TEMPLATE = "TEMPLATE"
    FOREACH = "FOREACH"
    WHILE = "WHILE"
    WORKFLOW_PARAMETER = "WORKFLOW_PARAMETER"


class ParamDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A parameter before evaluation: a literal `value` or an `expression`, never both.

    `value` is None for an expression, and for a parameter that the system only asks for.
    A MAP's value is a dict of definitions; a DOUBLE is a Decimal, so that no digit is lost. A LONG of more
    than 64 bits, NaN and the infinities are values of definitions that do not follow Maestro.
    """

    wire: ClassVar[Own] = Own(lambda tp: ParamCodec(tp))  # noqa: PLW0108 - defined below

    type: ParamType
    value: Any = None
    expression: str | None = None
    validator: str | None = None
    tags: tuple[Tag, ...] | None = None
    mode: ParamMode | None = None
    internal_mode: InternalParamMode | None = None
    source: ParamSource | None = None
    meta: dict[str, Any] = {}

    @property
    def is_literal(self) -> bool:
        return self.expression is None


class Parameter(ParamDefinition, frozen=True, kw_only=True, gc=False):
    """A parameter of a run: the definition with the result of its evaluation."""

    evaluated_result: Any = None
    evaluated_time: int | None = None


Params = dict[str, ParamDefinition]

VALUE_TYPES: Final[dict[ParamType, Any]] = {
    ParamType.STRING: str,
    ParamType.LONG: Whole,
    ParamType.DOUBLE: Real,
    ParamType.BOOLEAN: bool,
    ParamType.STRING_MAP: dict[str, str],
    ParamType.STRING_ARRAY: tuple[str, ...],
    ParamType.LONG_ARRAY: tuple[Whole, ...],
    ParamType.DOUBLE_ARRAY: tuple[Real, ...],
    ParamType.BOOLEAN_ARRAY: tuple[bool, ...],
    ParamType.MAP: dict[str, ParamDefinition],
}
RESULT_TYPES: Final[dict[ParamType, Any]] = {
    **VALUE_TYPES,
    # What a loop collected has nulls where an iteration left no value.
    ParamType.STRING_ARRAY: tuple[str | None, ...],
    ParamType.LONG_ARRAY: tuple[Whole | None, ...],
    ParamType.DOUBLE_ARRAY: tuple[Real | None, ...],
    ParamType.BOOLEAN_ARRAY: tuple[bool | None, ...],
    ParamType.MAP: Annotated[dict[str, Any], Own(lambda _tp: _members_codec())],
}
TYPED_FIELDS: Final = {"value": VALUE_TYPES, "evaluated_result": RESULT_TYPES}
PLAIN_FIELDS: Final[dict[str, Any]] = {
    "expression": str,
    "validator": str,
    "tags": tuple[Tag, ...],
    "mode": ParamMode,
    "internal_mode": InternalParamMode,
    "source": ParamSource,
    "evaluated_time": int,
}

TYPE_CODEC: Final = codec_of(ParamType)
TYPES: Final[dict[str, ParamType]] = {kind.value: kind for kind in ParamType}  # as most people write them
NOTE_FIELDS: Final[dict[str, frozenset[str]]] = {
    "internal_mode": frozenset(InternalParamMode),
    "source": frozenset(ParamSource),
}


class ParamCodec:
    """Parameters have a codec of their own because the shape of `value` hangs on `type`."""

    def __init__(self, tp: type[ParamDefinition]) -> None:
        self._tp = tp
        self._typed = {key: table for key, table in TYPED_FIELDS.items() if key in tp.__struct_fields__}
        self._plain = {
            key: codec_of(kind) for key, kind in PLAIN_FIELDS.items() if key in tp.__struct_fields__
        }
        self._by_kind: dict[ParamType, dict[str, Codec]] = {}
        self._written: dict[ParamType, list[tuple[str, Encode | None]]] = {}

    def blank(self) -> ParamDefinition:
        return self._tp(type=ParamType.STRING, value="")

    def decode(self, value: Any, at: Place, sink: Sink, /) -> ParamDefinition:
        if not isinstance(value, dict):
            sink.append(wrong_type(at, "an object with `type` and `value` or `expression`", value))
            return self.blank()
        word = value.get("type")
        kind = TYPES.get(word) if isinstance(word, str) else None
        if kind is None:
            kind = _read_type(value, at, sink)
            if kind is None:
                return self.blank()
        codecs = self._codecs(kind)
        known: dict[str, Any] = {"type": kind}
        meta: dict[str, Any] = {}
        for key, item in value.items():
            if item is None or key in {"type", "name"}:  # the key in the map around it is the name
                continue
            codec = codecs.get(key)
            if codec is None or (key in NOTE_FIELDS and _is_free_note(key, item)):
                meta[key] = item
            else:
                known[key] = codec.decode(item, (at, key), sink)
        if meta:
            known["meta"] = meta
        _check_one_form(known, at, sink)
        return self._tp(**known)

    def encode(self, param: ParamDefinition, /) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, write in self._written.get(param.type) or self._order(param.type):
            item = getattr(param, key)
            if item is not None:
                out[key] = item if write is None else write(item)
        out.update(param.meta)
        return out

    def _order(self, kind: ParamType) -> list[tuple[str, Encode | None]]:
        """The fields that a type has, and how they are written (None: as they are). Kept, since a run has
        many parameters.
        """
        codecs = {**self._codecs(kind), "type": TYPE_CODEC}
        keys = ("value", "type", *self._plain, "evaluated_result")
        writers = {key: codecs[key].encode for key in keys if key in codecs}
        self._written[kind] = [(key, None if write is same else write) for key, write in writers.items()]
        return self._written[kind]

    def _codecs(self, kind: ParamType) -> dict[str, Codec]:
        """Field -> codec for a type. Made late: a MAP holds parameters, so it needs this codec itself."""
        known = self._by_kind.get(kind)
        if known is None:
            typed = {key: codec_of(table[kind]) for key, table in self._typed.items()}
            known = self._by_kind[kind] = {**self._plain, **typed}
        return known


def _members_codec() -> Codec:
    """The result of a MAP: plain data, in which numbers that JSON has no word for are texts."""
    codec = Filled()
    codec.fill(codec_of(dict[str, Any]).decode, written_deep, dict)
    return codec


def _is_free_note(key: str, item: Any) -> bool:
    """Maestro keeps these two as free notes, so a word that it does not know is kept, not refused."""
    return isinstance(item, str) and item.upper() not in NOTE_FIELDS[key]


def _read_type(value: dict[str, Any], at: Place, sink: Sink) -> ParamType | None:
    if value.get("type") is None:
        hint = f"one of {', '.join(ParamType)}"
        sink.append(problem_at((at, "type"), Code.MISSING_FIELD, "the field `type` is missing", hint))
        return None
    before = len(sink)
    kind: ParamType = TYPE_CODEC.decode(value["type"], (at, "type"), sink)
    return kind if len(sink) == before else None


def _check_one_form(known: dict[str, Any], at: Place, sink: Sink) -> None:
    """Exactly one of value and expression; only the system's own parameters may leave both open."""
    literal, computed = "value" in known, "expression" in known
    if literal and computed:
        sink.append(problem_at(at, Code.CONFLICT, "`value` and `expression` exclude each other", "give one"))
    elif not (literal or computed or "internal_mode" in known):
        sink.append(problem_at(at, Code.MISSING_FIELD, "neither `value` nor `expression` is given"))
