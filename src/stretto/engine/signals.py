"""Signals of steps: the dependencies with their values, and the outputs when a step has succeeded."""

from collections.abc import Mapping, Sequence
from typing import Any

from stretto.engine.context import OUTPUTS, SIGNALS, answer_key, params_at_end, scope_of, too_long
from stretto.engine.flow import Flow
from stretto.engine.records import AttemptRecord
from stretto.model.artifact import ArtifactKey, DynamicOutputArtifact
from stretto.model.param import ParamDefinition
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.signal_instance import SignalDependencies, SignalDependency
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.model.trigger import SignalParamValue
from stretto.model.wire import encode
from stretto.params import Fault, MissingKeys, ParamError, Scope, evaluate, evaluate_one, evaluate_text
from stretto.params.values import beyond_maestro


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
        _check_values({key: values[key].evaluated_result for key in definition.match_params or {}})
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
            params = params_at_end(flow, attempt, StepStatus.SUCCEEDED)
            made = output_signals(step.signal_outputs or (), params, scope_of(flow, attempt, now))
        except ParamError as error:
            made = too_long(error)
    return made if isinstance(made, MissingKeys) else (*made, *_found_out(attempt))


def output_signals(
    outputs: Sequence[SignalOutputDefinition], params: Mapping[str, ParamDefinition], scope: Scope
) -> tuple[Mapping[str, Any], ...] | MissingKeys:
    """Name, values and payload of each output. A value reads the parameters of the step, whatever it is
    called itself; then those of the run, then other values of the same output.
    """
    made: list[Mapping[str, Any]] = []
    for output in outputs:
        name = evaluate_text("name", output.name, scope, params)
        if isinstance(name, MissingKeys):
            return name
        own = output.params or {}
        found = _results(own, own, params, scope)
        if isinstance(found, MissingKeys):
            return found
        _check_values(found)
        extra = output.payload_params()
        payload = _results(extra, {**extra, **own}, params, scope)
        if isinstance(payload, MissingKeys):
            return payload
        made.append({"name": name, "params": found, "payload": {**(output.payload or {}), **payload}})
    return tuple(made)


def _results(
    values: Mapping[str, ParamDefinition],
    siblings: Mapping[str, ParamDefinition],
    params: Mapping[str, ParamDefinition],
    scope: Scope,
) -> dict[str, Any] | MissingKeys:
    """The result of each value, in plain JSON."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        others = {each: other for each, other in siblings.items() if each != key}
        result = evaluate_one(key, value, scope, {**others, **params})
        if isinstance(result, MissingKeys):
            return result
        found[key] = encode(result).get("evaluated_result")
    return found


def _found_out(attempt: AttemptRecord) -> list[Mapping[str, Any]]:
    """Signals that the work itself asks to announce: texts and whole numbers can be matched on."""
    artifact = attempt.artifacts.get(ArtifactKey.DYNAMIC_OUTPUT.value)
    outputs = artifact.signal_outputs or () if isinstance(artifact, DynamicOutputArtifact) else ()
    made: list[Mapping[str, Any]] = []
    for output in outputs:
        values = {**output.evaluated_result}
        name = values.pop("name")
        params = {key: value for key, value in values.items() if _can_match(value)}
        _check_values(params)
        payload = {key: value for key, value in values.items() if key not in params}
        made.append({"name": name, "params": params, "payload": payload})
    return made


def _check_values(params: Mapping[str, Any]) -> None:
    """Signals reach workflows of all semantics and are matched in databases: their numbers have 64 bits."""
    for name, value in params.items():
        why = beyond_maestro(value)
        if why is not None:
            message = f"Param [{name}] of a signal {why}: signals carry texts and whole numbers of 64 bits"
            raise ParamError(Fault.OUT_OF_RANGE, name, message)


def _can_match(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
