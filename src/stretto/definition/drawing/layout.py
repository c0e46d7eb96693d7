"""Where the boxes go: ranks by longest path, order inside a rank by the middle of the neighbours."""

from collections.abc import Sequence
from typing import Final

import msgspec

from stretto.definition.drawing.outline import body_of, kind_label
from stretto.definition.graph import Graph
from stretto.model.step import AnyStep

CHAR: Final = 7.2  # width of a character of the label, in pixels
LINE: Final = 18
PAD: Final = 12
GAP_X: Final = 36
GAP_Y: Final = 48
SWEEPS: Final = 4
WIDEST: Final = 36  # characters of a label that are shown


class Box(msgspec.Struct):
    """A step on the drawing; x and y are those of its top left corner, inside its level."""

    step: AnyStep
    title: str
    subtitle: str
    width: float
    height: float
    x: float = 0
    y: float = 0
    inner: "Plan | None" = None


class Plan(msgspec.Struct):
    """One level, laid out."""

    boxes: dict[str, Box]
    edges: list[tuple[str, str]]
    width: float
    height: float


def clipped(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def lay_out(steps: Sequence[AnyStep]) -> Plan:
    """Place one level, its loops first, since their size depends on what is in them."""
    graph = Graph.of(steps)
    boxes = {step.id: _box(step) for step in steps}
    rows = _rows(graph)
    _order(rows, graph)
    width, height = _place(rows, boxes)
    edges = [(node, target) for node in boxes for target in graph.successors[node]]
    return Plan(boxes, edges, width, height)


def _box(step: AnyStep) -> Box:
    title, subtitle = clipped(step.id), clipped(kind_label(step))
    width = max(len(title), len(subtitle)) * CHAR + 2 * PAD
    height = 2 * LINE + PAD
    if not body_of(step):
        return Box(step, title, subtitle, width, height)
    inner = lay_out(body_of(step))
    return Box(
        step,
        title,
        subtitle,
        max(width, inner.width + 2 * PAD),
        height + inner.height + PAD,
        inner=inner,
    )


def _rows(graph: Graph) -> list[list[str]]:
    """Every step one row below the lowest of its predecessors. Steps on a cycle stand in the first row."""
    rank: dict[str, int] = {}
    for node in graph.topological_order():
        rank[node] = max(
            (rank[before] + 1 for before in graph.predecessors[node] if before in rank), default=0
        )
    rows: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)] or [[]]
    for node in graph.successors:
        rows[rank.get(node, 0)].append(node)
    return rows


def _order(rows: list[list[str]], graph: Graph) -> None:
    """A few sweeps down and up, each row sorted by the mean position of its neighbours."""
    position = {node: index for row in rows for index, node in enumerate(row)}

    def middle(node: str, neighbours: Sequence[str]) -> float:
        known = [position[each] for each in neighbours]
        return sum(known) / len(known) if known else position[node]

    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        edges = graph.predecessors if down else graph.successors
        for row in rows if down else reversed(rows):
            row.sort(key=lambda node: middle(node, edges[node]))
            position.update({node: index for index, node in enumerate(row)})


def _place(rows: list[list[str]], boxes: dict[str, Box]) -> tuple[float, float]:
    widths = [sum(boxes[node].width for node in row) + GAP_X * max(len(row) - 1, 0) for row in rows]
    widest = max(widths, default=0)
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        x = (widest - width) / 2
        for node in row:
            boxes[node].x, boxes[node].y = x, y
            x += boxes[node].width + GAP_X
        y += max((boxes[node].height for node in row), default=0) + GAP_Y
    return widest, max(y - GAP_Y, 0)
