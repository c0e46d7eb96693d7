"""Behaviour cases of the areas `dag`, `dag-restart` and `dag-progress`, one test for each."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.corpus import corpus

from stretto.definition import check, parse
from stretto.definition.graph import Graph, runtime_dag
from stretto.definition.restart import covered_steps, incomplete_steps, is_done, waiting_roots
from stretto.model.errors import InvalidRequest
from stretto.model.status import StepStatus
from stretto.model.step import Transition, TypedStep

pytestmark = pytest.mark.conformance

DAG = cases_of("dag")
RESTART = cases_of("dag-restart")
PROGRESS = cases_of("dag-progress")


def test_all_cases_are_here() -> None:
    assert (len(DAG), len(RESTART), len(PROGRESS)) == (15, 9, 12)


def steps_of(given: Case) -> tuple[Any, ...]:
    """The steps of the file; the edges that the case prints must be the same."""
    edges = given.get("edges") or {name: body["successors"] for name, body in given["steps"].items()}
    bare = {name: [target.split()[0] for target in targets] for name, targets in edges.items()}
    file = given.get("data_file")
    if file is None or "workflows/request" not in file:
        return tuple(
            TypedStep(id=name, type="NoOp", transition=Transition(successors=dict.fromkeys(targets, "true")))
            for name, targets in bare.items()
        )
    steps = parse(corpus(*file.split("/")).read_text(encoding="utf-8")).workflow.steps
    assert {step.id: set(step.transition.successors) for step in steps} == {
        name: set(targets) for name, targets in bare.items()
    }
    return steps


def check_paths(paths: list[list[str]], dag: dict[str, Transition]) -> None:
    """Maestro cuts a graph into sequential paths; `#x` is the gate before x. We compare the graph itself.

    Each step is in one path only; a path follows edges; what is not reached from the step before it on its
    path is behind a gate, or is a root.
    """
    real = [[name for name in path if not name.startswith("#")] for path in paths]
    assert sorted(name for path in real for name in path) == sorted(dag)
    gates = {name[1:] for path in paths for name in path if name.startswith("#")}
    for path in real:
        for before, after in pairwise(path):
            assert after in dag[before].successors
        first = path[0]
        assert first in gates or not dag[first].predecessors
    assert {name for name, edges in dag.items() if len(edges.predecessors) > 1} <= gates
    assert all(dag[gate].predecessors for gate in gates)


def check_dag(expected: Case, dag: dict[str, Transition]) -> None:
    assert expected.keys() == dag.keys()
    for name, edges in expected.items():
        assert set(edges["predecessors"]) == set(dag[name].predecessors)
        assert edges["successors"] == dag[name].successors


@pytest.mark.parametrize("case", DAG.values(), ids=DAG)
def test_dag(case: Case) -> None:
    given, then = case["given"], Then(case)
    if "error" in then:
        text = corpus(*given["data_file"].split("/")).read_text(encoding="utf-8")
        steps_of(given)
        [problem] = check(text).problems
        assert then.take("error") in problem.message
        then.assert_all_taken()
        return
    dag = runtime_dag(steps_of(given), given.get("start_step_ids"), given.get("end_step_ids"))
    paths = then.take("paths")
    check_paths(paths, dag)
    if "path_count" in then:
        assert then.take("path_count") == len(paths)
    if "dag" in then:
        check_dag(then.take("dag"), dag)
    if "note" in then:
        assert "hash-map order" in then.take("note")  # why the layout is not compared
    then.assert_all_taken()


def restart_starts(given: Case, steps: Iterable[Any]) -> set[str] | None:
    """Where a run begins, by the policy of the restart."""
    graph = Graph.of(steps)
    statuses = {name: StepStatus(status) for name, status in given["aggregated"].items()}
    match given["policy"]:
        case None | "RESTART_FROM_BEGINNING":
            return None
        case "RESTART_FROM_INCOMPLETE":
            return incomplete_steps(graph, statuses)
        case "RESTART_FROM_SPECIFIC":
            step = given.get("restart_step") or given["restart_path"][-1]["step_id"]
            return {step} | incomplete_steps(graph, statuses)
        case "RESTART_CUSTOMIZED_RUN":
            return set(given["start_step_ids"])
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("case", RESTART.values(), ids=RESTART)
def test_restart(case: Case) -> None:
    then = Then(case)
    steps = steps_of(case["given"])
    dag = runtime_dag(steps, restart_starts(case["given"], steps))
    if "step_ids" in then:
        assert set(then.take("step_ids")) == dag.keys()
    if "dag" in then:
        check_dag(then.take("dag"), dag)
    then.assert_all_taken()


@pytest.mark.parametrize("case", PROGRESS.values(), ids=PROGRESS)
def test_progress(case: Case) -> None:
    given, then = case["given"], Then(case)
    graph = Graph.of(steps_of(given))
    restarted = given.get("restart_step")
    if "done" in then:
        assert is_done(graph, given["status"], restarted) is then.take("done")
        if "why" in then:
            assert then.take("why")  # a remark for readers
    if "not_created_roots" in then:
        assert waiting_roots(graph, restarted) == then.take("not_created_roots")
    if "error" in then:
        with pytest.raises(InvalidRequest) as caught:
            waiting_roots(graph, restarted)
        assert then.take("error") in str(caught.value)
    if "step_ids" in then:
        assert covered_steps(graph, restarted, given["created_steps"]) == set(then.take("step_ids"))
    then.assert_all_taken()
