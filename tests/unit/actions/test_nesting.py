"""Places inside loops and subworkflows, and steps over all their iterations."""

import re
from typing import Any

import pytest
from tests.unit.actions.world import ANN, World, flow

from stretto.actions.reading import flatten
from stretto.actions.reading.flatten import get_iteration, list_iterations, summarize_iterations
from stretto.actions.reading.flattening import Wanted
from stretto.actions.reading.iterations import rank_text
from stretto.actions.reading.nesting import (
    get_inline_path,
    get_inline_workflow_id,
    get_readable_path,
    resolve_path,
)
from stretto.actions.reading.workflows import get_version
from stretto.actions.restart import restart
from stretto.engine import effects as todo
from stretto.engine.events import ResultState
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.flatten import StepIteration
from stretto.model.initiator import PathNode
from stretto.model.page import Page
from stretto.model.request import InstanceRestartRequest, PageRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.ports.history import InstancesIn, RunList
from stretto.ports.paging import Slice
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.workflows import read_workflow

RUN = RunKey("flow", 1, 1)


def foreach(step_id: str, name: str, values: list[int], *steps: str) -> str:
    params = f"{{loop_params: {{value: {{{name}: {{value: {values}, type: LONG_ARRAY}}}}, type: MAP}}}}"
    return (
        f"foreach: {{id: {step_id}, params: {params}, steps: [{', '.join(f'{{{each}}}' for each in steps)}]}}"
    )


INNER = foreach(
    "inner", "j", [10, 20, 30], "step: {id: leaf, type: Python}", "step: {id: more.leaf, type: NoOp}"
)
OUTER = foreach("outer", "i", [1, 2], INNER, "step: {id: side, type: NoOp}")
WHILE = (
    "while: {id: again, condition: 'k < 2',"
    " params: {loop_params: {value: {k: {value: 0, type: LONG}}, type: MAP}},"
    " steps: [{step: {id: round, type: NoOp, params: {k: {expression: 'k + 1', type: LONG}}}}]}"
)


def script(effect: todo.StartWork) -> ResultState | None:
    """The second of the three inner iterations fails, everywhere."""
    return ResultState.FATAL_ERROR if effect.attempt.run.instance_id == 2 else ResultState.DONE


def made(*steps: str, runtime: Any = script) -> World:
    world = World(runtime)
    world.publish(flow(*(steps or (OUTER,))))
    world.start()
    return world.settle()


def inline(world: World, step_id: str, run: RunKey = RUN) -> str:
    return next(each.inline_id for each in world.do(world.store.loops(run)) if each.key.step_id == step_id)


# ----------------------------------------------------------------------------------------------------- paths
def test_a_path_leads_into_loops_and_out_again() -> None:
    world = made()
    outer = inline(world, "outer")
    inner = inline(world, "inner", RunKey(outer, 2, 1))
    found = world.do(resolve_path(world.store, ANN, "flow", 1, "latest", "outer[2].inner[3].leaf"))
    assert (found.workflow_id, found.workflow_instance_id, found.workflow_run_id) == (inner, 3, 1)
    assert (found.step_id, found.step_attempt_id) == ("leaf", 1)
    level = world.do(resolve_path(world.store, ANN, "flow", 1, "1", "outer[2].inner[3]"))
    assert (level.workflow_id, level.workflow_instance_id, level.step_id) == (inner, 3, None)
    dotted = world.do(resolve_path(world.store, ANN, "flow", 1, "1", "outer[1].inner[1].more.leaf"))
    assert dotted.step_id == "more.leaf"
    top = world.do(resolve_path(world.store, ANN, "flow", 1, "1", "outer"))
    assert (top.workflow_id, top.step_id, top.step_attempt_id) == ("flow", "outer", 1)
    assert world.do(resolve_path(world.store, ANN, "flow", 1, "1", "")).workflow_id == "flow"
    assert world.do(get_readable_path(world.store, ANN, inner, 3)) == "outer[2].inner[3]"
    for place in (found, level, dotted, top):
        assert (place.root.workflow_id, place.root.workflow_instance_id) == ("flow", 1)
    paths = [found.path, level.path, dotted.path, top.path]
    assert paths == ["outer[2].inner[3].leaf", "outer[2].inner[3]", "outer[1].inner[1].more.leaf", "outer"]


def test_and_back_from_an_iteration_to_its_path() -> None:
    world = made()
    inner = inline(world, "inner", RunKey(inline(world, "outer"), 2, 1))
    back = world.do(resolve_path(world.store, ANN, inner, 3, "latest", ""))
    assert (back.path, back.root.workflow_id, back.step_id) == ("outer[2].inner[3]", "flow", None)
    step = world.do(resolve_path(world.store, ANN, inner, 3, "latest", "leaf"))
    assert step.path == "outer[2].inner[3].leaf"
    assert world.do(resolve_path(world.store, ANN, "flow", 1, "1", step.path)) == step
    assert not world.do(resolve_path(world.store, ANN, "flow", 1, "1", "")).path


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nothing", r"\[nothing\].*workflow \[flow\]"),
        ("outer[9]", r"iteration \[9\] of step \[outer\]"),
        ("outer.inner", r"Step \[outer\].*has started no run"),
        ("outer[1].side[1]", r"iteration \[1\] of step \[side\]"),
        ("outer[1].inner[1].leaf.x", "has started no run"),
        ("outerx", r"\[outerx\]"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_goes(path: str, said: str) -> None:
    world = made()
    with pytest.raises(NotFound, match=said):
        world.do(resolve_path(world.store, ANN, "flow", 1, "1", path))


def test_a_path_leads_into_subworkflows() -> None:
    world = World()
    world.publish(flow("{id: copy, type: Python}", name="clean"))
    world.publish(flow("subworkflow: {id: s, params: {subworkflow_id: {value: clean, type: STRING}}}"))
    world.start()
    world.settle()
    found = world.do(resolve_path(world.store, ANN, "flow", 1, "1", "s.copy"))
    assert (found.workflow_id, found.workflow_instance_id, found.step_id) == ("clean", 1, "copy")


def test_a_step_that_was_not_created_has_no_attempt() -> None:
    world = made("{id: a, type: Python}", "{id: b, type: NoOp}", runtime=lambda _effect: None)
    assert world.do(resolve_path(world.store, ANN, "flow", 1, "1", "a")).step_attempt_id == 1
    world.publish(
        flow("subworkflow: {id: s, params: {subworkflow_id: {value: none, type: STRING}}}", name="x")
    )
    world.start("x")
    assert world.do(resolve_path(world.store, ANN, "x", 1, "1", "s")).step_attempt_id is None
    with pytest.raises(NotFound, match="has started no run"):
        world.do(resolve_path(world.store, ANN, "x", 1, "1", "s.copy"))
    with pytest.raises(NotFound, match="iteration"):
        world.do(resolve_path(world.store, ANN, "x", 1, "1", "s[1]"))


def test_the_step_attempts_around_an_iteration() -> None:
    world = made()
    outer = inline(world, "outer")
    inner = inline(world, "inner", RunKey(outer, 2, 1))
    path = world.do(get_inline_path(world.store, ANN, inner, 3))
    assert [(each.workflow_id, each.instance_id, each.step_id) for each in path] == [
        ("flow", 1, "outer"),
        (outer, 2, "inner"),
        (inner, 3, None),
    ]
    assert [(each.run_id, each.step_attempt_id) for each in path] == [(1, 1), (1, 1), (0, 0)]
    single = world.do(get_inline_path(world.store, ANN, outer, 1))
    assert [(each.workflow_id, each.step_id) for each in single] == [("flow", "outer"), (outer, None)]
    with pytest.raises(InvalidRequest, match="not an iteration"):
        world.do(get_inline_path(world.store, ANN, "flow", 1))


def node(workflow_id: str, instance_id: int, step_id: str) -> PathNode:
    return PathNode(workflow_id=workflow_id, instance_id=instance_id, step_id=step_id)


def test_the_inline_workflow_that_a_step_is_in() -> None:
    world = made()
    outer = inline(world, "outer")
    inner = inline(world, "inner", RunKey(outer, 2, 1))
    first, second = node("flow", 1, "outer"), node(outer, 2, "inner")

    def found(*path: PathNode) -> str:
        return world.do(get_inline_workflow_id(world.store, ANN, path))

    assert found(first, node(outer, 1, "side")) == outer
    assert found(first, second) == outer
    assert found(first, second, node(inner, 3, "leaf")) == inner
    assert found(first, node("anything", 2, "any"), node("else", 1, "leaf")) == inner  # the last step counts


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ([("flow", 1, "outer")], "outer"),
        ([("flow", 1, "outer"), ("x", 1, "leaf")], "outer, inner, leaf"),
        ([("flow", 1, "outer"), ("x", 1, "inner"), ("y", 1, "side")], "outer, side"),
        ([("flow", 1, "outer"), ("x", 1, "nosuch")], ""),
    ],
)
def test_a_path_must_lead_to_a_step_inside_a_loop(path: list[tuple[str, int, str]], names: str) -> None:
    world = made()
    with pytest.raises(InvalidRequest, match=re.escape(f"Inline workflow step path [[{names}]] is invalid")):
        world.do(get_inline_workflow_id(world.store, ANN, [node(*each) for each in path]))


def test_an_empty_path_leads_nowhere() -> None:
    with pytest.raises(InvalidRequest, match="must name a step"):
        made().do(get_inline_workflow_id(made().store, ANN, ()))


def test_a_while_has_an_inline_id_of_its_kind() -> None:
    world = made(WHILE)
    internal_id = world.do(read_workflow(world.store, "flow")).internal_id  # type: ignore[union-attr]
    path = (node("flow", 1, "again"), node("x", 1, "round"))
    expected = inline_workflow_id(Loop.WHILE, internal_id, "flow", 1, "again", 1)
    assert world.do(get_inline_workflow_id(world.store, ANN, path)) == expected == inline(world, "again")


def test_an_inline_workflow_has_the_version_around_it() -> None:
    world = made()
    version = world.do(get_version(world.store, ANN, inline(world, "outer"), "1"))
    assert [step.id for step in version.workflow.steps] == ["inner", "side"]
    assert version.properties_snapshot is not None
    assert version.properties_snapshot.workflow_id == "flow"
    with pytest.raises(NotFound):
        world.do(get_version(world.store, ANN, "maestro_foreach_x", "1"))


# ------------------------------------------------------------------------------------------------- iterations
def pages(world: World, step_id: str = "leaf", **request: Any) -> Page[StepIteration]:
    wanted = request.pop("wanted", Wanted())
    return world.do(list_iterations(world.store, ANN, RUN, step_id, PageRequest(**request), wanted))


def ranks(page: Page[StepIteration]) -> list[str]:
    return [each.iteration_rank for each in page.elements]


EVERY = ["11-11", "11-12", "11-13", "12-11", "12-12", "12-13"]


def test_the_iterations_of_nested_loops_are_one_list() -> None:
    world = made()
    page = pages(world, first=100)
    assert ranks(page) == EVERY
    one = page.elements[4]
    assert one.loop_params == {"i": 2, "j": 20}
    assert one.step_runtime_state is not None
    assert one.step_runtime_state.status is StepStatus.FATALLY_FAILED
    assert one.step_attempt_seq == "11-11-11-11-11-11"
    assert one.leaf_step_instance_ref is not None
    assert one.leaf_step_instance_ref.workflow_instance_id == 2
    assert (one.workflow_id, one.workflow_run_id, one.step_id) == ("flow", 1, "leaf")
    assert ranks(pages(world, "side", first=5)) == ["11", "12"]


def test_ranks_sort_as_texts() -> None:
    numbers = [(1,), (9,), (10,), (25, 4), (100,), (10**9,), (10**12,)]
    texts = [rank_text(each) for each in numbers]
    assert texts == ["11", "19", "210", "225-14", "3100", "A1000000000", "D1000000000000"]
    assert texts == sorted(texts)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_pages_meet_without_a_gap(size: int) -> None:
    world = made()
    read: list[str] = []
    page = pages(world, first=size)
    assert page.page_info.has_previous_page is False
    read += ranks(page)
    while page.page_info.has_next_page:
        page = pages(world, first=size, cursor=page.page_info.end_cursor)
        read += ranks(page)
    assert read == EVERY
    page = pages(world, last=size)
    assert page.page_info.has_next_page is False
    read = ranks(page)
    while page.page_info.has_previous_page:
        page = pages(world, last=size, cursor=page.page_info.start_cursor)
        assert page.page_info.has_next_page
        read = ranks(page) + read
    assert read == EVERY


def test_filters() -> None:
    world = made()
    failed = Wanted(statuses=[StepStatus.FATALLY_FAILED])
    assert ranks(pages(world, first=9, wanted=failed)) == ["11-12", "12-12"]
    assert ranks(pages(world, first=9, wanted=Wanted(loop_params={"i": 2, "j": 30}))) == ["12-13"]
    assert ranks(pages(world, first=9, wanted=Wanted(loop_params={"x": 2}))) == []


def test_a_filter_looks_at_a_bounded_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatten, "LOOK_AT", 4)
    world = made()
    failed = Wanted(statuses=[StepStatus.FATALLY_FAILED])
    page = pages(world, first=9, wanted=failed)
    assert (ranks(page), page.page_info.has_next_page) == (["11-12"], True)
    rest = pages(world, first=9, wanted=failed, cursor=page.page_info.end_cursor)
    assert (ranks(rest), rest.page_info.has_next_page) == (["12-12"], False)
    none = pages(world, first=9, wanted=Wanted(loop_params={"i": 9}))
    assert (ranks(none), none.page_info.start_cursor, none.page_info.end_cursor is None) == ([], None, False)


@pytest.mark.parametrize("cursor", ["%%%", "é", "MTE=", "MTEtMTEtMTE=", "LQ==", "MTEtMDE="])
def test_strange_cursors_are_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="Invalid cursor"):
        pages(made(), first=2, cursor=cursor)


def test_many_iterations_are_read_in_batches() -> None:
    world = made(foreach("f", "i", list(range(450)), "step: {id: leaf, type: NoOp}"))
    assert len(pages(world, first=200).elements) == 200
    last = pages(world, last=3)
    assert ranks(last) == ["3448", "3449", "3450"]
    cursor = pages(world, first=200).page_info.end_cursor
    assert len(pages(world, first=200, cursor=cursor).elements) == 200


def test_steps_that_are_not_in_loops() -> None:
    world = made(OUTER, "{id: a, type: NoOp}")
    with pytest.raises(InvalidRequest, match="not inside a loop"):
        pages(world, "a", first=1)
    with pytest.raises(NotFound, match=r"no step \[nothing\]"):
        pages(world, "nothing", first=1)


def test_a_loop_that_has_not_begun_has_no_iterations() -> None:
    first = "{id: a, type: Python, transition: {successors: {outer: 'true'}}}"
    world = made(first, OUTER, runtime=lambda _effect: None)
    assert pages(world, first=5).elements == ()
    summary = world.do(summarize_iterations(world.store, ANN, RUN, "leaf", status_count=True))
    assert (summary.representative_iteration, summary.range, summary.count_by_status) == (None, None, {})


def test_one_iteration() -> None:
    world = made()
    found = world.do(get_iteration(world.store, ANN, RUN, "leaf", "2-3"))
    assert found.iteration_rank == "12-13"
    for missing in ("2-4", "9-1", "0-0"):
        with pytest.raises(NotFound, match=missing):
            world.do(get_iteration(world.store, ANN, RUN, "leaf", missing))
    for strange in ("2", "2-3-4", "a-b", "", "2--3"):
        with pytest.raises(InvalidRequest, match="Invalid iteration") as caught:
            world.do(get_iteration(world.store, ANN, RUN, "leaf", strange))
        assert caught.value.hint == "2 numbers, joined by `-`"


def test_the_summary() -> None:
    world = made()
    summary = world.do(summarize_iterations(world.store, ANN, RUN, "leaf", status_count=True, value_count=2))
    assert summary.count_by_status == {StepStatus.SUCCEEDED: 4, StepStatus.FATALLY_FAILED: 2}
    assert summary.range == (1, 2)
    assert summary.loop_param_values == {"i": [1, 2], "j": [10, 20]}
    worst = summary.representative_iteration
    assert worst is not None
    assert worst.iteration_rank == "12-12"
    assert worst.step_attempt_seq == "11-11-11-11-11-11"
    small = world.do(summarize_iterations(world.store, ANN, RUN, "leaf", representative=False))
    assert (small.representative_iteration, small.count_by_status) == (None, None)


def test_a_summary_does_not_count_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    world = made()
    monkeypatch.setattr(flatten, "SAMPLE", 2)
    monkeypatch.setattr(flatten, "COUNT_AT_MOST", 5)
    few = world.do(summarize_iterations(world.store, ANN, RUN, "leaf"))
    assert few.loop_param_values == {"i": [1], "j": [10, 20]}
    with pytest.raises(InvalidRequest, match="more than 5 iterations"):
        world.do(summarize_iterations(world.store, ANN, RUN, "leaf", status_count=True))


def test_a_loop_without_iterations_is_worth_no_look() -> None:
    world = made()

    runs = world.store.runs

    async def nothing(selection: RunList) -> Slice[Any]:
        return Slice() if isinstance(selection, InstancePage | InstancesIn) else await runs(selection)

    world.swap("runs", nothing)
    assert world.do(summarize_iterations(world.store, ANN, RUN, "leaf")).representative_iteration is None


def test_a_step_that_was_not_created_in_an_iteration_is_not_shown() -> None:
    first = "step: {id: first, type: Python, transition: {successors: {leaf: 'true'}}}"
    world = made(foreach("f", "i", [1, 2, 3], first, "step: {id: leaf, type: NoOp}"))
    assert ranks(pages(world, first=9)) == ["11", "13"]
    summary = world.do(summarize_iterations(world.store, ANN, RUN, "leaf", status_count=True))
    assert summary.count_by_status == {StepStatus.SUCCEEDED: 2}
    assert summary.representative_iteration is None  # the one that failed never came so far


def test_a_while_can_be_flattened_too() -> None:
    world = made(WHILE)
    page = pages(world, "round", first=9)
    assert [(each.iteration_rank, each.loop_params) for each in page.elements] == [
        ("11", {"k": 0}),
        ("12", {"k": 1}),
    ]


def test_what_an_older_run_of_an_iteration_left_still_counts() -> None:
    steps = ("step: {id: leaf, type: Python}", "step: {id: side, type: NoOp}")
    world = made(foreach("f", "i", [1, 2], *steps))
    world.runtime = lambda _effect: ResultState.DONE
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    assert world.settle().status() == "SUCCEEDED"
    second = RUN._replace(run_id=2)
    page = world.do(list_iterations(world.store, ANN, second, "side", PageRequest(first=9)))
    assert ranks(page) == ["11", "12"]
    leaves = world.do(list_iterations(world.store, ANN, second, "leaf", PageRequest(first=9))).elements
    assert [each.step_attempt_seq for each in leaves] == ["12-11-11-11", "12-11-12-11"]
    newest = world.do(resolve_path(world.store, ANN, "flow", 1, "2", "f[2].leaf"))
    assert newest.workflow_run_id == 2
