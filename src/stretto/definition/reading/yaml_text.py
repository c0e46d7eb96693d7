"""YAML text -> JSON values, one per document, from libyaml's events: bounded while it reads."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml

from stretto.definition.findings import Enough, Findings
from stretto.definition.limits import Limits
from stretto.definition.reading.json_text import duplicate_key, given_twice
from stretto.definition.reading.located import LocatedDict, LocatedList, Spot, Word
from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.yaml_scalars import maestro_value, plain_value, tagged_value
from stretto.model.problem import Code, Place, Problem

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where the platform has it
MERGE: Final = "<<"
NO_TAG: Final = frozenset({None, "!"})
CORE: Final = "tag:yaml.org,2002:"


class YamlProblem(Exception):
    """Reading stops at the first thing that makes the rest meaningless."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Frame:
    """A list or an object that is being read."""

    __slots__ = ("anchor", "at", "first", "key", "key_at", "merges", "merging", "value")

    def __init__(self, value: Any, at: Place, anchor: str | None, first: int) -> None:
        self.value = value
        self.at = at
        self.anchor = anchor
        self.first = first  # how many values had been read before it
        self.key: str | None = None
        self.key_at: Any = None
        self.merging = False  # the key at hand is an unquoted `<<`
        self.merges: list[tuple[Any, Any]] = []


class YamlReader:
    """Reads one text. With `located` the values know their spots, and duplicate keys are collected."""

    def __init__(self, text: str, limits: Limits, *, located: bool, maestro: bool = False) -> None:
        self._text = text
        self._maestro = maestro
        self._limits = limits
        self._located = located
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0  # of nodes so far
        self._expanded = 0
        self._documents: list[Any] = []
        self.starts: list[Spot] = []  # of the documents, if located
        self.problems: list[Problem] = Findings(limits.problems)
        self.words: list[Word] = []  # that Maestro reads in another way than YAML 1.2 says

    def read(self) -> list[Any]:
        """Every document of the text. Raises YamlProblem."""
        handlers = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        try:
            for event in self._events():
                handler = handlers.get(type(event))
                if handler is not None:
                    handler(event)
                if self.count > self._limits.nodes:
                    raise self._too_many(event)
        except Enough:  # of duplicate keys: what else there is does not matter
            pass
        except yaml.MarkedYAMLError as error:
            raise YamlProblem(_syntax(error)) from None
        except yaml.reader.ReaderError as error:
            raise YamlProblem(self._unreadable(error)) from None
        return self._documents

    def _events(self) -> Iterator[Any]:
        events: Iterator[Any] = yaml.parse(self._text, Loader=LOADER)
        return events

    def _document(self, _event: Any) -> None:
        self._anchors.clear()

    def _scalar(self, event: Any) -> None:
        frame = self._stack[-1] if self._stack else None
        self.count += 1
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            self._key(frame, event)
            return
        text = event.value
        try:
            if event.tag not in NO_TAG:
                value = tagged_value(event.tag, text)
            elif event.style or event.tag:
                value = text
            elif self._maestro:
                value = maestro_value(text)
            else:
                value = plain_value(text)
        except ValueError as error:
            code = Code.OUT_OF_RANGE if isinstance(error, BadNumber) else Code.SYNTAX
            raise self._stop(event, code, str(error)) from None
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        at, document = self._put(value, event), len(self._documents) - 1
        if self._maestro and not (event.style or event.tag) and _differs(text, value):
            self.words.append(Word(document, at, text, value, _spot(event)))

    def _key(self, frame: _Frame, event: Any) -> None:
        """Keys are texts, whatever they look like: `1: x` is the key "1"."""
        self._check_tag(event, "str")
        if event.anchor:
            self._anchors[event.anchor] = (event.value, 1)
        frame.key = event.value
        frame.key_at = event
        frame.merging = event.value == MERGE and not event.style and event.tag is None

    def _open(self, event: Any) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            raise self._stop(event, Code.SYNTAX, "a key must be text, not a list or an object")
        if len(self._stack) >= self._limits.nesting:
            message = f"nested deeper than {self._limits.nesting} levels"
            raise self._stop(event, Code.TOO_DEEP, message)
        mapping = type(event) is yaml.MappingStartEvent
        self._check_tag(event, "map" if mapping else "seq")
        value: Any
        if self._located:
            value = LocatedDict(_spot(event)) if mapping else LocatedList(_spot(event))
        else:
            value = {} if mapping else []
        at = self._put(value, event)
        self._stack.append(_Frame(value, at, event.anchor, self.count))
        self.count += 1

    def _close(self, _event: Any) -> None:
        frame = self._stack.pop()
        for value, event in frame.merges:
            self._merge(frame.value, value, event)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, self.count - frame.first)

    def _alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            message = f"the alias `*{event.anchor}` stands for nothing that ends before it"
            raise self._stop(event, Code.SYNTAX, message)
        value, size = known
        self.count += size
        self._expanded += size
        if self._expanded > self._limits.alias_nodes:
            message = f"aliases stand for more than {self._limits.alias_nodes:,} values"
            raise self._stop(event, Code.TOO_MANY_ALIASES, message)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            if not isinstance(value, str):
                raise self._stop(event, Code.SYNTAX, "a key must be text, not a list or an object")
            frame.key, frame.key_at, frame.merging = value, event, False
            return
        self._put(value, event)

    def _put(self, value: Any, event: Any) -> Place:
        """Into the list or object at hand; the place where it went (only if located: it costs a bit)."""
        if not self._stack:
            self._documents.append(value)
            if self._located:
                self.starts.append(_spot(event))
            return None
        frame = self._stack[-1]
        name: str | int
        if isinstance(frame.value, dict):
            name, frame.key = str(frame.key), None
            if frame.merging:
                frame.merging = False
                frame.merges.append((value, event))
                return frame.at
            if name in frame.value:
                self._duplicate(frame, name)
            self._set(frame.value, name, value, frame.key_at, event)
        else:
            name = len(frame.value)
            if self._located:
                frame.value.put(value, _spot(event))
            else:
                frame.value.append(value)
        return (frame.at, name) if self._located else None

    def _set(self, target: Any, key: str, value: Any, key_at: Any, value_at: Any) -> None:
        if self._located:
            target.put(key, value, _spot(key_at), _spot(value_at))
        else:
            target[key] = value

    def _merge(self, target: Any, value: Any, event: Any) -> None:
        """`<<: *base` or `<<: [*a, *b]`: adds the keys that are not there yet."""
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                raise self._stop(event, Code.SYNTAX, "`<<` merges objects only")
            for key, item in part.items():
                if key not in target:
                    self._set(target, key, item, event, event)

    def _duplicate(self, frame: _Frame, key: str) -> None:
        """The quick pass knows no path; the located one, which follows unless the text is large, does."""
        if self._located:
            problem = duplicate_key((frame.at, key), frame.value, _spot(frame.key_at))
        else:
            problem = self._stop(frame.key_at, Code.DUPLICATE_KEY, given_twice(key)).problem
        self.problems.append(problem)

    def _check_tag(self, event: Any, kind: str) -> None:
        if event.tag not in NO_TAG and event.tag != CORE + kind:
            raise self._stop(event, Code.SYNTAX, f"the tag `{event.tag}` has no meaning here")

    def _stop(self, event: Any, code: str, message: str) -> YamlProblem:
        spot = _spot(event)
        return YamlProblem(Problem(code=code, path="", message=message, line=spot.line, column=spot.column))

    def _too_many(self, event: Any) -> YamlProblem:
        message = f"the text holds more than {self._limits.nodes:,} keys, values, lists and objects"
        problem = self._stop(event, Code.TOO_LARGE, message).problem
        hint = "split it, or raise the setting `limits.nodes`"
        return YamlProblem(msgspec.structs.replace(problem, hint=hint))

    def _unreadable(self, error: yaml.reader.ReaderError) -> Problem:
        """The C library gives the character as a number and its place in bytes, PyYAML gives texts."""
        found = error.character
        char = chr(found) if isinstance(found, int) else str(found)
        before = self._text.partition(char)[0]
        return Problem(
            code=Code.SYNTAX,
            path="",
            message=f"the character U+{ord(char):04X} may not stand in YAML",
            line=before.count("\n") + 1,
            column=len(before) - before.rfind("\n"),
        )


def _differs(text: str, value: Any) -> bool:
    plain = plain_value(text)  # it was read so before, to find out whose YAML it is
    return type(plain) is not type(value) or plain != value


def _spot(event: Any) -> Spot:
    mark = event.start_mark
    return Spot(mark.line + 1, mark.column + 1)


def _syntax(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = ", ".join(part for part in (error.context, error.problem) if part)
    return Problem(
        code=Code.SYNTAX,
        path="",
        message=f"this is not YAML: {message}",
        line=mark.line + 1 if mark else 1,
        column=mark.column + 1 if mark else 1,
    )
