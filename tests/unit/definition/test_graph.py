"""The graph of one level: order, reachability, cycles, parts."""

from stretto.definition import parse
from stretto.definition.graph import Graph, runtime_dag

DIAMOND = Graph({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": [], "e": []})


def test_sources_sinks_and_neighbours() -> None:
    assert (DIAMOND.sources, DIAMOND.sinks) == (["a", "e"], ["d", "e"])
    assert DIAMOND.predecessors["d"] == ("b", "c")
    assert DIAMOND.successors["a"] == ("b", "c")


def test_edges_to_unknown_steps_and_repeated_ones_are_left_out() -> None:
    assert Graph({"a": ["b", "b", "x"], "b": []}).successors == {"a": ("b",), "b": ()}


def test_topological_order_keeps_the_order_of_the_definition() -> None:
    assert DIAMOND.topological_order() == ["a", "e", "b", "c", "d"]
    assert Graph({"b": [], "a": []}).topological_order() == ["b", "a"]


def test_reachability() -> None:
    assert DIAMOND.reachable(["b"]) == {"b", "d"}
    assert DIAMOND.reachable(["b", "x"]) == {"b", "d"}
    assert DIAMOND.ancestors(["d"]) == {"a", "b", "c", "d"}


def test_cycles() -> None:
    assert DIAMOND.cycles() == []
    assert Graph({"a": ["a"]}).cycles() == [["a", "a"]]
    assert Graph({"a": ["b"], "b": ["a"]}).cycles() == [["a", "b", "a"]]


def test_what_only_leads_to_a_cycle_or_away_from_it_is_not_in_it() -> None:
    graph = Graph({"x": ["y"], "y": ["b"], "b": ["c"], "c": ["b", "z", "q"], "z": [], "q": ["z"]})
    assert graph.cycles() == [["b", "c", "b"]]
    assert graph.topological_order() == ["x", "y"]


def test_several_cycles_and_a_bound() -> None:
    pairs = {f"a{n}": [f"b{n}"] for n in range(12)} | {f"b{n}": [f"a{n}"] for n in range(12)}
    assert len(Graph(pairs).cycles()) == 10
    assert len(Graph(pairs).cycles(most=99)) == 12


def test_a_cycle_through_another_that_was_taken_is_not_named_again() -> None:
    graph = Graph({"a": ["b"], "b": ["a", "c"], "c": ["b"]})
    assert graph.cycles() == [["a", "b", "a"]]


def test_a_hub_with_many_edges_takes_no_quadratic_time() -> None:
    spokes = [f"s{n}" for n in range(20_000)]
    graph = Graph({"hub": ["ring", *spokes], "ring": ["hub"], **{spoke: [] for spoke in spokes}})
    assert graph.cycles() == [["hub", "ring", "hub"]]


def test_a_long_cycle() -> None:
    names = [f"n{n}" for n in range(50_000)]
    graph = Graph({name: [names[(n + 1) % len(names)]] for n, name in enumerate(names)})
    assert len(graph.cycles()[0]) == 50_001


def test_part() -> None:
    assert DIAMOND.part() == ["a", "b", "c", "d", "e"]
    assert DIAMOND.part(start=["b"]) == ["b", "d"]
    assert DIAMOND.part(end=["b"]) == ["a", "b"]
    assert DIAMOND.part(start=["a"], end=["c"]) == ["a", "c"]
    assert DIAMOND.part(start=[]) == []


def test_the_dag_of_a_run_keeps_conditions_and_counts_predecessors_anew() -> None:
    steps = parse(
        """
        workflow:
          id: x
          jobs:
            - job: {id: a, type: noop, transition: [IF n > 1 THEN c, b]}
            - job: {id: b, type: noop, transition: [c]}
            - job: {id: c, type: noop}
        """
    ).workflow.steps
    dag = runtime_dag(steps, start=["b"])
    assert {key: (each.predecessors, each.successors) for key, each in dag.items()} == {
        "b": ((), {"c": "true"}),
        "c": (("b",), {}),
    }
    assert runtime_dag(steps)["a"].successors == {"c": "n > 1", "b": "true"}
