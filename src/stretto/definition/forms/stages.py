"""Stages, compiled to ordinary steps.

    stages: [A, B]         every step of B waits for all of A; each step keeps its stage's id

A stage of several ends before a stage of several beginnings gets a Join step between, so that the number of
edges stays linear. `docs/reference/stages.md` shows source and result side by side.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from stretto.definition.reading.located import derive, derive_list, gather
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

Body = dict[str, Any]
JOIN_SUFFIX: Final = "done"
STAGE_FIELDS: Final = ("id", "name", "description", "steps")
MOST_OF_AN_ID: Final = 100  # so that a join's id stays below the limit of ids
_NOT_IN_IDS: Final = re.compile(r"[^.\-_a-zA-Z0-9]+")
_SEPARATOR: Final = re.compile("__+")  # joins a step and its parameter in references


class _Stage(NamedTuple):
    id: str
    steps: list[Body]  # wrapped
    source: Any  # what the author wrote
    at: Place

    @property
    def bodies(self) -> list[Body]:
        return [body for step in self.steps for body in step.values()]


def compile_stages(stages: Any, at: Place, owner: str, sink: Sink) -> list[Any]:
    """The steps of all stages in order, with the edges between the stages. `owner`: the loop around them."""
    if not isinstance(stages, list):
        sink.append(wrong_type(at, "a list of stages", stages))
        return []
    seen: set[str] = set()
    read = [_stage(stage, (at, index), seen, sink) for index, stage in enumerate(stages)]
    full = [stage for stage in read if stage.steps]
    taken = {str(body.get("id")) for stage in full for body in stage.bodies}
    _check_edges(full, sink)
    compiled: list[Any] = []
    for index, stage in enumerate(full):
        if index:
            compiled += _link(full[index - 1], stage, owner, taken)
        compiled += stage.steps
    return derive_list(stages, compiled)


def _stage(stage: Any, at: Place, seen: set[str], sink: Sink) -> _Stage:
    if not isinstance(stage, dict):
        sink.append(wrong_type(at, "an object with `id` and `steps`", stage))
        return _Stage("", [], stage, at)
    for key in stage:
        if key not in STAGE_FIELDS:
            hint = did_you_mean(key, STAGE_FIELDS)
            sink.append(problem_at((at, key), Code.UNKNOWN_FIELD, f"unknown field `{key}`", hint))
    stage_id = stage.get("id", stage.get("name"))
    if stage_id is None or stage_id == "":
        sink.append(problem_at((at, "id"), Code.MISSING_FIELD, "the field `id` is missing"))
    elif not isinstance(stage_id, str):
        sink.append(wrong_type((at, "id" if "id" in stage else "name"), "text", stage_id))
    elif stage_id in seen:
        sink.append(problem_at((at, "id"), Code.DUPLICATE_ID, f"the stage `{stage_id}` is given twice"))
    stage_id = stage_id if isinstance(stage_id, str) else ""
    seen.add(stage_id)
    return _Stage(stage_id, _steps_of(stage, stage_id, at, sink), stage, at)


def _steps_of(stage: Body, stage_id: str, at: Place, sink: Sink) -> list[Body]:
    steps = stage.get("steps")
    if steps is not None and not isinstance(steps, list):
        sink.append(wrong_type((at, "steps"), "a list of steps", steps))
        return []
    made: list[Body] = []
    for index, step in enumerate(steps or ()):
        if isinstance(step, dict) and len(step) == 1 and isinstance(next(iter(step.values())), dict):
            ((kind, body),) = step.items()
            made.append(derive(step, {kind: derive(body, {**body, "stage": stage_id})}))
        else:
            wanted = "an object with exactly one key, the kind of step"
            sink.append(wrong_type(((at, "steps"), index), wanted, step))
    return made


def _successors(body: Body) -> Body:
    transition = body.get("transition")
    successors = transition.get("successors") if isinstance(transition, dict) else None
    return successors if isinstance(successors, dict) else {}


def _check_edges(stages: list[_Stage], sink: Sink) -> None:
    """Each stage has a graph of its own: what comes after it is said by the order of the stages."""
    home = {str(body.get("id")): stage.id for stage in stages for body in stage.bodies}
    for stage in stages:
        for index, step in enumerate(stage.steps):
            ((kind, body),) = step.items()
            edges = (((((stage.at, "steps"), index), kind), "transition"), "successors")
            for target in _successors(body):
                if home.get(target, stage.id) != stage.id:
                    message = f"the edge to `{target}` leaves the stage `{stage.id}`"
                    hint = f"`{target}` runs when the order of the stages says so, in `{home[target]}`"
                    sink.append(problem_at((edges, target), Code.CONFLICT, message, hint))


def _beginnings(stage: _Stage) -> list[Body]:
    targets = {target for body in stage.bodies for target in _successors(body)}
    return [body for body in stage.bodies if body.get("id") not in targets]


def _ends(stage: _Stage) -> list[Body]:
    """The steps that must have ended before the next stage begins.

    If there are branches, the beginnings count as ends too: they ran if the stage did, so that the next
    stage runs even when every last step of this one was on a branch that was not taken.
    """
    ends = [body for body in stage.bodies if not _successors(body)]
    conditions = (condition for body in stage.bodies for condition in _successors(body).values())
    if all(condition in (True, "true") for condition in conditions):
        return ends
    known = {id(body) for body in ends}
    return [*(body for body in _beginnings(stage) if id(body) not in known), *ends]


def _link(before: _Stage, after: _Stage, owner: str, taken: set[str]) -> list[Body]:
    """Edges from every end to every beginning; through a Join step if that were many."""
    ends, beginnings = _ends(before), _beginnings(after)
    if len(ends) < 2 or len(beginnings) < 2:
        _connect(ends, beginnings)
        return []
    join_id = _join_id(before.id, owner, taken)
    join = derive(before.source, {"id": join_id, "type": "Join", "stage": before.id}, stage="id")
    _connect(ends, [join])
    _connect([join], beginnings)
    return [derive(before.source, {"step": join})]


def _join_id(stage_id: str, owner: str, taken: set[str]) -> str:
    """An id that no step of the author has; inside a loop, one that no other loop has."""
    name = _NOT_IN_IDS.sub("-", ".".join(part for part in (owner, stage_id) if part))
    name = _SEPARATOR.sub("_", name)[:MOST_OF_AN_ID].strip("-.")
    if not name[:1].isalpha() or name.lower().startswith("maestro_"):
        name = f"stage-{name}"
    made, number = f"{name}.{JOIN_SUFFIX}", 1
    while made in taken:
        number += 1
        made = f"{name}.{JOIN_SUFFIX}.{number}"
    taken.add(made)
    return made


def _connect(ends: Iterable[Body], beginnings: list[Body]) -> None:
    for body in ends:
        transition = body.get("transition")
        before = transition if isinstance(transition, dict) else {}
        edges = {**_successors(body), **{str(each.get("id")): "true" for each in beginnings}}
        made = derive(before or body, {**before, "successors": derive(before or body, edges)})
        gather(body, "transition", made, body, "transition")
