"""The graph in Graphviz' language; loops are clusters."""

from collections.abc import Sequence

from stretto.definition.drawing.outline import body_of, condition_label, kind_label
from stretto.model.step import AnyStep
from stretto.model.workflow import Workflow


def to_dot(workflow: Workflow) -> str:
    lines = [
        f"digraph {_quoted(workflow.id)} {{",
        "    compound=true; rankdir=TB;",
        '    node [shape=box, style=rounded, fontname="sans-serif"];',
        *_level(workflow.steps, "    "),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _level(steps: Sequence[AnyStep], indent: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        label = _quoted(f"{step.id}\n{kind_label(step)}")
        if body_of(step):
            lines.append(f"{indent}subgraph {_quoted('cluster_' + step.id)} {{")
            lines.append(f"{indent}    label={label};")
            lines.append(f'{indent}    {_quoted(step.id)} [shape=point, label=""];')
            lines += _level(body_of(step), indent + "    ")
            lines.append(f"{indent}}}")
        else:
            lines.append(f"{indent}{_quoted(step.id)} [label={label}];")
    known = {step.id for step in steps}
    for step in steps:
        for target, condition in step.transition.successors.items():
            if target in known:
                text = condition_label(condition)
                note = f" [label={_quoted(text)}]" if text else ""
                lines.append(f"{indent}{_quoted(step.id)} -> {_quoted(target)}{note};")
    return lines


def _quoted(text: str) -> str:
    """A DOT string is a JSON string, but for its escapes of characters that DOT takes as they are."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
