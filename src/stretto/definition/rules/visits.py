"""Every step of a workflow with its place, walked once for all rules."""

from collections.abc import Collection, Container, Iterator, Sequence
from typing import Any, NamedTuple

from stretto.definition.findings import Findings
from stretto.definition.limits import Limits
from stretto.model.job_template import DEFAULT_VERSION, VERSION_PARAM
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.problem import Place, Problem, problem_at
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.workflow import Definition, Workflow

WORKFLOW: Place = (None, "workflow")
PROPERTIES: Place = (None, "properties")


TemplateVersion = tuple[str, str]  # the type and the version of a job template


class Visit(NamedTuple):
    """A step, where it stands, and the loops around it from the outermost in."""

    step: AnyStep
    at: Place
    loops: tuple[ForeachStep | WhileStep, ...]


class Level(NamedTuple):
    """The steps that form one graph: those of the workflow, of one loop, or one that undoes another."""

    steps: Sequence[AnyStep]
    visits: list[Visit]


class Scene:
    """What the rules look at, and where they report.

    templates   Names of job templates that are known.
    versions    Job types and versions that there are; None: nobody here knows which a template has.
    """

    def __init__(
        self,
        definition: Definition,
        limits: Limits,
        templates: Collection[str] = (),
        versions: Container[TemplateVersion] | None = None,
    ) -> None:
        self.definition = definition
        self.templates = {name.casefold() for name in templates}
        self.versions = versions
        self.workflow = definition.workflow
        self.limits = limits
        self.problems: list[Problem] = Findings(limits.problems)
        self.ids: set[str] = set()  # of all steps, filled while they are checked
        self.fine_names: set[str] = set()  # checked already; parameters of many steps have the same names
        self.levels = list(_levels(definition.workflow.steps, (WORKFLOW, "steps"), ()))
        self.visits = [visit for level in self.levels for visit in level.visits]
        self.params = list(params_in(definition.workflow.params, (WORKFLOW, "params")))
        for visit in self.visits:
            if visit.step.params:
                self.params += params_in(visit.step.params, (visit.at, "params"))

    def knows_template(self, step: TypedStep) -> bool:
        """Whether the job template that a step names is there, in the version that it names."""
        name = step.sub_type or ""
        if self.versions is None:
            return name.casefold() in self.templates
        version = template_version(step, self.workflow)
        return version is None or (name, version) in self.versions

    def report(self, at: Place, code: str, message: str, hint: str | None = None) -> None:
        self.problems.append(problem_at(at, code, message, hint))


def template_version(step: TypedStep, workflow: Workflow) -> str | None:
    """The version of its job template that a step names, or its workflow for all steps; None: a value that is
    only known when it runs.
    """
    chosen = (workflow.params or {}).get(VERSION_PARAM)
    if step.sub_type_version is not None or chosen is None:
        return step.sub_type_version or DEFAULT_VERSION
    return chosen.value if isinstance(chosen.value, str) else None


def _levels(
    steps: Sequence[AnyStep], at: Place, loops: tuple[ForeachStep | WhileStep, ...]
) -> Iterator[Level]:
    yield from _level(steps, [(at, index) for index in range(len(steps))], loops)


def _level(
    steps: Sequence[AnyStep], places: Sequence[Place], loops: tuple[ForeachStep | WhileStep, ...]
) -> Iterator[Level]:
    """One level and those inside it. A step that undoes another stands alone: it has no edges."""
    visits = [Visit(step, (at, _kind(step)), loops) for step, at in zip(steps, places, strict=True)]
    yield Level(steps, visits)
    for visit in visits:
        step = visit.step
        if isinstance(step, ForeachStep | WhileStep):
            yield from _levels(step.steps, (visit.at, "steps"), (*loops, step))
        elif isinstance(step, TypedStep) and step.compensation is not None:
            yield from _level([step.compensation], [(visit.at, "compensation")], loops)


def _kind(step: AnyStep) -> str:
    return str(type(step).__struct_config__.tag)


def loop_params(step: ForeachStep | WhileStep) -> ParamDefinition | None:
    """The param `loop_params` if it is there as a literal map."""
    param = (step.params or {}).get("loop_params")
    if param is None or param.type is not ParamType.MAP or not isinstance(param.value, dict):
        return None
    return param


class Named(NamedTuple):
    """A parameter with its name and place, inside maps too."""

    name: str
    param: ParamDefinition
    at: Place


def params_in(params: Params | None, at: Place) -> Iterator[Named]:
    """All parameters of a map and, after each map parameter, those inside it."""
    for name, param in (params or {}).items():
        place: Place = (at, name)
        yield Named(name, param, place)
        if param.type is ParamType.MAP and isinstance(param.value, dict):
            yield from params_in(_members(param.value), (place, "value"))


def _members(value: dict[str, Any]) -> Params:
    return value
