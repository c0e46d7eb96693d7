"""The graph as lines for a terminal. Each step is written once, below the last of its predecessors.

A single successor follows at the same depth, so that a chain reads like a list; several successors branch.
"""

from collections.abc import Sequence
from typing import NamedTuple

from stretto.definition.drawing.outline import body_of, condition_label, count_steps, kind_label
from stretto.definition.graph import Graph
from stretto.model.step import AnyStep
from stretto.model.workflow import Workflow

DEEPEST = 30  # branches inside branches that are still indented


class Marks(NamedTuple):
    """The characters that lines are drawn with."""

    branch: str
    last: str
    bar: str
    gap: str
    loop: str


UNICODE = Marks("├─ ", "└─ ", "│  ", "   ", "┊  ")
ASCII = Marks("|- ", "`- ", "|  ", "   ", ":  ")


def to_tree(workflow: Workflow, *, ascii_only: bool = False) -> str:
    """The whole workflow, one line per step."""
    count = count_steps(workflow.steps)
    title = f"{workflow.id}: {count} step{'' if count == 1 else 's'}"
    lines = _Lines(ASCII if ascii_only else UNICODE)
    lines.level(workflow.steps, "")
    return "\n".join([title, *lines.out]) + "\n"


class _Lines:
    def __init__(self, marks: Marks) -> None:
        self.out: list[str] = []
        self._marks = marks

    def level(self, steps: Sequence[AnyStep], indent: str) -> None:
        """One graph. The stack holds (step, prefix of its line, prefix of what follows, depth)."""
        graph = Graph.of(steps)
        by_id = {step.id: step for step in steps}
        order = {step_id: index for index, step_id in enumerate(graph.topological_order())}
        children: dict[str, list[str]] = {step_id: [] for step_id in order}
        for step_id in order:
            before = [each for each in graph.predecessors[step_id] if each in order]
            if before:
                children[max(before, key=order.__getitem__)].append(step_id)
        stack = [(step_id, indent, indent, 0) for step_id in reversed(graph.sources)]
        while stack:
            step_id, prefix, below, depth = stack.pop()
            self._step(by_id[step_id], prefix, below, graph)
            stack += reversed(self._placed(children[step_id], below, depth))

    def _placed(self, children: list[str], below: str, depth: int) -> list[tuple[str, str, str, int]]:
        if len(children) < 2 or depth >= DEEPEST:
            return [(child, below, below, depth) for child in children]
        marks = self._marks
        placed = [(child, below + marks.branch, below + marks.bar, depth + 1) for child in children[:-1]]
        return [*placed, (children[-1], below + marks.last, below + marks.gap, depth + 1)]

    def _step(self, step: AnyStep, prefix: str, below: str, graph: Graph) -> None:
        before = graph.predecessors[step.id]
        notes = [f"after {', '.join(before)}"] if len(before) > 1 else []
        notes += [
            f"{target} if {text}"
            for target, condition in step.transition.successors.items()
            if (text := condition_label(condition))
        ]
        note = f"   ({'; '.join(notes)})" if notes else ""
        self.out.append(f"{prefix}{step.id} [{kind_label(step)}]{note}")
        if body_of(step):
            self.level(body_of(step), below + self._marks.loop)
