"""The order in which the parameters of a run and of a step are put together.

    run, fresh      defaults < workflow definition < run request
    run, restarted  what the previous run had < run request < restart request
    step            defaults < defaults of its type < template < injected < what requests give to the step
                    without its definition having it < step definition < request parameters for the step
                    < restart request for the step

Whatever stands further right wins, as far as the modes of what stands left of it allow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource
from stretto.params.defaults import WORKFLOW_DEFAULTS
from stretto.params.literals import definition_of, literal_of
from stretto.params.merge import Layer, effective_mode, merge
from stretto.params.modes import EVALUATED_AGAIN, Stage
from stretto.params.requests import RESERVED_NAMES
from stretto.params.settle import settle
from stretto.params.values import is_evaluated

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
