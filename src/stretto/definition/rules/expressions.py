"""Expressions: that they can be parsed, with the position of what is wrong in them."""

from collections.abc import Iterator

from stretto.definition.rules.visits import WORKFLOW, Scene, params_in
from stretto.model.param import Params
from stretto.model.problem import Code, Place
from stretto.model.step import WhileStep
from stretto.sel import SelError, compile_expression, sanitize

TRIVIAL = frozenset({"true", "false"})


def check_expressions(scene: Scene) -> None:
    for text, at in _expressions(scene):
        if text in TRIVIAL:
            continue
        try:
            compile_expression(sanitize(text))
        except SelError as error:
            message = f"{error.message}, at line {error.line}, column {error.column} of the expression"
            scene.report(at, Code.BAD_EXPRESSION, message)


def _expressions(scene: Scene) -> Iterator[tuple[str, Place]]:
    yield from _in_params(scene.workflow.params, (WORKFLOW, "params"))
    for index, trigger in enumerate(scene.workflow.signal_triggers or ()):
        at: Place = ((WORKFLOW, "signal_triggers"), index)
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
        yield from _in_params(step.params, (visit.at, "params"))


def _in_params(params: Params | None, at: Place) -> Iterator[tuple[str, Place]]:
    for _name, param, place in params_in(params, at):
        if param.expression is not None:
            yield param.expression, (place, "expression")
