"""The door to reading: any text we accept -> JSON values, and again with spots once something is wrong."""

import json
import re
from enum import StrEnum
from typing import Any, Final

from stretto.definition.limits import Limits
from stretto.definition.reading.json_text import BadNumber, DuplicateKey, LocatedJson, read_json
from stretto.definition.reading.yaml_text import YamlProblem, YamlReader
from stretto.model.problem import Code, Problem


class Format(StrEnum):
    """How a definition is written down."""

    JSON = "json"
    YAML = "yaml"


class Unreadable(Exception):
    """The text is no JSON or YAML, or it breaks a limit; the problems say where."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


_NUL: Final = re.compile(r"\x00|\\u0000|\\0|\\x00")


class Source:
    """A text with the JSON values in it, one per document. Raises Unreadable."""

    def __init__(self, text: str | bytes, limits: Limits, form: Format | None = None) -> None:
        self._limits = limits
        self.text = _decoded(text, limits)
        self._guessed = form is None
        self.form = form or _guess(self.text)
        self.documents = self._read()
        for document in self.documents:
            _check_depth(document, limits)
            if _NUL.search(self.text):
                _check_nul(document)

    def _read(self) -> list[Any]:
        if self.form is Format.YAML:
            return self._yaml(located=False)
        try:
            return [read_json(self.text)]
        except DuplicateKey:
            reader = LocatedJson(self.text)
            reader.read()
            raise Unreadable(*reader.problems) from None
        except BadNumber as error:
            raise Unreadable(_whole(Code.OUT_OF_RANGE, str(error))) from None
        except RecursionError:
            raise Unreadable(_whole(Code.TOO_DEEP, _too_deep(self._limits))) from None
        except json.JSONDecodeError as error:
            problem = _json_syntax(error)
        return self._second_guess(problem)

    def _second_guess(self, problem: Problem) -> list[Any]:
        """`{workflow: {...}}` opens like JSON but may be YAML; if it is neither, it is bad JSON."""
        if self._guessed:
            self.form = Format.YAML
            try:
                return self._yaml(located=False)
            except Unreadable as unreadable:
                if unreadable.problems[0].code != Code.SYNTAX:
                    raise
        raise Unreadable(problem)

    def _yaml(self, *, located: bool) -> list[Any]:
        reader = YamlReader(self.text, self._limits, located=located)
        try:
            documents = reader.read()
        except YamlProblem as stop:
            raise Unreadable(stop.problem) from None
        if reader.problems and not located:
            return self._yaml(located=True)
        if reader.problems:
            raise Unreadable(*reader.problems)
        return documents

    def located(self) -> list[Any]:
        """The same values, each knowing its spot."""
        if self.form is Format.YAML:
            return self._yaml(located=True)
        return [LocatedJson(self.text).read()]


def _decoded(text: str | bytes, limits: Limits) -> str:
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > limits.text_bytes:
        raise Unreadable(too_large(size, limits))
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable(_not_utf8(error)) from None
    return text.removeprefix("\ufeff")


def _not_utf8(error: UnicodeDecodeError) -> Problem:
    before = error.object[: error.start]
    return Problem(
        code=Code.SYNTAX,
        path="",
        message=f"byte {error.start} is not UTF-8",
        hint="save the file as UTF-8",
        line=before.count(b"\n") + 1,
        column=error.start - before.rfind(b"\n"),
    )


def too_large(size: int, limits: Limits) -> Problem:
    """The problem of a text that is over the limit, for callers that know its size beforehand."""
    message = f"the text has {size:,} bytes, the limit is {limits.text_bytes:,}"
    return _whole(Code.TOO_LARGE, message, "split the workflow, or raise the limit")


def _guess(text: str) -> Format:
    return Format.JSON if text.lstrip()[:1] in {"{", "["} else Format.YAML


def _whole(code: str, message: str, hint: str | None = None) -> Problem:
    return Problem(code=code, path="", message=message, hint=hint, line=1, column=1)


def _too_deep(limits: Limits) -> str:
    return f"nested deeper than {limits.nesting} levels"


def _json_syntax(error: json.JSONDecodeError) -> Problem:
    return Problem(
        code=Code.SYNTAX,
        path="",
        message=f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}",
        line=error.lineno,
        column=error.colno,
    )


def _check_depth(document: Any, limits: Limits) -> None:
    """Level by level, so that the check itself can not run out of stack."""
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(limits.nesting):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise Unreadable(_whole(Code.TOO_DEEP, _too_deep(limits)))


def _check_nul(document: Any) -> None:
    """Databases can not keep NUL in texts, so no definition may hold one."""
    level = [document]
    while level:
        node = level.pop()
        if isinstance(node, str) and "\x00" in node:
            message = "a text holds the NUL character (U+0000), which can not be stored"
            raise Unreadable(_whole(Code.SYNTAX, message, "remove it"))
        if isinstance(node, dict):
            level.extend((*node.keys(), *node.values()))
        elif isinstance(node, list):
            level.extend(node)
