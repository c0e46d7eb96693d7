"""The output file of a step: `name=value` lines, which become output parameters.

rows=42
summary<<END
several
lines
END
"""

import re
from collections.abc import Mapping
from typing import Final

from stretto.model.param import Parameter
from stretto.params import ParamError
from stretto.params.text import read_value
from stretto.runtimes.variables import OUTPUT as VARIABLE

MOST_BYTES: Final = 1024 * 1024
_LINE: Final = re.compile(r"\s*(?P<name>[^\s=<]+)(?:<<(?P<mark>\S+)|=(?P<value>.*))")


class BadOutput(Exception):
    """An output file that can not be understood, or that names what the step does not have."""


def read_outputs(data: bytes, declared: Mapping[str, Parameter], now: int) -> dict[str, Parameter]:
    """The output parameters that a file holds, each of the type that the step declares. Raises BadOutput."""
    if len(data) > MOST_BYTES:
        raise BadOutput(f"${VARIABLE} holds more than {MOST_BYTES // 1024} KB; write large things elsewhere")
    try:
        texts = _texts(data.decode())
    except UnicodeDecodeError as error:
        raise BadOutput(f"${VARIABLE} is no UTF-8 at byte {error.start}") from None
    unknown = [name for name in texts if name not in declared]
    if unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        raise BadOutput(
            f"${VARIABLE} sets {names}, which is no parameter of the step: declare it there, with a value"
        )
    return {name: _parameter(name, declared[name], text, now) for name, text in texts.items()}


def _parameter(name: str, declared: Parameter, text: str, now: int) -> Parameter:
    try:
        value = read_value(name, declared.type, text)
    except ParamError as error:
        raise BadOutput(f"${VARIABLE}: {error.message}") from None
    return Parameter(type=declared.type, evaluated_result=value, evaluated_time=now)


def _texts(text: str) -> dict[str, str]:
    """Texts by name; of two with one name the later counts."""
    found: dict[str, str] = {}
    lines = enumerate(text.split("\n"), 1)
    for number, line in lines:
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.removesuffix("\r"))
        if match is None:
            raise BadOutput(f"line {number} of ${VARIABLE} is not `name=value`: `{line[:60]}`")
        if match["mark"] is None:
            found[match["name"]] = match["value"]
            continue
        inner: list[str] = []
        for _, each in lines:
            if each.removesuffix("\r") == match["mark"]:
                break
            inner.append(each)
        else:
            raise BadOutput(f"`{match['name']}` in ${VARIABLE} has no end: no line is `{match['mark']}`")
        found[match["name"]] = "\n".join(inner)
    return found
