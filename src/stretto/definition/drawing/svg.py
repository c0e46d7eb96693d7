"""The graph as SVG: one file, no script, readable in light and dark."""

from collections import Counter
from html import escape
from itertools import pairwise
from typing import Final

from stretto.definition.drawing.layout import LINE, PAD, Box, Line, Plan, Point, clipped, lay_out
from stretto.definition.drawing.outline import condition_label
from stretto.model.workflow import Workflow

MARGIN: Final = 24
STYLE: Final = """
    .box { fill: #ffffff; stroke: #4b5563; stroke-width: 1.2; }
    .loop { fill: #f3f4f6; stroke: #6b7280; stroke-dasharray: 5 3; }
    .edge { fill: none; stroke: #6b7280; stroke-width: 1.2; }
    .tip { fill: #6b7280; }
    text { font-family: ui-sans-serif, system-ui, sans-serif; font-size: 13px; fill: #111827; }
    .kind, .when { font-size: 11px; fill: #6b7280; }
    @media (prefers-color-scheme: dark) {
      .box { fill: #1f2937; stroke: #9ca3af; } .loop { fill: #111827; }
      .edge { stroke: #9ca3af; } .tip { fill: #9ca3af; }
      text { fill: #f9fafb; } .kind, .when { fill: #9ca3af; }
    }
"""


TIP: Final = """\
  <defs>
    <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
      <path class="tip" d="M0,0 L8,4 L0,8 z"/>
    </marker>
  </defs>"""


def to_svg(workflow: Workflow) -> str:
    plan = lay_out(workflow.steps)
    width, height = plan.width + 2 * MARGIN, plan.height + 2 * MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
        f"  <title>{escape(workflow.id)}</title>",
        f"  <style>{STYLE}  </style>",
        TIP,
        *_level(plan, MARGIN, MARGIN),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _level(plan: Plan, left: float, top: float) -> list[str]:
    lines: list[str] = []
    for box in plan.boxes.values():
        lines += _box(box, left + box.x, top + box.y)
    labelled = Counter(line.end for line in plan.edges if _condition(plan, line))
    for line in plan.edges:
        lines += _edge(plan, line, left, top, crowded=labelled[line.end] > 1)
    return lines


def _condition(plan: Plan, line: Line) -> str:
    return condition_label(plan.boxes[line.start].step.transition.successors[line.end])


def _box(box: Box, x: float, y: float) -> list[str]:
    kind = "box loop" if box.inner else "box"
    corner = f'x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    middle = x + box.width / 2
    lines = [
        f'  <rect class="{kind}" {corner} rx="6"/>',
        _text(box.title, "name", middle, y + LINE),
        _text(box.subtitle, "kind", middle, y + 2 * LINE),
    ]
    if box.inner:
        inset = (box.width - box.inner.width) / 2
        lines += _level(box.inner, x + inset, y + 2 * LINE + PAD)
    return lines


def _text(text: str, kind: str, x: float, y: float) -> str:
    shown = escape("".join(char if char.isprintable() else " " for char in text))  # as XML demands
    return f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{shown}</text>'


def _edge(plan: Plan, line: Line, left: float, top: float, *, crowded: bool) -> list[str]:
    """A curve from below one box to above the other; its condition stands where it is alone."""
    start, end = plan.boxes[line.start], plan.boxes[line.end]
    points = [
        Point(left + start.x + start.width / 2, top + start.y + start.height),
        *(Point(left + bend.x, top + bend.y) for bend in line.bends),
        Point(left + end.x + end.width / 2, top + end.y),
    ]
    path = f"M{points[0].x:.1f},{points[0].y:.1f}"
    for one, other in pairwise(points):
        bend = max((other.y - one.y) / 2, 16)
        path += (
            f" C{one.x:.1f},{one.y + bend:.1f} {other.x:.1f},{other.y - bend:.1f} {other.x:.1f},{other.y:.1f}"
        )
    lines = [f'  <path class="edge" d="{path}" marker-end="url(#tip)"/>']
    text = _condition(plan, line)
    if text:
        one, other = points[:2] if crowded else points[-2:]
        share = 0.3 if crowded else 0.75
        x, y = one.x + (other.x - one.x) * share, one.y + (other.y - one.y) * share
        lines.append(_text(clipped(text), "when", x, y))
    return lines
