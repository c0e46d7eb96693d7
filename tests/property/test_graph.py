"""The graph against slow and obvious models."""

from itertools import pairwise, product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from stretto.definition.graph import Graph, runtime_dag
from stretto.definition.restart import covered_steps, incomplete_steps, is_done
from stretto.model.status import StepStatus
from stretto.model.step import Transition, TypedStep

Edges = dict[str, list[str]]
NODES = [f"n{n}" for n in range(8)]


@st.composite
def any_edges(draw: st.DrawFn) -> Edges:
    """Any directed graph, with edges to steps that are not there."""
    nodes = draw(st.lists(st.sampled_from(NODES), unique=True, max_size=8))
    return {node: draw(st.lists(st.sampled_from([*NODES, "gone"]), max_size=4)) for node in nodes}


@st.composite
def acyclic(draw: st.DrawFn) -> Edges:
    nodes = draw(st.permutations(NODES))[: draw(st.integers(0, 8))]
    made = {
        node: draw(st.lists(st.sampled_from(nodes[index + 1 :]), unique=True)) if nodes[index + 1 :] else []
        for index, node in enumerate(nodes)
    }
    return {node: made[node] for node in draw(st.permutations(nodes))}


def pairs(edges: Edges) -> set[tuple[str, str]]:
    return {(node, target) for node, targets in edges.items() for target in targets if target in edges}


def closure(edges: Edges) -> set[tuple[str, str]]:
    """Every pair (a, b) with a way of at least one edge from a to b: Warshall's algorithm."""
    ways = pairs(edges)
    for middle, start, end in product(edges, repeat=3):
        if (start, middle) in ways and (middle, end) in ways:
            ways.add((start, end))
    return ways


@given(any_edges())
def test_neighbours(edges: Edges) -> None:
    graph = Graph(edges)
    assert {(a, b) for a, after in graph.successors.items() for b in after} == pairs(edges)
    assert {(a, b) for b, before in graph.predecessors.items() for a in before} == pairs(edges)
    assert graph.sources == [node for node in edges if not any(b == node for _, b in pairs(edges))]
    assert graph.sinks == [node for node in edges if not any(a == node for a, _ in pairs(edges))]


@given(any_edges())
def test_topological_order(edges: Edges) -> None:
    """Each step once and after its predecessors; only what is on or behind a cycle is left out."""
    order = Graph(edges).topological_order()
    ways = closure(edges)
    on_cycle = {node for node in edges if (node, node) in ways}
    behind = on_cycle | {b for a, b in ways if a in on_cycle}
    assert sorted(order) == sorted(edges.keys() - behind)
    position = {node: index for index, node in enumerate(order)}
    assert all(position[a] < position[b] for a, b in pairs(edges) if b in position)


@given(any_edges(), st.sets(st.sampled_from([*NODES, "gone"])))
def test_reachability(edges: Edges, start: set[str]) -> None:
    ways, known = closure(edges), start & edges.keys()
    assert Graph(edges).reachable(start) == known | {b for a, b in ways if a in known}
    assert Graph(edges).ancestors(start) == known | {a for a, b in ways if b in known}


@given(any_edges())
@example({"a": ["b"], "b": ["a", "c"], "c": ["b"]})
def test_cycles(edges: Edges) -> None:
    """Found if and only if there is one; each is a way along edges back to its start; none share a step."""
    cycles = Graph(edges).cycles()
    ways = closure(edges)
    assert bool(cycles) is any((node, node) in ways for node in edges)
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(step in pairs(edges) for step in pairwise(cycle))
    used = [node for cycle in cycles for node in cycle[1:]]
    assert len(used) == len(set(used))
    rest = {node: targets for node, targets in edges.items() if node not in used}
    assert not any((node, node) in closure(rest) for node in rest)


@given(any_edges(), st.none() | st.sets(st.sampled_from(NODES)), st.none() | st.sets(st.sampled_from(NODES)))
def test_parts(edges: Edges, start: set[str] | None, end: set[str] | None) -> None:
    ways = {*closure(edges), *((node, node) for node in edges)}
    expected = [
        node
        for node in edges
        if (start is None or any((a, node) in ways for a in start & edges.keys()))
        and (end is None or any((node, b) in ways for b in end & edges.keys()))
    ]
    assert Graph(edges).part(start, end) == expected
    steps = [
        TypedStep(id=node, type="NoOp", transition=Transition(successors=dict.fromkeys(targets, "x")))
        for node, targets in edges.items()
    ]
    dag = runtime_dag(steps, start, end)
    assert list(dag) == expected
    kept = {(a, b) for a, b in pairs(edges) if a in dag and b in dag}
    assert {(a, b) for a, each in dag.items() for b in each.successors} == kept
    assert {(a, b) for b, each in dag.items() for a in each.predecessors} == kept


STATUSES = st.dictionaries(st.sampled_from(NODES), st.sampled_from(StepStatus))


@given(acyclic(), STATUSES)
def test_restart_sub_graphs(edges: Edges, statuses: dict[str, StepStatus]) -> None:
    """A restart from what is incomplete covers those steps and all behind them, and nothing else."""
    graph = Graph(edges)
    starts = incomplete_steps(graph, statuses)
    for node in edges:
        status = statuses.get(node, StepStatus.NOT_CREATED)
        bad = status is StepStatus.NOT_CREATED or (status.is_terminal and not status.is_complete)
        assert (node in starts) is bad
    ways = closure(edges)
    assert set(graph.part(starts)) == starts | {b for a, b in ways if a in starts}


@settings(max_examples=200)
@given(acyclic(), st.data())
def test_done_against_playing_it_through(edges: Edges, data: st.DataObject) -> None:
    """Done: no step can begin any more, if a step begins when all before it ended well."""
    graph = Graph(edges)
    roots = graph.sources
    restarted = data.draw(st.none() | st.sampled_from(roots)) if roots else None
    complete: dict[str, bool] = {}
    for node in graph.topological_order():
        ready = all(complete.get(before) for before in graph.predecessors[node])
        waits = restarted is not None and node in roots and node != restarted
        if ready and data.draw(st.booleans() if waits or data.draw(st.booleans()) else st.just(True)):
            complete[node] = data.draw(st.booleans())
    can_begin = [
        node
        for node in edges
        if node not in complete
        and all(complete.get(before) for before in graph.predecessors[node])
        and not (restarted is not None and node in roots and node != restarted)
    ]
    assert is_done(graph, complete, restarted) is not bool(can_begin)


@given(acyclic(), st.data())
def test_covered_steps(edges: Edges, data: st.DataObject) -> None:
    graph = Graph(edges)
    if not graph.sources:
        return
    restarted = data.draw(st.sampled_from(graph.sources))
    created = data.draw(st.sets(st.sampled_from(list(edges))))
    asleep = {root for root in graph.sources if root != restarted and root not in created}
    ways = closure(edges)
    expected = {node for node in edges if node not in asleep and not any((a, node) in ways for a in asleep)}
    assert covered_steps(graph, restarted, created) == expected
