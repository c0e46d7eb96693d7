"""Which step runs after which, where no value says it."""

from collections.abc import Iterable
from typing import Any

from stretto.flow.errors import TraceError
from stretto.flow.expressions import Expression
from stretto.flow.nodes import Level, Node
from stretto.model.step import FailureMode


def node_of(given: Any, what: str) -> Node:
    """The step that a reference is the result of."""
    found = getattr(type(given), "stretto_node", None)
    node = None if found is None else found(given)
    if not isinstance(node, Node):
        raise TraceError(
            f"{what} needs the result of a step, not {_shown(given)}",
            "give what the call of the step returned",
        )
    return node


def ignore_failure(node: Node) -> None:
    """Let the run go on if a step fails; steps that need its result do not run then."""
    mode = node.fields.get("failure_mode")
    if mode not in {None, FailureMode.IGNORE_FAILURE}:
        raise TraceError(
            f"the failure of `{node.id}` is handled, so its failure mode can not be {mode}",
            "leave out the mode",
        )
    node.fields["failure_mode"] = FailureMode.IGNORE_FAILURE
    node.handled = True


def _shown(given: Any) -> str:
    return "a value computed from it" if found_value(given) else f"a {type(given).__name__}"


def found_value(given: Any) -> bool:
    return hasattr(type(given), "stretto_value")


def run_after(given: Any, others: Iterable[Any]) -> None:
    """A step that was called already waits for others, too."""
    node = node_of(given, "`.after(...)`")
    for other in others:
        wait_for(node, node_of(other, "`.after(...)`"))


def wait_for(node: Node, other: Node) -> None:
    """Let a step run after another one. Between loops, the loops wait for each other."""
    level, before = other.region.level, other
    while not level.contains(node.region.level):
        if level.loop is None:
            raise TraceError(
                f"`{node.id}` and `{other.id}` belong to different workflows",
                "order the steps of one workflow",
            )
        before, level = level.loop, level.loop.region.level
    waiting = node if node.region.level is level else level.loop_around(node.region.level)
    if before.order >= waiting.order:
        _move_behind(waiting, before, node, other)
    waiting.after.append((before, True))


def _move_behind(waiting: Node, before: Node, node: Node, other: Node) -> None:
    """Let a step be called later than it was: `wait().after(prepare())` calls `wait` first. Only a step that
    nothing else needs yet can be moved.
    """
    nodes = waiting.region.level.nodes
    between = nodes[waiting.order + 1 : before.order + 1]
    forks = [each for fork in waiting.region.level.forks for each in fork.conditions]
    if waiting is before or any(waiting in needs_of(each) for each in between) or _is_read(waiting, forks):
        raise TraceError(
            f"`{node.id}` would wait for `{other.id}`, which comes later",
            "call the steps in the order they run",
        )
    nodes.remove(waiting)
    nodes.insert(nodes.index(before) + 1, waiting)
    for order, each in enumerate(nodes):
        each.order = order


def _is_read(node: Node, expressions: Iterable[Expression]) -> bool:
    return any(node is each for made in expressions for leaf in made.leaves() for each, _ in leaf.needs)


def needs_of(node: Node) -> dict[Node, bool]:
    """What a node waits for at its level, and whether that must have ended well."""
    level = node.region.level
    found: dict[Node, bool] = {}
    for expression in node.expressions():
        note_needs(found, level, expression)
    for other, well in node.after:
        found[other] = found.get(other, False) or well
    found.pop(node, None)
    return found


def note_needs(found: dict[Node, bool], level: Level, expression: Expression) -> None:
    """Add the steps that an expression at a level waits for."""
    for leaf in expression.leaves():
        if leaf.home is level:
            for other, well in leaf.needs:
                found[other] = found.get(other, False) or well
