"""The outputs of a step: `name=value` lines, in its output file or marked in what it prints.

rows=42
summary<<END
several
lines
END
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.param import Parameter
from stretto.params import ParamError
from stretto.params.text import read_value
from stretto.runtimes.process import Process
from stretto.runtimes.variables import OUTPUT as VARIABLE

MOST_BYTES: Final = 1024 * 1024
MARK: Final = "::output"  # before the same, at the beginning of a line of standard output
_LINE: Final = re.compile(r"\s*(?P<name>[^\s=<]+)(?:<<(?P<mark>\S+)|=(?P<value>.*))")


class BadOutput(Exception):
    """An output file that can not be understood, or that names what the step does not have."""


def read_outputs(
    data: bytes, declared: Mapping[str, Parameter], now: int, marked: bytes = b""
) -> dict[str, Parameter]:
    """The output parameters that a file holds, and those of marked lines that it does not have; each of the
    type that the step declares. Raises BadOutput.
    """
    return {
        **_parameters(MARK, _marked(marked), declared, now),
        **_parameters(f"${VARIABLE}", _written(data), declared, now),
    }


def _written(data: bytes) -> dict[str, str]:
    if len(data) > MOST_BYTES:
        raise BadOutput(f"${VARIABLE} holds more than {MOST_BYTES // 1024} KB; write large things elsewhere")
    return _texts(_decoded(f"${VARIABLE}", data))


def _marked(data: bytes) -> dict[str, str]:
    """Each line by itself: there is no text of several lines."""
    found: dict[str, str] = {}
    for line in _decoded(MARK, data).split("\n")[:-1]:
        match = _LINE.fullmatch(line.removesuffix("\r"))
        if match is None or match["mark"] is not None:
            raise BadOutput(f"{MARK} is followed by `name=value`, and not by `{line[:60]}`")
        found[match["name"]] = match["value"]
    return found


def _decoded(place: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadOutput(f"{place} is not UTF-8 at byte {error.start}") from None


def _parameters(
    place: str, texts: Mapping[str, str], declared: Mapping[str, Parameter], now: int
) -> dict[str, Parameter]:
    unknown = [name for name in texts if name not in declared]
    if unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        reason, what = ("is not a parameter", "it") if len(unknown) == 1 else ("are not parameters", "them")
        raise BadOutput(
            f"{place} sets {names}, which {reason} of the step: declare {what} there, with a value"
        )
    return {name: _parameter(place, name, declared[name], text, now) for name, text in texts.items()}


def _parameter(place: str, name: str, declared: Parameter, text: str, now: int) -> Parameter:
    try:
        value = read_value(name, declared.type, text)
    except ParamError as error:
        raise BadOutput(f"{place}: {error.message}") from None
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


ARTIFACT: Final = "shell"  # its key: exit code, and the end of what it printed


def artifacts_of(process: Process, code: int | None = None) -> Artifacts:
    """How a command ended, and the end of what it printed."""
    found = {
        "exit_code": code,
        "stdout": process.out.text,
        "stderr": process.err.text,
        "stdout_bytes": process.out.size,
        "stderr_bytes": process.err.size,
    }
    return {ARTIFACT: DefaultArtifact(data={key: value for key, value in found.items() if value is not None})}


OUTPUT: Final = f"{MARK} ".encode()
PROGRESS: Final = b"::progress "
BEGIN: Final = b"\n::"
_FRACTION: Final = re.compile(
    r"\s*(?P<fraction>0(?:\.\d{1,9})?|1(?:\.0{1,9})?)(?:\s+(?P<text>.*))?", re.ASCII
)

Progress = Callable[[float, str], None]


class Marks:
    """Finds them in what comes, in whatever pieces it comes. What is kept is bounded."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._held = b"\n"  # what may be the beginning of a mark, with the end of the line before
        self._outputs = bytearray()  # as they would stand in the output file
        self._too_much = False

    def take(self, data: bytes) -> None:
        """Some bytes, which need not be whole lines."""
        data = self._held + data
        begin = data.find(BEGIN)
        while begin >= 0:
            end = data.find(b"\n", begin + len(BEGIN))
            if end < 0:
                self._hold(data[begin:])
                return
            self._line(data[begin + 1 : end])
            begin = data.find(BEGIN, end)
        self._held = next((part for part in (b"\n:", b"\n") if data.endswith(part)), b"")

    def outputs(self) -> bytes:
        """At the end: the lines that set outputs. Raises BadOutput."""
        if self._held.startswith(BEGIN):  # the last line has no end
            self._line(self._held[1:])
        self._held = b""
        if self._too_much:
            kept = MOST_BYTES // 1024
            raise BadOutput(f"lines with {MARK} have more than {kept} KB; write large things elsewhere")
        return bytes(self._outputs)

    def _hold(self, line: bytes) -> None:
        """A line whose end has not come."""
        if len(line) <= MOST_BYTES:
            self._held = line
        else:
            self._too_much = self._too_much or line.startswith(b"\n" + OUTPUT)
            self._held = b""  # the rest of it is no beginning of a line

    def _line(self, line: bytes) -> None:
        if line.startswith(OUTPUT):
            said = line.removeprefix(OUTPUT)
            if len(self._outputs) + len(said) >= MOST_BYTES:
                self._too_much = True
            else:
                self._outputs += said + b"\n"
        elif line.startswith(PROGRESS):
            match = _FRACTION.fullmatch(line.removeprefix(PROGRESS).decode(errors="replace").rstrip())
            if match is not None:  # a line that only looks like one must not fail a step
                self._progress(float(match["fraction"]), match["text"] or "")
