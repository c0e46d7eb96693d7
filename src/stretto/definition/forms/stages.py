"""Stages and outcome edges, compiled to ordinary steps and conditions.

    stages: [A, B]         every step of B waits for all of A; each step keeps its stage's id
    on_success: x          edge to x, true unless the step failed
    on_failure: y          edge to y, true if it failed; the failure is handled, so it does not fail the run

A stage of several ends before a stage of several beginnings gets a Join step between, so that the number of
edges stays linear. `docs/reference/stages.md` shows source and result side by side.
"""

from typing import Any, Final

from stretto.definition.reading.located import derive
from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

Body = dict[str, Any]
JOIN_SUFFIX: Final = ".done"
STAGE_FIELDS: Final = frozenset({"id", "name", "description", "steps"})


def failed_condition(step_id: str) -> str:
    """True on an edge of a step that ended with an error which its failure mode ignores."""
    return f"params.getFromStep('{step_id}', 'MAESTRO_STEP_STATUS') == 'COMPLETED_WITH_ERROR'"


def expand_outcomes(body: Body, at: Place, sink: Sink) -> Body:
    """`on_success` and `on_failure` of one step -> failure mode and conditions on its edges."""
    if "on_success" not in body and "on_failure" not in body:
        return body
    rest = {key: value for key, value in body.items() if key not in {"on_success", "on_failure"}}
    success = _targets(body.get("on_success"), (at, "on_success"), sink)
    failure = _targets(body.get("on_failure"), (at, "on_failure"), sink)
    transition = rest.get("transition")
    edges = transition.get("successors") if isinstance(transition, dict) else None
    edges = dict(edges) if isinstance(edges, dict) else {}
    for target in (*success, *failure):
        if target in edges or (target in success and target in failure):
            message = f"the edge to `{target}` is given twice"
            sink.append(problem_at(at, Code.CONFLICT, message, "give each successor once"))
    if failure:
        if str(rest.get("failure_mode", "IGNORE_FAILURE")).upper() != "IGNORE_FAILURE":
            message = "`on_failure` handles the failure, so `failure_mode` can only be IGNORE_FAILURE"
            sink.append(problem_at((at, "failure_mode"), Code.CONFLICT, message, "leave it out"))
        rest["failure_mode"] = "IGNORE_FAILURE"
        failed = failed_condition(str(body.get("id")))
        edges = {target: _unless(failed, condition) for target, condition in edges.items()}
        edges.update(dict.fromkeys(success, f"!({failed})"))
        edges.update(dict.fromkeys(failure, failed))
    else:
        edges.update(dict.fromkeys(success, "true"))
    before = transition if isinstance(transition, dict) else {}
    return derive(body, {**rest, "transition": {**before, "successors": edges}})


def _unless(failed: str, condition: Any) -> Any:
    if not isinstance(condition, str | bool):
        return condition
    text = str(condition).lower() if isinstance(condition, bool) else condition.strip().removesuffix(";")
    return f"!({failed})" if text == "true" else f"!({failed}) && ({text})"


def _targets(value: Any, at: Place, sink: Sink) -> list[str]:
    if value is None:
        return []
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        sink.append(wrong_type(at, "the id of a step, or a list of them", value))
        return []
    return items


def compile_stages(stages: Any, at: Place, sink: Sink) -> list[Any]:
    """The steps of all stages in order, with the edges between the stages."""
    if not isinstance(stages, list):
        sink.append(wrong_type(at, "a list of stages", stages))
        return []
    compiled: list[Any] = []
    ends: list[Body] = []
    before = ""
    seen: set[str] = set()
    for index, stage in enumerate(stages):
        stage_id, steps = _stage(stage, (at, index), seen, sink)
        bodies = [body for step in steps for body in step.values()]
        if not bodies:
            continue
        beginnings, finals = _borders(bodies)
        if ends:
            compiled += _link(ends, beginnings, before)
        compiled += steps
        ends, before = finals, stage_id
    return compiled


def _stage(stage: Any, at: Place, seen: set[str], sink: Sink) -> tuple[str, list[Body]]:
    if not isinstance(stage, dict):
        sink.append(wrong_type(at, "an object with `id` and `steps`", stage))
        return "", []
    for key in stage.keys() - STAGE_FIELDS:
        sink.append(problem_at((at, key), Code.UNKNOWN_FIELD, f"unknown field `{key}`"))
    stage_id = stage.get("id", stage.get("name"))
    if not isinstance(stage_id, str) or not stage_id:
        sink.append(problem_at((at, "id"), Code.MISSING_FIELD, "the field `id` is missing"))
        stage_id = ""
    elif stage_id in seen:
        sink.append(problem_at((at, "id"), Code.DUPLICATE_ID, f"the stage `{stage_id}` is given twice"))
    seen.add(stage_id)
    steps = stage.get("steps", [])
    if not isinstance(steps, list):
        sink.append(wrong_type((at, "steps"), "a list of steps", steps))
        return stage_id, []
    made: list[Body] = []
    for index, step in enumerate(steps):
        if isinstance(step, dict) and len(step) == 1 and isinstance(next(iter(step.values())), dict):
            ((kind, body),) = step.items()
            made.append(derive(step, {kind: derive(body, {**body, "stage": stage_id})}))
        else:
            sink.append(wrong_type(((at, "steps"), index), "an object with one key, the kind of step", step))
    return stage_id, made


def _successors(body: Body) -> dict[str, Any]:
    transition = body.get("transition")
    successors = transition.get("successors") if isinstance(transition, dict) else None
    return successors if isinstance(successors, dict) else {}


def _borders(bodies: list[Body]) -> tuple[list[Body], list[Body]]:
    """The steps that begin a stage, and those that must have ended before the next one begins.

    The beginnings count as ends too: they ran if the stage did, so that the next stage runs even when
    every last step of this one was on a branch that was not taken.
    """
    targets = {target for body in bodies for target in _successors(body)}
    ids = {body.get("id") for body in bodies}
    beginnings = [body for body in bodies if body.get("id") not in targets]
    ends = [body for body in bodies if not _successors(body).keys() & ids or body in beginnings]
    return beginnings, ends


def _link(ends: list[Body], beginnings: list[Body], stage_id: str) -> list[Body]:
    """Edges from every end to every beginning; through a Join step if that were many."""
    if len(ends) > 1 and len(beginnings) > 1:
        join_id = stage_id + JOIN_SUFFIX
        join: Body = {"id": join_id, "type": "Join", "stage": stage_id}
        _connect(ends, [join])
        _connect([join], beginnings)
        return [{"step": join}]
    _connect(ends, beginnings)
    return []


def _connect(ends: list[Body], beginnings: list[Body]) -> None:
    for body in ends:
        transition = body.get("transition")
        successors = {**_successors(body), **{str(each.get("id")): "true" for each in beginnings}}
        body["transition"] = {
            **(transition if isinstance(transition, dict) else {}),
            "successors": successors,
        }
