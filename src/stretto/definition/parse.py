"""Text -> definitions, with every problem placed in the text."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from itertools import repeat
from typing import Any, Final, NamedTuple

import msgspec

from stretto.definition.doubts.warn import unread_keys, warn
from stretto.definition.findings import Enough, Findings
from stretto.definition.forms.normalise import normalise
from stretto.definition.limits import Limits
from stretto.definition.reading.located import Spot, Word, spot_of
from stretto.definition.reading.read import Format, Source, Unreadable
from stretto.definition.rules.visits import TemplateVersion
from stretto.definition.validate import DEFAULT_LIMITS, validate
from stretto.model.errors import InvalidDefinition
from stretto.model.problem import Code, Problem, keys_in, keys_of, problem_at, render
from stretto.model.wire import Sink, codec_of
from stretto.model.workflow import Definition

NO_TEMPLATES: Final[Mapping[str, str]] = {}


class Checked(NamedTuple):
    """What a text holds. With problems, the definitions are stand-ins that nothing may be made of; warnings
    forbid nothing.
    """

    definitions: tuple[Definition, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a text is read.

    form:           JSON or YAML; None: look at the text.
    templates:      job template -> step type, for job types in Maestro's YAML that are templates.
    versions:       job templates and their versions that there are; None: nobody here knows.
    rules:          check the rules too, not only the shape.
    first_version:  nothing is stored under this id yet, so there must be an owner.
    warnings:       look for what is allowed and almost surely not meant, too.
    given:          parameters that a start would bring; warnings take them as known.
    """

    form: Format | None = None
    limits: Limits = DEFAULT_LIMITS
    templates: Mapping[str, str] = NO_TEMPLATES
    versions: Container[TemplateVersion] | None = None
    rules: bool = True
    first_version: bool = False
    warnings: bool = False
    given: AbstractSet[str] = frozenset()


DEFAULT_OPTIONS: Final = Options()
EMPTY: Final = Problem(code=Code.EMPTY, path="", message="the text holds no definition", line=1, column=1)


def check(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> Checked:
    """Read and check a text; never raises on what a user wrote."""
    try:
        source = Source(text, options.limits, options.form)
        if all(document is None for document in source.documents):
            return Checked((), (EMPTY,))
        checked = _checked(source.documents, repeat(None), options)
        words = options.warnings and bool(source.words) and not checked.problems
        if checked.problems or checked.warnings or words:
            # Only now are the spots worth their price: read again, with them.
            checked = _checked(source.located(), source.starts, options)
        if words:
            warnings = [*checked.warnings, *map(partial(_word, source), source.words)]
            checked = checked._replace(
                warnings=tuple(_in_order(warnings, options.limits.problems, "warnings"))
            )
    except Unreadable as unreadable:
        return Checked((), unreadable.problems[: options.limits.problems])
    return checked


def _checked(documents: Sequence[Any], starts: Iterable[Spot | None], options: Options) -> Checked:
    """Documents that hold nothing (`---` at the end of a file) are passed over."""
    seen: set[str] = set()
    read = [
        _Document(document, start, options, seen)
        for document, start in zip(documents, starts, strict=False)
        if document is not None
    ]
    definitions = tuple(made for document in read for made in document.definitions)
    if len(read) == 1:
        return Checked(definitions, tuple(read[0].problems), tuple(read[0].warnings))
    problems = [_inside(index, each) for index, document in enumerate(read) for each in document.problems]
    warnings = [_inside(index, each) for index, document in enumerate(read) for each in document.warnings]
    return Checked(definitions, tuple(problems), tuple(warnings))


def placed(text: str | bytes, options: Options, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Problems of the one definition of a text, which could be read: each with its place."""
    source = Source(text, options.limits, options.form)
    documents = zip(source.located(), source.starts, strict=False)
    document, start = next(each for each in documents if each[0] is not None)
    (raw,) = normalise(document, options.templates, Findings(1), options.limits.step_types)
    return tuple(_placed(problems, raw, start))


def load(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> tuple[Definition, ...]:
    """Every definition of a text, all of them valid; else InvalidDefinition with every problem."""
    definitions, problems, _ = check(text, options)
    if problems:
        del definitions  # the error would keep all that was read
        raise InvalidDefinition(problems)
    return definitions


def parse_all(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> tuple[Definition, ...]:
    """Every definition of a text, in shape but not checked by the rules."""
    return load(text, msgspec.structs.replace(options, rules=False))


def parse(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> Definition:
    """The one definition of a text, in shape but not checked by the rules."""
    definitions = parse_all(text, options)
    if len(definitions) != 1:
        message = f"expected one definition, found {len(definitions)}"
        raise InvalidDefinition([Problem(code=Code.TOO_MANY, path="", message=message, hint="use parse_all")])
    return definitions[0]


class _Document:
    """One document of a text: its definitions and what is wrong with them."""

    def __init__(self, document: Any, start: Spot | None, options: Options, seen: set[str]) -> None:
        self.definitions: list[Definition] = []
        self._options = options
        self._unclear = False
        self._seen = seen  # ids of the definitions before, in this document and the others
        limit = options.limits.problems
        found, odd = Findings(limit), Findings(limit)
        raws: list[dict[str, Any]] = []
        with suppress(Enough):
            raws = normalise(document, options.templates, found, options.limits.step_types, odd)
        problems, warnings = _placed(found, document, start), list[Problem]()
        for index, raw in enumerate(raws):
            several = len(raws) > 1
            wrong = _placed(self._read(raw), raw, start)
            problems += [_inside(index, each) for each in wrong] if several else wrong
            if options.warnings and not found and not self._unclear:
                doubts = _placed(self._doubts(), raw, start)
                warnings += [_inside(index, each) for each in doubts] if several else doubts
                warnings += _placed(unread_keys(odd, self.definitions[-1]), document, start)
        self.problems = _in_order(problems, limit, "problems")
        self.warnings = _in_order(warnings, limit, "warnings")

    def _read(self, raw: dict[str, Any]) -> list[Problem]:
        """Decode one definition and check the rules; all problems but those that only echo another."""
        options = self._options
        problems = Findings(options.limits.problems)
        self._unclear = True
        try:
            definition: Definition = codec_of(Definition).decode(raw, None, problems)
            self._check_id(definition.workflow.id, problems)
        except Enough:
            return problems
        self.definitions.append(definition)
        self._unclear = bool(problems)
        if not options.rules:
            return problems
        broken = {path for problem in problems for path in _unread(problem)}
        more = validate(
            definition,
            options.limits,
            templates=options.templates.keys(),
            versions=options.versions,
            first_version=options.first_version,
        )
        return [*problems, *(problem for problem in more if not _is_echo(problem.path, broken))]

    def _doubts(self) -> list[Problem]:
        """About a definition that could be read. Where something is wrong, what is meant is not known."""
        options = self._options
        names, versions = options.templates.keys(), options.versions
        return warn(self.definitions[-1], options.limits, names, options.given, versions)

    def _check_id(self, workflow_id: str, sink: Sink) -> None:
        """Two definitions of one id: which of them would be meant?"""
        if workflow_id and workflow_id in self._seen:
            message = f"the workflow id `{workflow_id}` is used twice"
            sink.append(problem_at(((None, "workflow"), "id"), Code.DUPLICATE_ID, message))
        self._seen.add(workflow_id)


def _word(source: Source, word: Word) -> Problem:
    """A warning about an unquoted word that Maestro does not take for a text, or not for this number."""
    value = str(word.value).lower() if isinstance(word.value, bool) else str(word.value)
    problem = Problem(
        code=Code.YAML_WORD,
        path=render(keys_of(word.at)),
        message=f"without quotes `{word.text}` is read as `{value}`, as Maestro does",
        hint=f'write "{word.text}" for the text, or {value}',
        line=word.spot.line,
        column=word.spot.column,
    )
    return problem if len(source.documents) == 1 else _inside(word.document, problem)


def _in_order(found: list[Problem], limit: int, what: str) -> list[Problem]:
    """As they stand in the text, and not more than anybody reads."""
    found.sort(key=lambda each: (each.line or 0, each.column or 0))
    if len(found) > limit:
        more = f"there are more than {limit:,} {what}, the others are not shown"
        found[limit:] = [Problem(code=Code.TOO_MANY, path="", message=more)]
    return found


def _inside(index: int, problem: Problem) -> Problem:
    """A problem of one document or definition among several."""
    dot = "." if problem.path[:1] not in {"", "["} else ""
    return msgspec.structs.replace(problem, path=f"[{index}]{dot}{problem.path}")


def _unread(problem: Problem) -> Iterator[str]:
    """What is only a stand-in because of a problem: the place itself, and what it says the kind of."""
    yield problem.path
    *around, key = keys_in(problem.path) or [""]
    names_a_kind = key == "type" and around[-1:] != ["step"]
    names_a_step = problem.code == Code.UNKNOWN_VALUE and around and isinstance(around[-1], int)
    if names_a_kind or names_a_step:
        yield render(around)


def _is_echo(path: str, broken: AbstractSet[str]) -> bool:
    """Whether a place could not be read in the first place: what a rule says of it is only an echo."""
    return bool(broken) and (
        path in broken or any(char in ".[" and path[:end] in broken for end, char in enumerate(path))
    )


def _placed(problems: Sequence[Problem], root: Any, start: Spot | None) -> list[Problem]:
    """Each problem with the line and column of its path; a plain value has none and changes nothing."""
    placed = []
    for problem in problems:
        spot = spot_of(root, keys_in(problem.path), problem.code) or start
        if spot is not None and problem.line is None:
            problem = msgspec.structs.replace(problem, line=spot.line, column=spot.column)  # noqa: PLW2901
        placed.append(problem)
    return placed
