"""A set of parameters before evaluation, looked at once for all runs that use it.

Most parameters of a definition need no evaluation: a default that nobody changed is a fact, and a literal
without variables is its own result. Both get their record when somebody asks for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource, ParamType
from stretto.params.defaults import WORKFLOW_DEFAULTS
from stretto.params.defaults.native import BY_NAME, STEP_BY_NAME, NativeDefault
from stretto.params.errors import ParamError
from stretto.params.literals import bare_value, definition_of, literal_of
from stretto.params.merge import Layer, effective_mode, merge, settle
from stretto.params.modes import EVALUATED_AGAIN, Stage
from stretto.params.references import Reference, references_of, split_reference
from stretto.params.requests import RESERVED_NAMES, SEPARATOR, rough_size
from stretto.params.values import beyond_maestro, is_evaluated

P = ParamType
Definitions = Mapping[str, ParamDefinition]

NATIVE_SIZE: Final = 600  # bytes of JSON that a native default has at most
NUMERIC: Final = frozenset({P.LONG, P.DOUBLE, P.LONG_ARRAY, P.MAP})  # what may be beyond Maestro
TIME_SIZE: Final = 16  # of the time that a literal gets with its evaluation


class Open(NamedTuple):
    """A parameter that must be evaluated. None as references: they can not be read, as whoever evaluates it
    will find.
    """

    name: str
    param: ParamDefinition
    references: tuple[Reference, ...] | None = None


class Prepared:
    """Definitions by name, in the order of the merge, and what each of them needs."""

    __slots__ = ("beyond", "definitions", "given", "literals", "native", "open", "size")

    def __init__(self, definitions: Definitions, rows: Mapping[str, NativeDefault]) -> None:
        self.definitions = definitions
        self.native = _untouched(definitions, rows)
        self.given: dict[str, Parameter] = {}  # those that come with their result
        self.literals: dict[str, Parameter] = {}  # with their result, but without a time
        self.open: list[Open] = []  # those that must be evaluated
        for name, param in definitions.items():
            if name in self.native:
                continue
            if isinstance(param, Parameter) and is_evaluated(param):
                self.given[name] = msgspec.structs.replace(param, value=bare_value(param))
            elif _is_plain(param):
                self.literals[name] = _literal(param)
            else:
                self.open.append(_opened(name, param))
        self.beyond = _beyond_maestro({**self.given, **self.literals})
        if self.open and self.literals:
            self._keep_order()
        self.size = (
            rough_size(self.literals) + TIME_SIZE * len(self.literals) + NATIVE_SIZE * len(self.native)
        )

    def _keep_order(self) -> None:
        """What a step's parameter calls `day` is the step's own if that was evaluated before, else the run's:
        a literal has its turn, too, if a parameter that may come before it names it.
        """
        named = _names(self.open)
        places = {name: place for place, name in enumerate(self.definitions)}
        first = places[self.open[0].name]
        late = [name for name in self.literals if places[name] > first and (named is None or name in named)]
        if late:
            self.open += [Open(name, self.definitions[name], ()) for name in late]
            self.open.sort(key=lambda each: places[each.name])
            for name in late:
                del self.literals[name]

    @classmethod
    def of_run(cls, definitions: Definitions) -> "Prepared":
        return cls(definitions, BY_NAME)

    @classmethod
    def of_step(cls, definitions: Definitions) -> "Prepared":
        return cls(definitions, STEP_BY_NAME)


def _untouched(definitions: Definitions, rows: Mapping[str, NativeDefault]) -> dict[str, NativeDefault]:
    """The defaults that nobody changed and that have no result yet."""
    return {
        name: row
        for name, row in rows.items()
        if type(found := definitions.get(name)) is ParamDefinition
        and found.expression == row.expression
        and found.validator is None
    }


def _is_plain(param: ParamDefinition) -> bool:
    """Whether a literal is its own result: there is no variable in it, and no rule for it."""
    if param.expression is not None or param.validator is not None or param.value is None:
        return False
    return param.type is not P.MAP and not any("$" in text for text in _texts(param.type, param.value))


def _beyond_maestro(params: Mapping[str, Parameter]) -> tuple[str, str] | None:
    """The first parameter with a value that Maestro's have not, and why they have not."""
    for name, param in params.items():
        if param.type in NUMERIC and (why := beyond_maestro(param.evaluated_result)) is not None:
            return name, why
    return None


def _texts(kind: ParamType, value: Any) -> Iterable[str]:
    if kind is P.STRING:
        return (value,)
    if kind is P.STRING_ARRAY:
        return value  # type: ignore[no-any-return]
    return (*value, *value.values()) if kind is P.STRING_MAP else ()


def _opened(name: str, param: ParamDefinition) -> Open:
    try:
        return Open(name, param, references_of(name, param))
    except ParamError:
        return Open(name, param)


def _names(params: Iterable[Open]) -> set[str] | None:
    """What parameters refer to, also as `step__param`; None if one of them can not be read."""
    found: set[str] = set()
    for each in params:
        if each.references is None:
            return None
        for reference in each.references:
            found.add(reference.name)
            if SEPARATOR in reference.name:
                found.update(reading.param for reading in split_reference(reference.name, SEPARATOR))
    return found


def _literal(param: ParamDefinition) -> Parameter:
    return Parameter(
        type=param.type,
        value=param.value,
        tags=param.tags,
        mode=param.mode,
        source=param.source,
        meta=param.meta,
        evaluated_result=param.value,
    )


S = ParamSource

NOTHING: Final[Params] = {}
DEFINED: Final = Stage(S.DEFINITION)
DEFAULT: Final = Stage(S.SYSTEM_DEFAULT)
TEMPLATE: Final = Stage(S.TEMPLATE_SCHEMA)
INJECTED: Final = Stage(S.SYSTEM_INJECTED)
FROM_WORKFLOW: Final = Stage(S.WORKFLOW_PARAMETER)
RESTARTED: Final = Stage(S.RESTART, restart=True)


def workflow_params(
    definition: Layer, run: Layer = NOTHING, source: ParamSource = S.LAUNCH, *, defaults: Layer | None = None
) -> Params:
    """The parameters of a fresh run, not evaluated. `source` says who started it.

    `defaults` replaces the standard ones; it must be the result of a merge, as `WORKFLOW_DEFAULTS` is.
    """
    merged = declared_workflow_params(definition, defaults)
    if run:
        merged = merge(merged, _as_literals(run), Stage.of_run(source))
    return settle(merged)


def declared_workflow_params(definition: Layer, defaults: Layer | None = None) -> Params:
    """What a definition and the defaults say about parameters: with the system's marks, and with optional
    parameters that have no value.
    """
    return merge(WORKFLOW_DEFAULTS if defaults is None else defaults, definition, DEFINED)


def restarted_params(
    previous: Mapping[str, Parameter],
    run: Layer = NOTHING,
    source: ParamSource = S.RESTART,
    *,
    restart: Layer = NOTHING,
    derived: Layer = NOTHING,
) -> Params:
    """The parameters of the next run of an instance. What nobody changes keeps its result.

    `restart` are the parameters of the restart request; only the end of the restart path gets them. `derived`
    are those that follow what is changed, as they were written.
    """
    return _changed({**previous_params(previous), **derived}, run, source, restart)


def retried_params(
    definition: Layer,
    started: Layer,
    run: Layer = NOTHING,
    source: ParamSource = S.RESTART,
    *,
    restart: Layer = NOTHING,
) -> Params:
    """The same where the run before could not evaluate its parameters, and so has none that could be kept:
    what it was `started` with, as in a fresh run, and what the restart changes.
    """
    return _changed(workflow_params(definition, started), run, source, restart)


def _changed(before: Layer, run: Layer, source: ParamSource, restart: Layer) -> Params:
    merged = merge(before, _as_literals(run), Stage.of_run(source, restart=True))
    merged = merge(merged, restart, RESTARTED)
    return settle(merged)


def previous_params(previous: Mapping[str, Parameter]) -> Params:
    """A run's parameters as the ground for the next: results kept, IMMUTABLE ones to be evaluated again."""
    return {
        name: definition_of(param) if effective_mode(param) in EVALUATED_AGAIN else literal_of(param)
        for name, param in previous.items()
        if name not in RESERVED_NAMES
    }


def as_definition(param: Parameter) -> ParamDefinition:
    """A parameter of a run as the runs after it and below it are given it: its result as a literal, unless
    its mode says that it is evaluated again.
    """
    evaluated_again = effective_mode(param) in EVALUATED_AGAIN
    return definition_of(param if evaluated_again else literal_of(param))


def inherited(param: Parameter, source: ParamSource) -> Parameter:
    """A parameter that a run has from the step that started it, with its result."""
    merged = merge({}, {"": as_definition(param)}, Stage.of_run(source))[""]
    fields = {name: getattr(merged, name) for name in ParamDefinition.__struct_fields__}
    return Parameter(**fields, evaluated_result=param.evaluated_result, evaluated_time=param.evaluated_time)


def _as_literals(run: Layer) -> Params:
    """What a parent hands down is its result, however it was made."""
    return {
        name: literal_of(param) if isinstance(param, Parameter) and is_evaluated(param) else param
        for name, param in run.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLayers:
    """Everything that has a say in the parameters of a step attempt."""

    definition: Layer
    defaults: Layer = field(default_factory=dict)
    type_defaults: Layer = field(default_factory=dict)
    template: Layer = field(default_factory=dict)  # of the runtime or the job template
    workflow: Mapping[str, Parameter] = field(default_factory=dict)  # of the run; template params follow them
    injected: Layer = field(default_factory=dict)  # by the system
    run: Layer = field(default_factory=dict)  # of the request, for this step
    restart: Layer = field(default_factory=dict)  # of the restart request, at the end of the restart path
    source: ParamSource = S.LAUNCH
    restarting: bool = False


def step_params(layers: StepLayers) -> Params:
    """The parameters of a step attempt, not evaluated."""
    return settle(declared_step_params(layers))


def declared_step_params(layers: StepLayers) -> Params:
    """The same with the system's marks, and with parameters that have no value."""
    request = Stage(layers.source, restart=layers.restarting)  # a step's parameters are never handed down
    run = _as_literals(layers.run)
    own, restart = layers.definition, layers.restart
    merged: Params = {}
    for layer, stage in (
        (layers.defaults, DEFAULT),
        (layers.type_defaults, DEFAULT),
        (_template(layers), TEMPLATE),
        (layers.injected, INJECTED),
        ({name: param for name, param in run.items() if name not in own}, request),
        ({name: param for name, param in restart.items() if name not in own}, RESTARTED),
        (own, DEFINED),
        ({name: param for name, param in run.items() if name in own}, request),
        ({name: param for name, param in restart.items() if name in own}, RESTARTED),
    ):
        if layer:
            merged = merge(merged, layer, stage)
    return merged


def _template(layers: StepLayers) -> Layer:
    """The template's parameters, of which a run's parameters of the same name change the value."""
    values: Params = {
        name: msgspec.structs.replace(literal_of(layers.workflow[name]), mode=None, source=None)
        for name in layers.template
        if name in layers.workflow
    }
    return merge(layers.template, values, FROM_WORKFLOW) if values else layers.template
