"""Parameters in Maestro's YAML DSL: `[!]name[<type>][(mode)]: value`."""

import re
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final, NamedTuple

from stretto.definition.reading.located import LocatedDict, at_key, derive, gather
from stretto.model.param import ParamMode, ParamType
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink, to_json

_KEY: Final = re.compile(
    r"(?P<expr>!)?(?P<name>[^<>()!]+?)(?:<(?P<type>.+)>)?(?:\((?P<mode>[^()]*)\))?", re.DOTALL
)

TYPES: Final[dict[str, ParamType]] = {
    "string": ParamType.STRING,
    "long": ParamType.LONG,
    "double": ParamType.DOUBLE,
    "boolean": ParamType.BOOLEAN,
    "array<string>": ParamType.STRING_ARRAY,
    "array<long>": ParamType.LONG_ARRAY,
    "array<double>": ParamType.DOUBLE_ARRAY,
    "array<boolean>": ParamType.BOOLEAN_ARRAY,
    "map": ParamType.STRING_MAP,
    "pmap": ParamType.MAP,
    **{kind.value.lower(): kind for kind in ParamType if kind is not ParamType.MAP},
}


class ParamKey(NamedTuple):
    """A key, taken apart."""

    name: str
    expression: bool
    type: ParamType | None
    mode: ParamMode | None


def parse_key(key: str, source: Any, at: Place, sink: Sink) -> ParamKey | None:
    """Take a key of `source` apart, or say what is wrong with it."""

    def say(code: str, message: str, hint: str) -> None:
        sink.append(at_key(problem_at((at, key), code, message, hint), source, key))

    found = _KEY.fullmatch(key.strip())
    if found is None:
        say(Code.BAD_PARAM, f"`{key}` is not a parameter's key", "write [!]name[<type>][(mode)]")
        return None
    kind = mode = None
    if found["type"] is not None:
        kind = TYPES.get("".join(found["type"].split()).lower())
        if kind is None:
            hint = did_you_mean(found["type"], TYPES) or f"one of {', '.join(TYPES)}"
            say(Code.UNKNOWN_VALUE, f"`{found['type']}` is not a parameter type", hint)
            return None
    if found["mode"] is not None:
        try:
            mode = ParamMode(found["mode"].strip())
        except ValueError:
            hint = did_you_mean(found["mode"], ParamMode) or f"one of {', '.join(ParamMode)}"
            say(Code.UNKNOWN_VALUE, f"`{found['mode']}` is not a parameter mode", hint)
            return None
    return ParamKey(found["name"].strip(), found["expr"] is not None, kind, mode)


class ParamReader:
    """Collects the parameters of one step or workflow, from one object or several."""

    def __init__(self, sink: Sink, fields: AbstractSet[str] = frozenset()) -> None:
        self.params: dict[str, Any] = {}
        self._sink = sink
        self._fields = fields  # names that mean something else
        self._origin: dict[str, str] = {}

    def add(self, source: dict[str, Any], at: Place, *, among_fields: bool = False) -> None:
        """Every key of an object; where it has fields too, they are left out. No name may come twice."""
        for key, value in source.items():
            if among_fields and key in self._fields:
                continue
            parsed = parse_key(key, source, at, self._sink)
            if parsed is None:
                continue
            name, place = parsed.name, (at, key)
            if name in self._fields:
                message = f"`{name}` is a field, it can not be a parameter too"
                self._say(source, place, key, Code.RESERVED_NAME, message, "choose another name")
            elif name in self._origin:
                message = f"the parameter `{name}` is given twice"
                hint = f"also as `{self._origin[name]}`"
                self._say(source, place, key, Code.DUPLICATE_KEY, message, hint)
            else:
                self._origin[name] = key
                self.put(name, _param(parsed, value, place, self._sink), source, key)

    def put(self, name: str, param: dict[str, Any] | None, source: dict[str, Any], key: str) -> None:
        if param is not None:
            self.params = gather(self.params, name, derive(_around(source, key), param), source, key)

    def _say(self, source: Any, place: Place, key: str, code: str, message: str, hint: str) -> None:
        self._sink.append(at_key(problem_at(place, code, message, hint), source, key))


def _around(source: dict[str, Any], key: str) -> Any:
    """What gives a parameter its spot: the value itself if it is an object, else the place of its key."""
    if isinstance(source, LocatedDict):
        return LocatedDict(source.values_at[key])
    return source


def params_of(source: dict[str, Any], at: Place, sink: Sink) -> dict[str, Any]:
    """Every key of an object as a parameter."""
    reader = ParamReader(sink)
    reader.add(source, at)
    return reader.params


def _param(key: ParamKey, value: Any, at: Place, sink: Sink) -> dict[str, Any] | None:
    if value is None:
        sink.append(problem_at(at, Code.MISSING_FIELD, f"the parameter `{key.name}` has no value"))
        return None
    mode = {"mode": key.mode.value} if key.mode else {}
    if key.expression:
        kind = key.type or ParamType.STRING
        return {"expression": expression_text(value), "type": kind.value, **mode}
    implied = implied_type(value)
    if implied is None:
        message = f"the list `{key.name}` mixes kinds of values"
        sink.append(problem_at(at, Code.WRONG_TYPE, message, "texts, numbers or flags, of one kind only"))
        return None
    kind = key.type or implied
    if kind is not implied and not _fits(kind, implied, value):
        message = f"`{key.name}` is declared as {kind} but its value is {implied}"
        sink.append(problem_at(at, Code.WRONG_TYPE, message, _type_hint(kind)))
        return None
    if kind is ParamType.MAP:
        return {"value": params_of(value, at, sink), "type": kind.value, **mode}
    return {"value": value, "type": kind.value, **mode}


def _type_hint(declared: ParamType) -> str | None:
    doubles = {ParamType.DOUBLE, ParamType.DOUBLE_ARRAY}
    return "write it with a decimal point, as 1.0" if declared in doubles else None


def _fits(declared: ParamType, implied: ParamType, value: Any) -> bool:
    """The few cases where the value alone does not say its type."""
    if declared is ParamType.MAP:
        return implied is ParamType.STRING_MAP
    if not value:
        return (declared.is_array and implied is ParamType.STRING_ARRAY) or (
            declared is ParamType.STRING_MAP and implied is ParamType.MAP
        )
    return False


_SCALARS: Final[dict[type, ParamType]] = {
    bool: ParamType.BOOLEAN,
    str: ParamType.STRING,
    int: ParamType.LONG,
    Decimal: ParamType.DOUBLE,
}


def implied_type(value: Any) -> ParamType | None:
    """The type that a literal shows by itself; None for a list of several kinds."""
    if isinstance(value, dict):
        texts = bool(value) and all(isinstance(item, str) for item in value.values())
        return ParamType.STRING_MAP if texts else ParamType.MAP
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        if not kinds:
            return ParamType.STRING_ARRAY
        if kinds == {int, Decimal}:
            return ParamType.DOUBLE_ARRAY
        scalar = _SCALARS.get(kinds.pop()) if len(kinds) == 1 else None
        return ParamType(f"{scalar}_ARRAY") if scalar else None
    return _SCALARS[type(value)]


def expression_text(value: Any) -> str:
    """An expression that YAML took for another value, as the text that the author wrote."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, Decimal) else to_json(value).decode()
