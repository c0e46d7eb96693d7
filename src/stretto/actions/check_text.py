"""Check the text of a definition, and show what would come of it; nothing is stored."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.job_templates import list_job_templates
from stretto.actions.parts.access import check_role
from stretto.actions.parts.definition_trial import RUN_PARAMS, DefinitionTrial, try_definition
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.offload import CHARACTERS, offload
from stretto.actions.parts.templates_in import templates_of
from stretto.actions.publish import DEFAULT_LIMITS
from stretto.actions.reading.graph_view import GraphView, graph_of
from stretto.definition import Checked, Limits, check
from stretto.definition.parse import Options, placed
from stretto.definition.reading.located import Spot
from stretto.definition.reading.read import Format
from stretto.definition.reading.spans import end_of, lines_of
from stretto.definition.rules.visits import TemplateVersion
from stretto.model.param import Parameter, Params
from stretto.model.problem import Code, Problem
from stretto.model.words import Word
from stretto.model.workflow import Definition
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS as DEFAULT_PARAM_LIMITS
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow

SEVERAL: Final = "expected one definition, found {}"


class Severity(Word):
    """Whether a text with such a problem can be published."""

    ERROR = "ERROR"
    WARNING = "WARNING"  # it can; but it is almost surely not meant so


class CheckRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A text as an author has it before him, and what a run of it would be started with."""

    text: str
    format: Format | None = None  # None: look at the text
    run_params: Params | None = None


class Finding(Problem, frozen=True, kw_only=True):
    """A problem from its first character to behind its last; none of them, if it is not in the text."""

    end_line: int | None = None
    end_column: int | None = None
    severity: Severity = Severity.ERROR


class TextCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a text comes to. The definition and its parameters are there if nothing is wrong with it, the
    graph also if something is, as far as it could be read.

    valid           Whether it can be published: there is no problem, or warnings only.
    params          Those of the workflow, evaluated.
    step_params     Those of its top-level steps, merged: what a step reads is known when it runs.
    """

    valid: bool
    problems: tuple[Finding, ...] = ()
    definition: Definition | None = None
    graph: GraphView | None = None
    params: Mapping[str, Parameter] | None = None
    step_params: Mapping[str, Params] | None = None


async def check_text(
    store: Store,
    caller: Caller,
    request: CheckRequest,
    *,
    limits: Limits = DEFAULT_LIMITS,
    params: ParamLimits = DEFAULT_PARAM_LIMITS,
    evaluate: Evaluator = evaluate_here,
) -> TextCheck:
    """Everything that a push and a start would check, with all problems at once."""
    check_role(caller, Role.AUTHOR, "check definitions")
    options = await _options(store, caller, request, limits)
    size = len(request.text) // CHARACTERS
    checked = _one(await offload(size, check, request.text, options))
    problems, tried = checked.problems, DefinitionTrial()
    definition = checked.definitions[0] if len(checked.definitions) == 1 else None
    if definition is not None and not problems:
        tried = await try_definition(
            store, caller, definition, request.run_params or {}, (limits, params, evaluate)
        )
        problems = await offload(size, _placed, request.text, options, tried.problems)
    return TextCheck(
        valid=not problems,
        problems=tuple(_in_order(request.text, problems, checked.warnings)),
        definition=None if problems else definition,
        graph=None if definition is None else await offload(size, graph_of, definition),
        params=None if problems else tried.params,
        step_params=None if problems else tried.step_params,
    )


async def _options(store: Store, caller: Caller, request: CheckRequest, limits: Limits) -> Options:
    """How the text is read: with the templates that it names, and whether it is the first of its id."""
    known = await list_job_templates(store, caller)
    templates = {each.definition.job_type: each.definition.step_type for each in known}
    options = Options(form=request.format, limits=limits, templates=templates, rules=False)
    given = frozenset(request.run_params or {})
    first, versions = False, frozenset[TemplateVersion]()
    read = await offload(len(request.text) // CHARACTERS, check, request.text, options)
    for definition in read.definitions[:1]:
        versions = await templates_of(store, definition.workflow)
        first = await read_workflow(store, definition.workflow.id) is None
    return msgspec.structs.replace(
        options, versions=versions, rules=True, first_version=first, warnings=True, given=given
    )


def _one(checked: Checked) -> Checked:
    """A version is made of one definition."""
    count = len(checked.definitions)
    if checked.problems or count == 1:
        return checked
    several = Problem(code=Code.TOO_MANY, path="", message=SEVERAL.format(count), line=1, column=1)
    return checked._replace(problems=(several,), warnings=())


def _placed(text: str, options: Options, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    inside = [each for each in problems if not each.path.startswith(RUN_PARAMS)]
    return placed(text, options, inside) if inside else problems


def _in_order(text: str, problems: Sequence[Problem], warnings: Sequence[Problem]) -> list[Finding]:
    """As they stand in the text; of two at one place what forbids comes first."""
    lines = lines_of(text) if problems or warnings else []
    wrong = tuple(each.path for each in problems if each.path)
    unknown = Code.UNKNOWN_PARAM  # an evaluation that failed for it says so already
    warnings = [each for each in warnings if each.code != unknown or not each.path.startswith(wrong)]
    found = [*_findings(lines, problems, Severity.ERROR), *_findings(lines, warnings, Severity.WARNING)]
    return sorted(found, key=lambda each: (each.line or 0, each.column or 0))


def _findings(lines: list[str], problems: Sequence[Problem], severity: Severity) -> Iterator[Finding]:
    for problem in problems:
        fields = msgspec.structs.asdict(problem) | {"severity": severity}
        if problem.line is not None and problem.column is not None:
            end = end_of(lines, Spot(problem.line, problem.column))
            fields |= {"end_line": end.line, "end_column": end.column}
        yield Finding(**fields)
