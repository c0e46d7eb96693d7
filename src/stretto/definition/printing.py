"""Definition -> text. Reading it again gives an equal definition; printing that gives the same text."""

from decimal import Decimal
from typing import Any, Final

import msgspec
import yaml

from stretto.definition.reading.json_text import BadNumber
from stretto.definition.reading.yaml_scalars import plain_value
from stretto.model.wire import encode
from stretto.model.wire import to_json as json_bytes
from stretto.model.workflow import Definition

WIDE: Final = 1_000_000  # never fold a line: an expression is easier to read whole


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
    text: str = yaml.dump(
        to_value(definition), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes scalars so that the core schema of YAML 1.2 (and 1.1 too) reads them back as they were."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - an equal value twice is no alias
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    if "\n" in value and _fits_block(value):
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if _stays_text(value) else '"')


def _stays_text(value: str) -> bool:
    try:
        return isinstance(plain_value(value), str)
    except BadNumber:
        return False


def _fits_block(value: str) -> bool:
    """A block keeps text only if no line ends in a space and every character can be printed."""
    lines = value.split("\n")
    return all(line == line.rstrip() and line.isprintable() for line in lines) and bool(value.strip())


def _number(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:float", str(value))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _number)
