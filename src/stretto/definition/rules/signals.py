"""Signals that steps wait for and announce."""

from typing import Final

from stretto.definition.rules.names import check_label
from stretto.definition.rules.visits import Scene, Visit
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.problem import Code, Place
from stretto.model.signal import SignalDependencyDefinition, is_param
from stretto.model.trigger import SignalOperator
from stretto.model.wire import codec_of

SIGNAL_TYPES: Final = frozenset({ParamType.STRING, ParamType.LONG})


def check_signals(scene: Scene) -> None:
    for visit in scene.visits:
        _dependencies(scene, visit)
        for index, output in enumerate(visit.step.signal_outputs or ()):
            at = ((visit.at, "signal_outputs"), index)
            check_label(scene, output.name, (at, "name"), "a signal's name")
            for name, param in (output.params or {}).items():
                _type(scene, param.type, ((at, "params"), name))
            for name, value in (output.payload or {}).items():
                if is_param(value):
                    codec_of(ParamDefinition).decode(value, ((at, "payload"), name), scene.problems)


def _dependencies(scene: Scene, visit: Visit) -> None:
    place = (visit.at, "signal_dependencies")
    dependencies = visit.step.signal_dependencies
    if dependencies is not None and not dependencies:
        scene.report(place, Code.EMPTY, "the list of signals is empty", "leave it out")
    for index, dependency in enumerate(dependencies or ()):
        _dependency(scene, dependency, (place, index))


def _dependency(scene: Scene, dependency: SignalDependencyDefinition, at: Place) -> None:
    check_label(scene, dependency.name, (at, "name"), "a signal's name")
    matches = dependency.match_params or {}
    ranges = [name for name, match in matches.items() if match.operator is not SignalOperator.EQUALS_TO]
    if len(ranges) > 1:
        message = f"only one parameter may have an operator other than `=`, these have: {', '.join(ranges)}"
        scene.report((at, "match_params"), Code.BAD_SIGNAL, message)
    for name, match in matches.items():
        _type(scene, match.param.type, (((at, "match_params"), name), "param"))


def _type(scene: Scene, kind: ParamType, at: Place) -> None:
    if kind not in SIGNAL_TYPES:
        scene.report(at, Code.BAD_SIGNAL, f"a signal carries STRING and LONG only, this is {kind}")
