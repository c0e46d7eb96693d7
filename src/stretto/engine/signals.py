"""Signals of steps: the dependencies with their values, and the outputs when a step has succeeded."""

from collections.abc import Mapping, Sequence
from typing import Any

from stretto.engine.context import OUTPUTS, SIGNALS, answer_key, scope_of, too_long
from stretto.engine.flow import Flow
from stretto.engine.records import AttemptRecord
from stretto.model.artifact import ArtifactKey, DynamicOutputArtifact
from stretto.model.param import ParamDefinition
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.signal_instance import SignalDependencies, SignalDependency
from stretto.model.step import AnyStep
from stretto.model.trigger import SignalParamValue
from stretto.params import MissingKeys, ParamError, Scope, evaluate, evaluate_text


def wanted_signals(
    definitions: Sequence[SignalDependencyDefinition], scope: Scope
) -> SignalDependencies | MissingKeys:
    """What a step waits for, evaluated without its own parameters."""
    made: list[SignalDependency] = []
    for definition in definitions:
        name = evaluate_text("name", definition.name, scope)
        values = evaluate({key: match.param for key, match in (definition.match_params or {}).items()}, scope)
        if isinstance(name, MissingKeys):
            return name
        if isinstance(values, MissingKeys):
            return values
        matches = {
            key: SignalParamValue(value=values[key].evaluated_result, operator=match.operator)
            for key, match in (definition.match_params or {}).items()
        }
        made.append(SignalDependency(name=name, match_params=matches or None))
    return SignalDependencies(dependencies=made)


def step_signals(
    flow: Flow, step: AnyStep, attempt: AttemptRecord, now: int
) -> SignalDependencies | MissingKeys:
    """What an attempt waits for."""
    known: SignalDependencies | None = flow.fetched.get(answer_key(attempt, SIGNALS))
    if known is not None:
        return known
    try:
        return wanted_signals(step.signal_dependencies or (), scope_of(flow, attempt, now))
    except ParamError as error:
        return too_long(error)


def announced_signals(
    flow: Flow, step: AnyStep, attempt: AttemptRecord, now: int
) -> tuple[Mapping[str, Any], ...] | MissingKeys:
    """What a step announces: what its definition says, and what its work has found out."""
    made: tuple[Mapping[str, Any], ...] | MissingKeys | None = ()
    if step.signal_outputs:
        made = flow.fetched.get(answer_key(attempt, OUTPUTS))
    if made is None:
        try:
            scope = scope_of(flow, attempt, now)
            made = output_signals(step.signal_outputs or (), attempt.params or {}, scope)
        except ParamError as error:
            made = too_long(error)
    return made if isinstance(made, MissingKeys) else (*made, *_found_out(attempt))


def output_signals(
    outputs: Sequence[SignalOutputDefinition], params: Mapping[str, ParamDefinition], scope: Scope
) -> tuple[Mapping[str, Any], ...] | MissingKeys:
    """Name and values of each output, evaluated with the parameters of the step."""
    made: list[Mapping[str, Any]] = []
    for output in outputs:
        name = evaluate_text("name", output.name, scope, params)
        values = evaluate({**params, **(output.params or {})}, scope)
        if isinstance(name, MissingKeys):
            return name
        if isinstance(values, MissingKeys):
            return values
        found = {key: values[key].evaluated_result for key in output.params or {}}
        made.append({"name": name, "params": found, "payload": dict(output.payload or {})})
    return tuple(made)


def _found_out(attempt: AttemptRecord) -> list[Mapping[str, Any]]:
    """Signals that the work itself asks to announce: texts and whole numbers can be matched on."""
    artifact = attempt.artifacts.get(ArtifactKey.DYNAMIC_OUTPUT.value)
    outputs = artifact.signal_outputs or () if isinstance(artifact, DynamicOutputArtifact) else ()
    made: list[Mapping[str, Any]] = []
    for output in outputs:
        values = {**output.evaluated_result}
        name = values.pop("name")
        params = {key: value for key, value in values.items() if _can_match(value)}
        payload = {key: value for key, value in values.items() if key not in params}
        made.append({"name": name, "params": params, "payload": payload})
    return made


def _can_match(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
