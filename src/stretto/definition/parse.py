"""Text -> definitions, with every problem placed in the text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from stretto.definition.forms.normalise import normalise
from stretto.definition.limits import Limits
from stretto.definition.reading.located import points_at_key, spot_of
from stretto.definition.reading.read import Format, Source, Unreadable
from stretto.definition.validate import DEFAULT_LIMITS, validate
from stretto.model.errors import InvalidDefinition
from stretto.model.problem import Code, Problem, keys_in
from stretto.model.wire import decode
from stretto.model.workflow import Definition

NO_TEMPLATES: Final[Mapping[str, str]] = {}


class Checked(NamedTuple):
    """What a text holds. With problems, the definitions are stand-ins that nothing may be made of."""

    definitions: tuple[Definition, ...]
    problems: tuple[Problem, ...]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a text is read.

    form:           JSON or YAML; None: look at the text.
    templates:      job template -> step type, for job types in Maestro's YAML that are templates.
    rules:          check the rules too, not only the shape.
    first_version:  nothing is stored under this id yet, so there must be an owner.
    """

    form: Format | None = None
    limits: Limits = DEFAULT_LIMITS
    templates: Mapping[str, str] = NO_TEMPLATES
    rules: bool = True
    first_version: bool = False


DEFAULT_OPTIONS: Final = Options()


def check(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> Checked:
    """Read and check a text; never raises on what a user wrote."""
    try:
        source = Source(text, options.limits, options.form)
        checked = [_Document(document, options) for document in source.documents]
        if any(document.problems for document in checked):
            # Only now are the spots worth their price: read again, with them.
            checked = [_Document(document, options) for document in source.located()]
    except Unreadable as unreadable:
        return Checked((), unreadable.problems)
    if not source.documents or source.documents == [None]:
        empty = Problem(code=Code.EMPTY, path="", message="the text holds no definition", line=1, column=1)
        return Checked((), (empty,))
    definitions = tuple(made for document in checked for made in document.definitions)
    several = len(checked) > 1
    problems = tuple(
        msgspec.structs.replace(problem, path=f"[{index}].{problem.path}") if several else problem
        for index, document in enumerate(checked)
        for problem in document.problems
    )
    return Checked(definitions, problems)


def load(text: str | bytes, options: Options = DEFAULT_OPTIONS) -> tuple[Definition, ...]:
    """Every definition of a text, all of them valid; else InvalidDefinition with every problem."""
    definitions, problems = check(text, options)
    if problems:
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

    def __init__(self, document: Any, options: Options) -> None:
        self.definitions: list[Definition] = []
        found: list[Problem] = []
        raws = normalise(document, options.templates, found)
        self.problems = _placed(found, document)
        for index, raw in enumerate(raws):
            definition, problems = decode(Definition, raw)
            self.definitions.append(definition)
            if options.rules:
                broken = [problem.path for problem in problems]
                more = validate(
                    definition,
                    options.limits,
                    templates=options.templates.keys(),
                    first_version=options.first_version,
                )
                problems += [problem for problem in more if not _under(problem.path, broken)]
            placed = _placed(problems, raw)
            if len(raws) > 1:
                placed = [msgspec.structs.replace(each, path=f"[{index}].{each.path}") for each in placed]
            self.problems += placed


def _under(path: str, broken: Sequence[str]) -> bool:
    """Whether a place could not be read in the first place: what a rule says of it is only an echo."""
    return any(
        path == place or (place and path.startswith(place) and path[len(place)] in ".[") for place in broken
    )


def _placed(problems: Sequence[Problem], root: Any) -> list[Problem]:
    """Each problem with the line and column of its path; a plain value has none and changes nothing."""
    placed = []
    for problem in problems:
        spot = spot_of(root, keys_in(problem.path), of_key=points_at_key(problem))
        if spot is not None and problem.line is None:
            problem = msgspec.structs.replace(problem, line=spot.line, column=spot.column)  # noqa: PLW2901
        placed.append(problem)
    return sorted(placed, key=lambda each: (each.line or 0, each.column or 0))
