"""Edges: which step comes after which, and under which condition.

A step runs if any edge into it is taken, and only after everything before it. So a step of a branch has
edges from inside its branch only; what it needs from outside, the entry of the branch waits for. The entry is
the step whose result the condition asks about, or a gate: a step that does nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from stretto.definition.forms.outcomes import failed_condition
from stretto.flow.expressions import Expression, Joined, all_of, negated
from stretto.flow.leaves import status_of
from stretto.flow.nodes import Fork, Level, LoopNode, Node, Region, idle
from stretto.flow.order import needs_of, note_needs
from stretto.flow.trace import Trace

ALWAYS: Final = Joined(("true",))
Edges = dict[Node, Expression]  # what comes before, and the condition on the way


@dataclass(eq=False)
class Linked:
    """A level with its edges: the nodes in order, gates among them, and the edges into each."""

    nodes: list[Node]
    into: dict[Node, Edges] = field(default_factory=dict)


def link(trace: Trace, level: Level) -> Linked:
    """The edges of a level."""
    linked = Linked(list(level.nodes))
    for fork in reversed(level.forks):  # inner ones first: their gates belong to the regions around them
        _enter(trace, linked, fork)
    for node in list(linked.nodes):
        linked.into[node] = _edges(node)
    _guard(trace, linked)
    return linked


# --------------------------------------------------------------------------------------------------- entries
def _enter(trace: Trace, linked: Linked, fork: Fork) -> None:
    """Find or make the node at which the regions of a fork begin."""
    inside = [node for node in linked.nodes if any(node.region.is_in(case) for case in fork.cases)]
    if not inside:
        return
    needs = _outside_needs(fork, inside)
    only = next(iter(needs)) if len(needs) == 1 else None
    if only is not None and only.region is fork.region and _can_decide(only, fork):
        fork.entry = only
        return
    gate = idle(trace.step_id(fork.name, fork.place), fork.region, fork.place)
    gate.after = list(needs.items())
    linked.nodes.insert(linked.nodes.index(inside[0]), gate)
    fork.entry = gate


def _outside_needs(fork: Fork, inside: Iterable[Node]) -> dict[Node, bool]:
    """What the conditions and the steps of all regions of a fork need from outside of them."""
    found: dict[Node, bool] = {} if fork.failed is None else {fork.failed: False}
    for condition in fork.conditions:
        note_needs(found, fork.region.level, condition)
    for node in inside:
        for other, well in needs_of(node).items():
            if not any(other.region.is_in(case) for case in fork.cases):
                found[other] = found.get(other, False) or well
    return found


def _can_decide(node: Node, fork: Fork) -> bool:
    """Whether the conditions can stand on the edges of the node itself: what they read is then its own."""
    return fork.failed is node or not isinstance(node, LoopNode)


# ----------------------------------------------------------------------------------------------------- edges
def _edges(node: Node) -> Edges:
    region, edges = node.region, Edges()
    certain = False  # whether it runs whenever its region does
    for other in needs_of(node):
        if not other.region.is_in(region):
            continue  # the entry of the region waits for it
        edges[other] = ALWAYS
        if other.region is region:
            certain = True
        else:
            anchor = _anchor(other.region, region)
            edges.setdefault(anchor, ALWAYS)
            certain = True
    if not certain and region.fork is not None:
        assert region.fork.entry is not None  # noqa: S101 - there is a node in its region
        edges[region.fork.entry] = _entered(region, region.fork)
    return edges


def _anchor(inner: Region, outer: Region) -> Node:
    """The node of a region at which the branch begins that another region is in."""
    fork = next(each.fork for each in inner.around() if each.fork is not None and each.fork.region is outer)
    assert fork.entry is not None  # noqa: S101 - there is a node in its region
    return fork.entry


def _entered(region: Region, fork: Fork) -> Expression:
    """The condition on the edges from the entry of a region."""
    assert region.condition is not None  # noqa: S101 - all but the root have one
    entry = fork.entry
    if entry is not None and entry.handled and fork.failed is not entry:
        return all_of([succeeded(entry), region.condition])
    return region.condition


def succeeded(node: Node) -> Expression:
    """Whether a step whose failure is handled did not fail."""
    return negated(Joined((failed_condition(node.id),)))


# ---------------------------------------------------------------------------------------------------- guards
def _guard(trace: Trace, linked: Linked) -> None:
    """Steps that need the result of one whose failure is handled run only if it did not fail.

    One edge can say so. Where there are several, one of the others would make the step run: they meet in a
    gate, and the edge from there has the condition.
    """
    doubtful: dict[Node, set[Node]] = {}  # steps that may not run, and the failures that keep them from it
    for node in list(linked.nodes):
        edges = linked.into[node]
        beside = [each for each in needs_of(node).items() if each[0].region is node.region]
        doubts = [other for other, well in beside if well and (other.handled or other in doubtful)]
        if doubts:
            doubtful[node] = {cause for other in doubts for cause in _causes(other, doubtful)}
            _make_conditional(trace, linked, node, doubts, doubtful)
            continue
        for other, _ in beside:  # it runs in any case, and an edge that is always taken must say so
            for cause in doubtful.get(other, ()):
                edges.setdefault(cause, ALWAYS)


def _causes(node: Node, doubtful: dict[Node, set[Node]]) -> set[Node]:
    return doubtful.get(node, set()) | ({node} if node.handled else set())


def _make_conditional(
    trace: Trace, linked: Linked, node: Node, doubts: list[Node], doubtful: dict[Node, set[Node]]
) -> None:
    edges = linked.into[node]
    if len(edges) == 1:
        (only,) = edges
        if only.handled:
            edges[only] = succeeded(only)
        return
    gate = idle(trace.step_id(f"{node.id}_ready", node.place), node.region, node.place)
    for cause in doubtful[node]:
        edges.setdefault(cause, ALWAYS)  # so that the gate itself runs in any case
    linked.into[gate] = edges
    linked.into[node] = {gate: all_of(list(_conditions(doubts, doubtful)))}
    linked.nodes.insert(linked.nodes.index(node), gate)


def _conditions(doubts: list[Node], doubtful: dict[Node, set[Node]]) -> Iterator[Expression]:
    for other in doubts:
        if other.handled:
            yield succeeded(other)
        if other in doubtful:
            yield Joined((f"{status_of(other)} != 'UNSATISFIED'",))
