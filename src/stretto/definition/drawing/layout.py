"""Where the boxes go: ranks by longest path, order inside a rank by the middle of the neighbours."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

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
BEND: Final = 8  # room for an edge that passes a row
MOST_BENDS: Final = 5_000  # beyond that, edges go straight
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


class Point(NamedTuple):
    x: float
    y: float


class Line(msgspec.Struct):
    """An edge: from a box to a box, past the rows between them."""

    start: str
    end: str
    bends: list[Point]


class Plan(msgspec.Struct):
    """One level, laid out."""

    boxes: dict[str, Box]
    edges: list[Line]
    width: float
    height: float


def clipped(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def lay_out(steps: Sequence[AnyStep]) -> Plan:
    """Place one level, its loops first, since their size depends on what is in them."""
    graph = Graph.of(steps)
    boxes = {step.id: _box(step) for step in steps}
    routed = _Routes(graph)
    rows = routed.rows()
    _order(rows, routed.graph)
    spots = _place(rows, boxes)
    edges = [
        Line(node, target, [spots.bends[each] for each in routed.between.get((node, target), ())])
        for node in boxes
        for target in graph.successors[node]
    ]
    return Plan(boxes, edges, spots.width, spots.height)


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


class _Routes:
    """Ranks by longest path, with a stand-in in each row that an edge passes: it goes past the boxes."""

    def __init__(self, graph: Graph) -> None:
        self._rank = _ranks(graph)
        self.between: dict[tuple[str, str], list[str]] = {}
        edges: dict[str, list[str]] = {node: [] for node in graph.successors}
        left = MOST_BENDS
        for node, targets in graph.successors.items():
            for target in targets:
                gap = range(self._rank.get(node, 0) + 1, self._rank.get(target, 0))
                # Step ids have no spaces, so a name with one can not be that of a step.
                names = [f"{node} {target} {row}" for row in gap] if len(gap) <= left else []
                left -= len(names)
                self._rank.update(zip(names, gap, strict=False))
                self.between[node, target] = names
                for start, end in pairwise([node, *names, target]):
                    edges.setdefault(start, []).append(end)
        self.graph = Graph(edges)

    def rows(self) -> list[list[str]]:
        rows: list[list[str]] = [[] for _ in range(max(self._rank.values(), default=-1) + 1)] or [[]]
        for node in self.graph.successors:
            rows[self._rank.get(node, 0)].append(node)
        return rows


def _ranks(graph: Graph) -> dict[str, int]:
    """Every step one row below the lowest of its predecessors. Steps on a cycle have none."""
    rank: dict[str, int] = {}
    for node in graph.topological_order():
        before = (rank[each] + 1 for each in graph.predecessors[node] if each in rank)
        rank[node] = max(before, default=0)
    return rank


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


class _Spots(NamedTuple):
    bends: dict[str, Point]
    width: float
    height: float


def _place(rows: list[list[str]], boxes: dict[str, Box]) -> _Spots:
    """Rows one below the other, each in the middle. A stand-in is a point half way down its row."""

    def width_of(node: str) -> float:
        return boxes[node].width if node in boxes else BEND

    widths = [sum(map(width_of, row)) + GAP_X * max(len(row) - 1, 0) for row in rows]
    widest = max(widths, default=0)
    bends: dict[str, Point] = {}
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        height = max((boxes[node].height for node in row if node in boxes), default=0)
        x = (widest - width) / 2
        for node in row:
            if node in boxes:
                boxes[node].x, boxes[node].y = x, y
            else:
                bends[node] = Point(x + BEND / 2, y + height / 2)
            x += width_of(node) + GAP_X
        y += height + GAP_Y
    return _Spots(bends, widest, max(y - GAP_Y, 0))
