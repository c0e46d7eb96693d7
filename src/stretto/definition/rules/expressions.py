"""Expressions: that they can be parsed, with the position of what is wrong in them."""

import re
from collections.abc import Iterator
from typing import Final

from stretto.definition.rules.visits import WORKFLOW, Scene, params_in
from stretto.model.param import Params
from stretto.model.problem import Code, Place
from stretto.model.step import AnyStep, TypedStep, WhileStep
from stretto.sel import SelError, compile_expression, sanitize

TRIVIAL: Final = ("true", "false")
NUMBER: Final = re.compile(r"\b[1-9][0-9]{0,17}\b")
MOST_OF_A_SHAPE: Final = 200  # characters; a long expression is compared as it is


def check_expressions(scene: Scene) -> None:
    """Texts that differ only in whole numbers, as generated ones do, are parsed once."""
    fine = set(TRIVIAL)
    for text, at in _expressions(scene):
        shape = NUMBER.sub("1", text) if text not in fine and len(text) <= MOST_OF_A_SHAPE else text
        if shape in fine:
            continue
        try:
            compile_expression(sanitize(text))
            fine.add(shape)
        except SelError as error:
            message = f"{error.message}, at line {error.line}, column {error.column} of the expression"
            scene.report(at, Code.BAD_EXPRESSION, message)


def _expressions(scene: Scene) -> Iterator[tuple[str, Place]]:
    for _name, param, at in scene.params:
        if param.expression is not None:
            yield param.expression, (at, "expression")
    for index, trigger in enumerate(scene.workflow.signal_triggers or ()):
        at = ((WORKFLOW, "signal_triggers"), index)
        for name in ("condition", "dedup_expr"):
            text = getattr(trigger, name)
            if text is not None:
                yield text, (at, name)
        yield from _in_params(trigger.params, (at, "params"))
    for visit in scene.visits:
        step = visit.step
        edges = ((visit.at, "transition"), "successors")
        for target, condition in step.transition.successors.items():
            yield condition, (edges, target)
        if isinstance(step, WhileStep):
            yield step.condition, (visit.at, "condition")
        elif isinstance(step, TypedStep) and step.retry_policy and step.retry_policy.retry_if:
            yield step.retry_policy.retry_if, ((visit.at, "retry_policy"), "retry_if")
        if step.signal_dependencies or step.signal_outputs:
            yield from _in_signals(step, visit.at)


def _in_signals(step: AnyStep, at: Place) -> Iterator[tuple[str, Place]]:
    for index, dependency in enumerate(step.signal_dependencies or ()):
        place: Place = (((at, "signal_dependencies"), index), "match_params")
        for name, match in (dependency.match_params or {}).items():
            yield from _in_params({"param": match.param}, (place, name))
    for index, output in enumerate(step.signal_outputs or ()):
        yield from _in_params(output.params, (((at, "signal_outputs"), index), "params"))
        yield from _in_params(output.payload_params(), (((at, "signal_outputs"), index), "payload"))


def _in_params(params: Params | None, at: Place) -> Iterator[tuple[str, Place]]:
    for _name, param, place in params_in(params, at):
        if param.expression is not None:
            yield param.expression, (place, "expression")
