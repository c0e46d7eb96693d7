"""The door to reading: any text we accept -> JSON values, and again with spots once something is wrong."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final

from stretto.definition.findings import Enough, Findings
from stretto.definition.limits import Limits
from stretto.definition.reading.json_text import (
    DuplicateKey,
    LocatedJson,
    bad_number_at,
    count_nodes,
    given_twice,
    read_json,
    too_deep_at,
)
from stretto.definition.reading.located import Spot, Word, spot_of
from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.yaml_scalars import MAY_DIFFER
from stretto.model.problem import Code, Place, Problem, keys_of, render


class Format(StrEnum):
    """How a definition is written down."""

    JSON = "json"
    YAML = "yaml"


class Unreadable(Exception):
    """The text is no JSON or YAML, or it breaks a limit; the problems say where."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


def _is_maestros(document: Any) -> bool:
    """Whether a document is one that Maestro reads: a workflow under the key of that name."""
    return isinstance(document, dict) and any(
        isinstance(document.get(key), dict) for key in ("workflow", "Workflow")
    )


START: Final = Spot(1, 1)
CONTAINERS: Final = (dict, list)  # a tuple: the check of a union is twice as slow
MOST_LOCATED: Final = 200_000  # nodes that are read with their spots, which take several times their room
# Only such escapes can put a character into a value that the text itself may not hold.
ESCAPES: Final = ("\\u", "\\U", "\\x00", "\\0")
NOT_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


class Source:
    """A text with the JSON values in it, one per document. Raises Unreadable."""

    def __init__(self, text: str | bytes, limits: Limits, form: Format | None = None) -> None:
        self._limits = limits
        self.text = _decoded(text, limits)
        self._guessed = form is None
        self._is_locatable = True
        self.form = form or _guess(self.text)
        self.starts: list[Spot] = []  # where the documents begin, once they are located
        self.words: list[Word] = []  # that Maestro reads in another way than YAML 1.2 says
        self.documents = self._read()
        escaped = any(escape in self.text for escape in ESCAPES)
        for index, document in enumerate(self.documents):
            if not is_within(document, limits.nesting):
                raise Unreadable(self._too_deep())
            if escaped:
                self._check_characters(document, index)

    def _read(self) -> list[Any]:
        if self.form is Format.YAML:
            return self._yaml(located=False)
        nodes = count_nodes(self.text, min(self._limits.nodes, MOST_LOCATED))
        if nodes > self._limits.nodes:
            raise Unreadable(too_many(self._limits))
        self._is_locatable = nodes <= MOST_LOCATED
        try:
            return [read_json(self.text)]
        except DuplicateKey as error:
            if not self._is_locatable:
                raise Unreadable(_whole(Code.DUPLICATE_KEY, given_twice(error.key))) from None
            reader = LocatedJson(self.text, Findings(self._limits.problems))
            with suppress(Enough):
                reader.read()
            raise Unreadable(*reader.problems) from None
        except BadNumber as error:
            raise Unreadable(_whole(Code.OUT_OF_RANGE, str(error), at=bad_number_at(self.text))) from None
        except RecursionError:
            raise Unreadable(self._too_deep()) from None
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
        from stretto.definition.reading.yaml_text import (  # noqa: PLC0415 - what Python says needs none
            YamlProblem,
            YamlReader,
        )

        reader = YamlReader(self.text, self._limits, located=located)
        try:
            documents = reader.read()
            if any(map(_is_maestros, documents)) and MAY_DIFFER.search(self.text):
                reader = YamlReader(self.text, self._limits, located=located, maestro=True)
                documents = reader.read()
        except YamlProblem as stop:
            raise Unreadable(stop.problem) from None
        self.starts, self.words = reader.starts, reader.words
        self._is_locatable = reader.count <= MOST_LOCATED
        if reader.problems and not located and self._is_locatable:
            return self._yaml(located=True)
        if reader.problems:
            raise Unreadable(*reader.problems)
        return documents

    def located(self) -> list[Any]:
        """The same values, each knowing its spot; those of a large text know none."""
        if not self._is_locatable:
            self.starts = [START] * len(self.documents)
            return self.documents
        if self.form is Format.YAML:
            return self._yaml(located=True)
        self.starts = [_spot_at(self.text, len(self.text) - len(self.text.lstrip()))]
        return [LocatedJson(self.text).read()]

    def _too_deep(self) -> Problem:
        """In YAML only aliases come this far, and they have no depth of their own in the text."""
        nesting = self._limits.nesting
        at = too_deep_at(self.text, nesting) if self.form is Format.JSON else None
        return _whole(Code.TOO_DEEP, f"nested deeper than {nesting} levels", at=at)

    def _check_characters(self, document: Any, index: int) -> None:
        """Databases keep no NUL in texts, and half of a surrogate pair can not be written at all."""
        found = _bad_character(document)
        if found is not None:
            place, char = found
            keys = keys_of(place)
            at = spot_of(self.located()[index], keys, Code.SYNTAX)
            path = render(key for key in keys if not NOT_TEXT.search(str(key)))
            message = f"a text holds the character U+{ord(char):04X}, which can not be stored"
            raise Unreadable(_whole(Code.SYNTAX, message, "remove it", at=at, path=path))


def _decoded(text: str | bytes, limits: Limits) -> str:
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        at = _spot_at(error.object, error.start)
        message = f"the character U+{ord(error.object[error.start]):04X} is only half of a pair"
        raise Unreadable(_whole(Code.SYNTAX, message, "remove it", at=at)) from None
    if len(data) > limits.text_bytes:
        raise Unreadable(too_large(len(data), limits))
    try:
        text = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        at = _spot_at(before, len(before))
        message = f"byte {error.start} is not UTF-8"
        raise Unreadable(_whole(Code.SYNTAX, message, "save the file as UTF-8", at=at)) from None
    text = text.removeprefix("\ufeff")
    nul = text.find("\x00")
    if nul >= 0:
        message = "the text holds the character U+0000"
        hint = "remove it; if the file is UTF-16, save it as UTF-8"
        raise Unreadable(_whole(Code.SYNTAX, message, hint, at=_spot_at(text, nul)))
    return text


def _spot_at(text: str, position: int) -> Spot:
    return Spot(text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


def too_large(size: int, limits: Limits) -> Problem:
    """The problem of a text that is over the limit, for callers that know its size beforehand."""
    message = f"the text has {size:,} bytes, the limit is {limits.text_bytes:,}"
    return _whole(Code.TOO_LARGE, message, "split the workflow, or raise the setting `limits.text`")


def too_many(limits: Limits) -> Problem:
    """The problem of a text with more values than can be kept at once."""
    message = f"the text holds more than {limits.nodes:,} keys, values, lists and objects"
    return _whole(Code.TOO_LARGE, message, "split it, or raise the setting `limits.nodes`")


def _guess(text: str) -> Format:
    return Format.JSON if text.lstrip()[:1] in {"{", "["} else Format.YAML


def _whole(
    code: str, message: str, hint: str | None = None, *, at: Spot | None = None, path: str = ""
) -> Problem:
    """A problem that ends the reading; without a spot it concerns the text as a whole."""
    line, column = at or START
    return Problem(code=code, path=path, message=message, hint=hint, line=line, column=column)


def _json_syntax(error: json.JSONDecodeError) -> Problem:
    message = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    return _whole(Code.SYNTAX, message, at=Spot(error.lineno, error.colno))


def is_within(document: Any, nesting: int) -> bool:
    """Whether no list or object is deeper than allowed: level by level, without a stack to run out of."""
    level = [document] if isinstance(document, CONTAINERS) else []
    for _ in range(nesting + 1):
        if not level:
            return True
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, CONTAINERS)
        ]
    return False


def _bad_character(document: Any) -> tuple[Place, str] | None:
    """The first text, in the order of the document, that holds a character which no text may hold."""
    todo: list[Iterator[tuple[Any, Place]]] = [iter([(document, None)])]
    while todo:
        for node, at in todo[-1]:
            if isinstance(node, str):
                bad = NOT_TEXT.search(node)
                if bad is not None:
                    return at, bad[0]
            elif isinstance(node, CONTAINERS):
                todo.append(_inside(node, at))
                break
        else:
            todo.pop()
    return None


def _inside(node: Any, at: Place) -> Iterator[tuple[Any, Place]]:
    """The keys and values of an object, or the items of a list, each with its place."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key, (at, key)
            yield value, (at, key)
    else:
        for index, value in enumerate(node):
            yield value, (at, index)
