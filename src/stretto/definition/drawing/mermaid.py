"""The graph in Mermaid's language; loops are sub-graphs."""

from collections.abc import Sequence
from itertools import count

from stretto.definition.drawing.outline import body_of, condition_label, kind_label
from stretto.model.step import AnyStep
from stretto.model.workflow import Workflow


def to_mermaid(workflow: Workflow) -> str:
    names = _Names()
    lines = ["flowchart TD", *_level(workflow.steps, names, "    ")]
    return "\n".join(lines) + "\n"


class _Names:
    """Mermaid's ids may hold neither dots nor reserved words, so steps get numbers."""

    def __init__(self) -> None:
        self._next = count(1)
        self._known: dict[str, str] = {}

    def __getitem__(self, step_id: str) -> str:
        if step_id not in self._known:
            self._known[step_id] = f"s{next(self._next)}"
        return self._known[step_id]


def _level(steps: Sequence[AnyStep], names: _Names, indent: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        label = f"{step.id}<br/><small>{_escaped(kind_label(step))}</small>"
        if body_of(step):
            lines.append(f'{indent}subgraph {names[step.id]}["{label}"]')
            lines += _level(body_of(step), names, indent + "    ")
            lines.append(f"{indent}end")
        else:
            lines.append(f'{indent}{names[step.id]}["{label}"]')
    known = {step.id for step in steps}
    for step in steps:
        for target, condition in step.transition.successors.items():
            if target in known:
                text = condition_label(condition)
                edge = f'-->|"{_escaped(text)}"|' if text else "-->"
                lines.append(f"{indent}{names[step.id]} {edge} {names[target]}")
    return lines


def _escaped(text: str) -> str:
    for char, code in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("|", "#124;")):
        text = text.replace(char, code)
    return text
