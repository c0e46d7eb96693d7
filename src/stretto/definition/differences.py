"""What is different between two definitions: by structure, and as text."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from stretto.definition.drawing.outline import body_of
from stretto.model.problem import render
from stretto.model.step import AnyStep, Step
from stretto.model.wire import encode
from stretto.model.wire.types import codec_of
from stretto.model.words import Word
from stretto.model.workflow import Workflow

STEP: Final = codec_of(Step)
ELSEWHERE: Final = frozenset({"transition", "steps"})  # edges and inner steps have lines of their own
NOT_OF_WORKFLOW: Final = frozenset({"params", "steps"})
MOST_LINES: Final = 4_000  # that differ: comparing takes the square of them
CONTEXT: Final = 3  # lines around what differs
HEAD: Final = re.compile(r"([-+])(\d+)(?=[, ])")
KIND: Final = "kind"  # which key wraps the step


class ChangeKind(Word):
    """What became of something."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One place: a path such as `retry_policy.error_retry_limit`, with the JSON values before and after."""

    change: ChangeKind
    path: str
    before: Any = None
    after: Any = None


class StepDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A step that came, went or is another; `around` is the loop that it is in."""

    change: ChangeKind
    step_id: str
    around: str | None = None
    differences: tuple[Difference, ...] = ()


class EdgeDifference(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that came, went or has another condition."""

    change: ChangeKind
    source: str
    target: str
    before: str | None = None
    after: str | None = None


class WorkflowDifferences(msgspec.Struct, frozen=True, kw_only=True):
    """Everything between two versions, part by part."""

    workflow: tuple[Difference, ...] = ()
    params: tuple[Difference, ...] = ()
    steps: tuple[StepDifference, ...] = ()
    edges: tuple[EdgeDifference, ...] = ()


def differences_of(before: Workflow, after: Workflow) -> WorkflowDifferences:
    """From one workflow to another. Steps are known by their ids; their order in the text says nothing."""
    old, new = encode(before), encode(after)
    old_steps, new_steps = dict(_steps(before.steps)), dict(_steps(after.steps))
    return WorkflowDifferences(
        workflow=tuple(between(_without(old, NOT_OF_WORKFLOW), _without(new, NOT_OF_WORKFLOW))),
        params=tuple(between(old.get("params", {}), new.get("params", {}))),
        steps=tuple(_between_steps(old_steps, new_steps)),
        edges=tuple(_between_edges(_edges(old_steps), _edges(new_steps))),
    )


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    """The places at which two JSON objects differ: as deep as objects go, and lists as a whole."""
    yield from _between((), before, after)


def _between(
    keys: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Difference]:
    for key in dict.fromkeys((*before, *after)):
        place = (*keys, key)
        if key not in after:
            yield Difference(change=ChangeKind.REMOVED, path=render(place), before=before[key])
        elif key not in before:
            yield Difference(change=ChangeKind.ADDED, path=render(place), after=after[key])
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            yield from _between(place, before[key], after[key])
        elif before[key] != after[key]:
            yield Difference(
                change=ChangeKind.CHANGED, path=render(place), before=before[key], after=after[key]
            )


class _Placed(msgspec.Struct, frozen=True):
    """A step, and the loop that it is in."""

    step: AnyStep
    around: str | None

    def fields(self) -> dict[str, Any]:
        """Its own JSON, with the key that wraps it as a field."""
        ((kind, fields),) = STEP.encode(self.step).items()
        return {KIND: kind, **_without(fields, ELSEWHERE)}


def _steps(steps: Sequence[AnyStep], around: str | None = None) -> Iterator[tuple[str, _Placed]]:
    for step in steps:
        yield step.id, _Placed(step, around)
        yield from _steps(body_of(step), step.id)


def _between_steps(before: Mapping[str, _Placed], after: Mapping[str, _Placed]) -> Iterator[StepDifference]:
    for step_id in dict.fromkeys((*before, *after)):
        old, new = before.get(step_id), after.get(step_id)
        if old is None or new is None:
            change = ChangeKind.ADDED if old is None else ChangeKind.REMOVED
            around = (after if old is None else before)[step_id].around
            yield StepDifference(change=change, step_id=step_id, around=around)
            continue
        inside = tuple(
            between({"around": old.around, **old.fields()}, {"around": new.around, **new.fields()})
        )
        if inside:
            yield StepDifference(
                change=ChangeKind.CHANGED, step_id=step_id, around=new.around, differences=inside
            )


def _edges(steps: Mapping[str, _Placed]) -> dict[tuple[str, str], str]:
    return {
        (step_id, target): condition
        for step_id, placed in steps.items()
        for target, condition in placed.step.transition.successors.items()
    }


def _between_edges(
    before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]
) -> Iterator[EdgeDifference]:
    for edge in dict.fromkeys((*before, *after)):
        old, new = before.get(edge), after.get(edge)
        if old != new:
            change = ChangeKind.ADDED if old is None else ChangeKind.CHANGED
            change = ChangeKind.REMOVED if new is None else change
            yield EdgeDifference(change=change, source=edge[0], target=edge[1], before=old, after=new)


def _without(value: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


def text_difference(before: str, after: str, names: tuple[str, str]) -> str | None:
    """A unified diff, empty if there is none; None, if too much is different to compare it line by line."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = max(0, _same(old, new) - CONTEXT)  # what is the same at both ends costs nothing
    last = max(0, _same(old[:first:-1], new[:first:-1]) - CONTEXT)
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old), len(new)) > MOST_LINES:
        return None
    return "".join(_moved(line, first) for line in difflib.unified_diff(old, new, *names, n=CONTEXT))


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same, from the beginning on."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _moved(line: str, lines: int) -> str:
    """The head of a hunk, as if the lines before it were there, too."""
    return HEAD.sub(lambda found: f"{found[1]}{int(found[2]) + lines}", line) if line[0] == "@" else line
