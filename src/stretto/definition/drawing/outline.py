"""What every drawing shows of a step, and the graph as plain data."""

from collections.abc import Sequence
from typing import Any

from stretto.definition.graph import Graph
from stretto.definition.rules.visits import loop_params
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TemplateStep, TypedStep, WhileStep
from stretto.model.workflow import Workflow


def kind_label(step: AnyStep) -> str:
    """`NoOp`, `Notebook/spark`, `foreach day, hour`, `while i < 3`, `subworkflow child`."""
    if isinstance(step, TypedStep):
        return f"{step.type}/{step.sub_type}" if step.sub_type else step.type
    if isinstance(step, ForeachStep):
        found = loop_params(step)
        return f"foreach {', '.join(found.value)}" if found else "foreach"
    if isinstance(step, WhileStep):
        return f"while {' '.join(step.condition.split())}"
    if isinstance(step, SubworkflowStep):
        target = (step.params or {}).get("subworkflow_id")
        return f"subworkflow {target.value or target.expression}" if target else "subworkflow"
    if isinstance(step, TemplateStep):
        return f"template {step.sub_type}" if step.sub_type else "template"
    raise TypeError(step)


def condition_label(condition: str) -> str:
    """What to write on an edge; nothing on one that is always taken."""
    text = " ".join(condition.split()).removesuffix(";")
    return "" if text == "true" else text


def body_of(step: AnyStep) -> Sequence[AnyStep]:
    """The steps inside a loop."""
    return step.steps if isinstance(step, ForeachStep | WhileStep) else ()


def count_steps(steps: Sequence[AnyStep]) -> int:
    """Steps of all levels."""
    return sum(1 + count_steps(body_of(step)) for step in steps)


def outline(workflow: Workflow) -> dict[str, Any]:
    """The graph as JSON: nodes in topological order, edges with conditions, loops with their own graph."""
    return {"workflow_id": workflow.id, **_level(workflow.steps)}


def _level(steps: Sequence[AnyStep]) -> dict[str, Any]:
    graph = Graph.of(steps)
    by_id = {step.id: step for step in steps}
    ordered = graph.topological_order()
    return {
        "sources": graph.sources,
        "sinks": graph.sinks,
        "nodes": [_node(by_id[step_id]) for step_id in ordered],
        "edges": [
            {"from": step_id, "to": target, "condition": by_id[step_id].transition.successors[target]}
            for step_id in ordered
            for target in graph.successors[step_id]
        ],
    }


def _node(step: AnyStep) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": step.id,
        "kind": str(type(step).__struct_config__.tag),
        "label": kind_label(step),
    }
    if step.name:
        node["name"] = step.name
    if step.stage:
        node["stage"] = step.stage
    if body_of(step):
        node["body"] = _level(body_of(step))
    return node
