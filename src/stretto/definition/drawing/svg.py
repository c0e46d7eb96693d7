"""The graph as SVG: one file, no script, readable in light and dark."""

from html import escape
from typing import Final

from stretto.definition.drawing.layout import LINE, PAD, Box, Plan, clipped, lay_out
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
    for start, end in plan.edges:
        lines += _edge(plan.boxes[start], plan.boxes[end], left, top)
    return lines


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


def _edge(start: Box, end: Box, left: float, top: float) -> list[str]:
    x1, y1 = left + start.x + start.width / 2, top + start.y + start.height
    x2, y2 = left + end.x + end.width / 2, top + end.y
    bend = max((y2 - y1) / 2, 16)
    path = f"M{x1:.1f},{y1:.1f} C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} {x2:.1f},{y2:.1f}"
    lines = [f'  <path class="edge" d="{path}" marker-end="url(#tip)"/>']
    text = condition_label(start.step.transition.successors[end.step.id])
    if text:
        lines.append(_text(clipped(text), "when", (x1 + x2) / 2, (y1 + y2) / 2))
    return lines
