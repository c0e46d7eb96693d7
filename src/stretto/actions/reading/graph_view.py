"""The graph of a definition as live views read it: columns, and numbers in place of names."""

from collections import deque
from collections.abc import Sequence
from typing import Final

import msgspec

from stretto.definition.drawing.outline import body_of, condition_label
from stretto.model.step import AnyStep, TypedStep
from stretto.model.workflow import Definition, Workflow

OUTERMOST: Final = -1  # the parent of a step that stands in no loop


class GraphView(msgspec.Struct, frozen=True, kw_only=True):
    """Steps and edges in columns: what stands at one place of each belongs together. A level stands in one
    piece: first the steps of the workflow itself, then those inside its loops. Columns that say nothing of
    any step or edge are empty.

    kinds        The type of a step, or `foreach`, `while`, `subworkflow`, `template`.
    parents      The place of the loop around a step; -1: none.
    edge_from    Places of steps, as those of `edge_to`.
    conditions   Of edges; empty text: it is always taken.
    """

    workflow_id: str
    workflow_version_id: int | None = None  # None: nobody has published it
    ids: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    edge_from: tuple[int, ...] = ()
    edge_to: tuple[int, ...] = ()
    conditions: tuple[str, ...] = ()


def graph_of(definition: Definition | Workflow) -> GraphView:
    """The graph of a definition, also of one with mistakes: edges that lead nowhere are left out."""
    workflow = definition.workflow if isinstance(definition, Definition) else definition
    steps: list[AnyStep] = []
    parents: list[int] = []
    edges: list[tuple[int, int, str]] = []
    levels = deque([(OUTERMOST, workflow.steps)])
    while levels:
        parent, level = levels.popleft()
        first = len(steps)
        edges += _edges(level, first)
        levels += [
            (first + place, tuple(body)) for place, each in enumerate(level) if (body := body_of(each))
        ]
        steps += level
        parents += [parent] * len(level)
    return GraphView(
        workflow_id=workflow.id,
        ids=tuple(step.id for step in steps),
        kinds=tuple(_kind(step) for step in steps),
        names=_said([step.name or "" for step in steps]),
        stages=_said([step.stage or "" for step in steps]),
        parents=tuple(parents) if max(parents, default=OUTERMOST) > OUTERMOST else (),
        edge_from=tuple(start for start, _end, _text in edges),
        edge_to=tuple(end for _start, end, _text in edges),
        conditions=_said([text for _start, _end, text in edges]),
    )


def _edges(level: Sequence[AnyStep], first: int) -> list[tuple[int, int, str]]:
    """Those of one level, whose steps have the places from `first` on."""
    places = {step.id: first + place for place, step in enumerate(level)}
    return [
        (first + place, places[target], condition_label(condition))
        for place, step in enumerate(level)
        for target, condition in step.transition.successors.items()
        if target in places
    ]


def _kind(step: AnyStep) -> str:
    return step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)


def _said(column: list[str]) -> tuple[str, ...]:
    return tuple(column) if any(column) else ()
