"""`on_success` and `on_failure` of a step, compiled to a failure mode and conditions on its edges."""

from typing import Any, Final

from stretto.definition.reading.located import at_key, derive, gather
from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

Body = dict[str, Any]
OUTCOMES: Final = ("on_success", "on_failure")


def failed_condition(step_id: str) -> str:
    """True on an edge of a step that ended with an error which its failure mode ignores."""
    quoted = step_id.replace("\\", "\\\\").replace("'", "\\'")
    return f"params.getFromStep('{quoted}', 'MAESTRO_STEP_STATUS') == 'COMPLETED_WITH_ERROR'"


def expand_outcomes(body: Body, at: Place, sink: Sink) -> Body:
    """A step's body without its outcomes; the same object if it has none."""
    if "on_success" not in body and "on_failure" not in body:
        return body
    rest = {key: value for key, value in body.items() if key not in OUTCOMES}
    edges = _edges(rest.get("transition"))
    if edges is None:
        return derive(body, rest)  # no transition to add to: the decoder says what is wrong with it
    failed = failed_condition(str(body.get("id")))
    if body.get("on_failure"):
        rest["failure_mode"] = _handled(body, at, sink)
        for target, condition in list(edges.items()):
            edges = gather(edges, target, _unless(failed, condition), edges, target)
    for key in OUTCOMES:
        condition = failed if key == "on_failure" else f"!({failed})" if body.get("on_failure") else "true"
        edges = _add_targets(edges, body, key, condition, (at, key), sink)
    transition = rest.get("transition") or {}
    made = derive(transition or body, {**transition, "successors": edges})
    return derive(body, {**rest, "transition": made})


def _edges(transition: Any) -> Body | None:
    """A copy of the successors that are there already; None if they can not be read."""
    if transition is None:
        return {}
    if not isinstance(transition, dict):
        return None
    edges = transition.get("successors")
    if edges is None:
        return {}
    return derive(edges, dict(edges)) if isinstance(edges, dict) else None


def _handled(body: Body, at: Place, sink: Sink) -> str:
    """A failure that is handled does not fail the run."""
    mode = body.get("failure_mode")
    if mode is not None and str(mode).upper() != "IGNORE_FAILURE":
        message = "`on_failure` handles the failure, so `failure_mode` can only be IGNORE_FAILURE"
        sink.append(problem_at((at, "failure_mode"), Code.CONFLICT, message, "leave it out"))
    return "IGNORE_FAILURE"


def _unless(failed: str, condition: Any) -> Any:
    """An edge that was there before `on_failure` is for the case that the step did not fail."""
    if isinstance(condition, dict):
        condition = condition.get("expression")
    if isinstance(condition, bool):
        condition = str(condition).lower()
    if not isinstance(condition, str):
        return condition
    text = condition.strip().removesuffix(";")
    return f"!({failed})" if text == "true" else f"!({failed}) && ({text})"


def _add_targets(edges: Body, body: Body, key: str, condition: str, at: Place, sink: Sink) -> Body:
    value = body.get(key)
    if value is None:
        return edges
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        sink.append(wrong_type(at, "the id of a step, or a list of them", value))
        return edges
    for index, target in enumerate(items):
        if target in edges:
            message = f"the edge to `{target}` is given twice"
            sink.append(at_key(problem_at(at, Code.CONFLICT, message, "give each successor once"), body, key))
            continue
        source, origin = (body, key) if isinstance(value, str) else (items, index)
        edges = gather(edges, target, condition, source, origin)
    return edges
