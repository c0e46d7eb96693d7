"""Which step runs after which, where no value says it."""

from collections.abc import Iterable
from typing import Any

from stretto.flow.errors import TraceError
from stretto.flow.nodes import Node


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
        raise TraceError(
            f"`{node.id}` would wait for `{other.id}`, which comes later",
            "call the steps in the order they run",
        )
    waiting.after.append((before, True))
