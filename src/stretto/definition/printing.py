"""Definition -> text. Reading it again gives an equal definition; printing that gives the same text."""

from typing import Any

import msgspec

from stretto.model.wire import encode
from stretto.model.wire import to_json as json_bytes
from stretto.model.workflow import Definition


def to_value(definition: Definition) -> dict[str, Any]:
    """The JSON value of a definition."""
    value: dict[str, Any] = encode(definition)
    return value


def to_json(definition: Definition, *, indent: int | None = 2) -> str:
    """JSON text in the form that Maestro's API reads."""
    text = json_bytes(to_value(definition))
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def to_yaml(definition: Definition) -> str:
    """The same model as YAML, for people: long texts as blocks, no quotes where none are needed."""
    from stretto.definition.yaml_printing import yaml_text  # noqa: PLC0415 - PyYAML takes a while

    return yaml_text(to_value(definition))
