"""JSON value -> YAML text."""

from decimal import Decimal
from typing import Any, Final

import yaml

from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.yaml_scalars import plain_value

WIDE: Final = 1_000_000  # never fold a line: an expression is easier to read whole


def yaml_text(value: dict[str, Any]) -> str:
    """Long texts as blocks, no quotes where none are needed."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes scalars so that the core schema of YAML 1.2 reads them back as they were; texts in 1.1 too."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - an equal value twice is no alias
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value and _fits_block(value) else None if _is_plain(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _is_plain(value: str) -> bool:
    """Whether it is read as text without quotes. Line breaks of other scripts would be folded away."""
    try:
        return value.isprintable() and isinstance(plain_value(value), str)
    except BadNumber:
        return False


def _fits_block(value: str) -> bool:
    """A block keeps text only if no line ends in a space and every character can be printed."""
    lines = value.split("\n")
    return all(line == line.rstrip() and line.isprintable() for line in lines) and bool(value.strip())


def _number(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    """Without quotes, whatever YAML 1.1 takes it for: `1E+3` is a number in 1.2 only."""
    text = str(value)
    tag: str = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(tag, text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _number)
