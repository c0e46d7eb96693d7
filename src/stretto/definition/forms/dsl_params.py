"""Parameters in Maestro's YAML DSL: `[!]name[<type>][(mode)]: value`."""

import re
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final, NamedTuple

from stretto.definition.reading.located import derive
from stretto.model.param import ParamMode, ParamType
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink

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


def parse_key(key: str, at: Place, sink: Sink) -> ParamKey | None:
    """Take a key apart, or say what is wrong with it."""
    found = _KEY.fullmatch(key.strip())
    if found is None:
        hint = "write [!]name[<type>][(mode)]"
        sink.append(problem_at(at, Code.BAD_PARAM, f"`{key}` is not a parameter's key", hint))
        return None
    kind = mode = None
    if found["type"] is not None:
        kind = TYPES.get(found["type"].replace(" ", "").lower())
        if kind is None:
            hint = did_you_mean(found["type"], TYPES) or f"one of {', '.join(TYPES)}"
            message = f"`{found['type']}` is not a parameter type"
            sink.append(problem_at(at, Code.UNKNOWN_VALUE, message, hint))
            return None
    if found["mode"] is not None:
        try:
            mode = ParamMode(found["mode"].strip())
        except ValueError:
            hint = did_you_mean(found["mode"], ParamMode) or f"one of {', '.join(ParamMode)}"
            message = f"`{found['mode']}` is not a parameter mode"
            sink.append(problem_at(at, Code.UNKNOWN_VALUE, message, hint))
            return None
    return ParamKey(found["name"].strip(), found["expr"] is not None, kind, mode)


def params_of(source: Any, at: Place, sink: Sink, *, skip: AbstractSet[str] = frozenset()) -> dict[str, Any]:
    """Every key of an object that is not skipped, as parameters. A skipped name may not return as one."""
    made: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for key, value in source.items():
        if key in skip:
            continue
        parsed = parse_key(key, (at, key), sink)
        if parsed is None:
            continue
        if parsed.name in skip:
            message = f"`{parsed.name}` is a field, it can not be a parameter too"
            sink.append(problem_at((at, key), Code.RESERVED_NAME, message, "choose another name"))
        elif parsed.name in made:
            message = f"the parameter `{parsed.name}` is given twice"
            sink.append(
                problem_at((at, key), Code.DUPLICATE_KEY, message, f"also as `{origin[parsed.name]}`")
            )
        else:
            param = _param(parsed, value, (at, key), sink)
            if param is not None:
                made[parsed.name] = param
                origin[parsed.name] = key
    return derive(source, made, **origin)


def _param(key: ParamKey, value: Any, at: Place, sink: Sink) -> dict[str, Any] | None:
    if value is None:
        sink.append(problem_at(at, Code.MISSING_FIELD, f"the parameter `{key.name}` has no value"))
        return None
    mode = {"mode": key.mode.value} if key.mode else {}
    if key.expression:
        kind = key.type or ParamType.STRING
        return {"expression": expression_text(value), "type": kind.value, **mode}
    implied = implied_type(value)
    if key.type is not None and key.type is not implied and not _fits(key.type, implied, value):
        message = f"`{key.name}` is declared as {key.type} but its value is {implied or 'mixed'}"
        sink.append(problem_at(at, Code.WRONG_TYPE, message, _type_hint(key.type)))
        return None
    if implied is None:
        sink.append(problem_at(at, Code.WRONG_TYPE, f"the list `{key.name}` mixes kinds of values"))
        return None
    kind = key.type or implied
    if kind is ParamType.MAP:
        return {"value": params_of(value, at, sink), "type": kind.value, **mode}
    return {"value": value, "type": kind.value, **mode}


def _type_hint(declared: ParamType) -> str | None:
    return "write it with a decimal point, as 1.0" if declared is ParamType.DOUBLE else None


def _fits(declared: ParamType, implied: ParamType | None, value: Any) -> bool:
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
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)
