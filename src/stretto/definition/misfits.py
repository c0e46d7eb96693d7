"""What keeps a value from fitting a JSON Schema, in words: what is wanted, what is there, what to write."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stretto.definition.fitting import CLOSED, KEYWORDS, Schema, Unknown, additional, fits, type_of
from stretto.model.param import ParamType

Path = tuple[str | int, ...]

ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=repr)
MOST_SHOWN: Final = 60  # characters of a value in a message
WORDS: Final[Mapping[str, str]] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a map",
    "null": "nothing",
}
SEVERAL: Final[Mapping[str, str]] = {
    "string": "texts",
    "integer": "whole numbers",
    "number": "numbers",
    "boolean": "flags",
}
PARAM_TYPES: Final[Mapping[str, tuple[ParamType, ...]]] = {
    "string": (ParamType.STRING,),
    "integer": (ParamType.LONG,),
    "number": (ParamType.DOUBLE, ParamType.LONG),
    "boolean": (ParamType.BOOLEAN,),
    "object": (ParamType.MAP, ParamType.STRING_MAP),
}
ARRAYS: Final[Mapping[str, tuple[ParamType, ...]]] = {
    "string": (ParamType.STRING_ARRAY,),
    "integer": (ParamType.LONG_ARRAY,),
    "number": (ParamType.DOUBLE_ARRAY, ParamType.LONG_ARRAY),
    "boolean": (ParamType.BOOLEAN_ARRAY,),
}


class Misfit(NamedTuple):
    """One thing that is certainly wrong."""

    path: Path
    keyword: str
    text: str  # what follows the name of the value: `must be a text, not 5`
    schema: Schema  # that it does not fit; of a member that is not known, that around it


def misfits(value: Any, schema: Schema, path: Path = ()) -> Iterator[Misfit]:
    """Everything that is certainly wrong with a value, each with its place."""
    if isinstance(schema, bool):
        if not schema:
            yield Misfit(path, "false", "must not be there", schema)
        return
    for keyword, wanted in schema.items():
        check = KEYWORDS.get(keyword)
        if keyword == CLOSED and isinstance(value, Mapping):
            for name in additional(value, schema):
                yield from _closed(value[name], schema, (*path, name))
        elif check is not None and check(value, wanted) is False:
            yield from _told(value, schema, keyword, path)


def _closed(value: Any, around: Mapping[str, Any], path: Path) -> Iterator[Misfit]:
    if around[CLOSED] is False:
        yield Misfit(path, CLOSED, "is not known", around)
    else:
        yield from misfits(value, around[CLOSED], path)


def _told(value: Any, schema: Mapping[str, Any], keyword: str, path: Path) -> Iterator[Misfit]:
    wanted = schema[keyword]
    match keyword:
        case "properties":
            for name in wanted.keys() & value.keys():
                yield from misfits(value[name], wanted[name], (*path, name))
        case "items":
            for index, each in enumerate(value):
                yield from misfits(each, wanted, (*path, index))
        case "propertyNames":
            yield from _names(value, wanted, path)
        case "allOf":
            for each in wanted:
                yield from misfits(value, each, path)
        case "required":
            for name in wanted:
                if name not in value:
                    inner = schema.get("properties", {}).get(name, True)
                    yield Misfit((*path, name), keyword, "is missing", inner)
        case _:
            yield Misfit(path, keyword, _text(value, schema, keyword), schema)


def _names(value: Mapping[str, Any], wanted: Schema, path: Path) -> Iterator[Misfit]:
    for name in value:
        for each in misfits(name, wanted, (*path, name)):
            yield each._replace(text=f"has a name that {each.text}")


def _text(value: Any, schema: Mapping[str, Any], keyword: str) -> str:
    wanted = schema[keyword]
    if keyword in {"oneOf", "anyOf"} and all(is_names(each) for each in wanted):
        return _one_of(value, [each["required"] for each in wanted], only=keyword == "oneOf")
    if keyword == "oneOf" and sum(fits(value, each) is True for each in wanted) > 1:
        return f"must be only one of: {' or '.join(in_words(each) for each in wanted)}"
    if keyword in {"type", "oneOf", "anyOf"}:
        return f"must be {in_words(schema)}, not {shown(value)}"
    say = SAYINGS.get(keyword)
    return f"must not be {shown(value)}" if say is None else f"{say(wanted)}, not {shown(value)}"


SAYINGS: Final[Mapping[str, Callable[[Any], str]]] = {
    "enum": lambda members: f"must be one of {', '.join(map(shown, members))}",
    "const": lambda only: f"must be {shown(only)}",
    "minimum": lambda bound: f"must be {bound} or more",
    "maximum": lambda bound: f"must be {bound} or less",
    "exclusiveMinimum": lambda bound: f"must be more than {bound}",
    "exclusiveMaximum": lambda bound: f"must be less than {bound}",
    "multipleOf": lambda step: f"must be a multiple of {step}",
    "minLength": lambda size: f"must have {size} or more characters",
    "maxLength": lambda size: f"must have {size} or fewer characters",
    "pattern": lambda pattern: f"must look like `{pattern}`",
    "minItems": lambda size: f"must have {size} or more items",
    "maxItems": lambda size: f"must have {size} or fewer items",
    "minProperties": lambda size: f"must have {size} or more members",
    "maxProperties": lambda size: f"must have {size} or fewer members",
}


def is_names(schema: Schema) -> bool:
    """Whether a schema says only which members must be there."""
    return isinstance(schema, Mapping) and schema.keys() == {"required"}


def alternatives(schema: Schema) -> list[list[str]]:
    """Sets of members of which one must be there."""
    if isinstance(schema, bool):
        return []
    parts = (*schema.get("oneOf", ()), *schema.get("anyOf", ()))
    return [each["required"] for each in parts if is_names(each)]


def _one_of(value: Mapping[str, Any], sets: list[list[str]], *, only: bool) -> str:
    names = " or ".join(" with ".join(f"`{name}`" for name in each) for each in sets)
    given = [f"`{name}`" for each in sets for name in each if name in value]
    has = " and ".join(dict.fromkeys(given)) or "none of them"
    return f"needs {'exactly one' if only else 'one'} of {names}; it has {has}"


# ------------------------------------------------------------------------------------------------- words
def shown(value: Any) -> str:
    """A value as one would write it, cut to a bearable length."""
    if isinstance(value, Unknown):
        return WORDS[value.type]
    text = ENCODER.encode(_closed_up(value)).decode()
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _closed_up(value: Any) -> Any:
    """With a mark in the place of what is not known yet."""
    match value:
        case Unknown():
            return "..."
        case Mapping():
            return {str(name): _closed_up(each) for name, each in value.items()}
        case list() | tuple():
            return [_closed_up(each) for each in value]
        case _:
            return value


class Kind(NamedTuple):
    """A type of JSON Schema; of a list, that of its items if there is one that we have a word for."""

    name: str
    items: str | None = None


def kinds_of(schema: Schema) -> list[Kind] | None:
    """The types that may fit a schema, as far as it says them plainly; None: any."""
    if isinstance(schema, bool):
        return None
    if "type" in schema:
        wanted: str | list[str] = schema["type"]
        names = [wanted] if isinstance(wanted, str) else wanted
        return [Kind(name, _items(schema) if name == "array" else None) for name in names]
    if "enum" in schema or "const" in schema:
        members = schema.get("enum", [schema.get("const")])
        return [Kind(name) for name in dict.fromkeys(map(type_of, members))]
    found: list[Kind] = []
    for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        kinds = kinds_of(each)
        if kinds is None:
            return None
        found += kinds
    return list(dict.fromkeys(found)) or None


def _items(schema: Mapping[str, Any]) -> str | None:
    kinds = kinds_of(schema.get("items", True)) or []
    return kinds[0].name if len(kinds) == 1 and kinds[0].name in SEVERAL else None


def in_words(schema: Schema) -> str:
    """`a text or a list of texts`."""
    kinds = kinds_of(schema)
    if kinds is None:
        return "anything else" if schema is False else "anything"
    return " or ".join(
        WORDS[kind.name] if kind.items is None else f"a list of {SEVERAL[kind.items]}" for kind in kinds
    )


def param_types(schema: Schema) -> list[ParamType] | None:
    """The types of parameters whose values may fit; None: any."""
    kinds = kinds_of(schema)
    if kinds is None:
        return None
    found = [each for kind in kinds for each in _params_of(kind)]
    return list(dict.fromkeys(found))


def _params_of(kind: Kind) -> Iterable[ParamType]:
    if kind.name != "array":
        return PARAM_TYPES.get(kind.name, ())
    return (each for each in ParamType if each.is_array) if kind.items is None else ARRAYS[kind.items]
