"""Runs of all workflows: what may be asked for, in which order, and how many there are."""

from typing import Any

import pytest
from tests.unit.actions.test_lists import ANY, runs, with_runs
from tests.unit.actions.world import ANN, WORK, World, flow, going_on

from stretto.actions.reading.all_runs import RunExtra, get_run_histogram, list_all_runs
from stretto.actions.reading.histogram import Histogram
from stretto.actions.reading.run_filters import RunSort, above_in, initiator_in, sort_in
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.page import Count, Page
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.ports.history import Above, RunFilter

TOP = RunKey("flow", 1, 1)
SUB = "subworkflow: {id: s, params: {subworkflow_id: {value: child, type: STRING}}}"


def nested() -> World:
    world = World(going_on)
    world.publish(flow(WORK, name="leaf"))
    world.publish(flow(SUB.replace("child", "leaf"), name="child"))
    world.publish(flow(SUB))
    world.start()
    return world.settle()


def listed(world: World, wanted: RunFilter, request: PageRequest = ANY, **more: Any) -> Page[Any]:
    return world.do(list_all_runs(world.store, ANN, wanted, request, **more))


# ------------------------------------------------------------------------------------------------------ order
def test_the_oldest_first() -> None:
    world = with_runs()

    def page(**request: Any) -> Page[Any]:
        return listed(world, RunFilter(), PageRequest(**request), sort=RunSort.OLDEST)

    first = page(first=3)
    assert runs(first) == [("bad", 1), ("good", 1), ("good", 2)]
    assert (first.page_info.has_previous_page, first.page_info.has_next_page) == (False, True)
    second = page(first=3, cursor=first.page_info.end_cursor)
    assert runs(second) == [("bad", 2)]
    assert (second.page_info.has_previous_page, second.page_info.has_next_page) == (True, False)
    back = page(last=2, cursor=second.page_info.start_cursor)
    assert runs(back) == [("good", 1), ("good", 2)]
    assert (back.page_info.has_previous_page, back.page_info.has_next_page) == (True, True)


def test_there_is_no_order_without_an_index() -> None:
    assert sort_in(None) is sort_in("-CREATE_TIME") is RunSort.NEWEST
    assert sort_in("create_time") is RunSort.OLDEST
    with pytest.raises(InvalidRequest) as refused:
        sort_in("duration")
    assert "no other order has one" in str(refused.value.hint)


# ------------------------------------------------------------------------------------------------------ count
def test_how_many_there_are() -> None:
    world = with_runs()
    assert listed(world, RunFilter()).count is None
    page = listed(world, RunFilter(), PageRequest(first=1), include=[RunExtra.COUNT])
    assert (page.count, page.total_count) == (Count(value=4, exact=True), 4)
    failed = RunFilter(statuses=[RunStatus.FAILED])
    assert listed(world, failed, include=[RunExtra.COUNT]).count == Count(value=2, exact=True)


# ---------------------------------------------------------------------------------------------------- filters
def test_what_has_no_index_needs_one_that_has() -> None:
    world = with_runs()
    with pytest.raises(InvalidRequest, match="no index of initiators alone"):
        listed(world, RunFilter(initiator="MANUAL", statuses=[RunStatus.FAILED]))
    with pytest.raises(InvalidRequest, match="one of a workflow"):
        listed(world, RunFilter(version_id=1))
    assert len(listed(world, RunFilter(initiator="MANUAL", since=0)).elements) == 4
    assert runs(listed(world, RunFilter(initiator="MANUAL", tag="daily", until=2**60))) == [
        ("good", 2),
        ("good", 1),
    ]
    assert listed(world, RunFilter(workflow_id="bad", version_id=2)).elements == ()


def test_initiators_are_words() -> None:
    assert initiator_in(None) is None
    assert initiator_in("time") == "TIME"
    for text, hint in (("manuel", "MANUAL"), ("?", "one of MANUAL, TIME, SIGNAL")):
        with pytest.raises(InvalidRequest) as refused:
            initiator_in(text)
        assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("flow/1", Above(run=TOP)),
        ("flow/1/1", Above(run=TOP)),
        ("flow/1:s", Above(run=TOP, step_id="s")),
        ("flow/1/1:s/1", Above(run=TOP, step_id="s", attempt=1)),
        ("flow/1:s.s", Above(run=RunKey("child", 1, 1), step_id="s")),
    ],
)
def test_parents_are_addresses(text: str, above: Above) -> None:
    world = nested()
    assert world.do(above_in(world.store, ANN, text)) == above
    (child,) = listed(world, RunFilter(parent=above)).elements
    expected = "leaf" if text.endswith("s.s") else "child"
    assert (child.workflow_id, child.root.workflow_id) == (expected, "flow")


def test_other_parents_are_refused() -> None:
    world = nested()
    assert world.do(above_in(world.store, ANN, None)) is None
    with pytest.raises(InvalidRequest, match=r"Invalid parent \[flow\]"):
        world.do(above_in(world.store, ANN, "flow"))
    for unknown in ("flow/9", "flow/1/9", "flow/1:x", "other/1"):
        with pytest.raises(NotFound):
            world.do(above_in(world.store, ANN, unknown))


def test_a_run_that_nobody_started_is_its_own_root() -> None:
    world = nested()
    (top,) = listed(world, RunFilter(roots=True)).elements
    assert (top.root.workflow_id, top.root.workflow_instance_id, top.root.workflow_run_id) == TOP


# -------------------------------------------------------------------------------------------------- histogram
def spread_of(world: World, wanted: RunFilter, span: tuple[int, int], buckets: int = 4) -> Histogram:
    return world.do(get_run_histogram(world.store, ANN, wanted, span, buckets))


def test_when_runs_were_created() -> None:
    world = with_runs()
    begin = 1_700_000_000_000
    span = (begin, begin + 4_000)
    found = spread_of(world, RunFilter(), span)
    assert found.buckets == ({"F": 1}, {"s": 1}, {"s": 1}, {"F": 1})
    assert (found.since, found.until, found.width, found.complete_since) == (*span, 1_000, None)
    assert spread_of(world, RunFilter(workflow_id="bad"), span, 1).buckets == ({"F": 2},)
    failed = RunFilter(statuses=[RunStatus.FAILED], initiator="MANUAL")
    assert spread_of(world, failed, span, 2).buckets == ({"F": 1}, {"F": 1})
    assert spread_of(world, RunFilter(tag="daily"), (0, begin)).buckets == ({}, {}, {}, {})


def test_histograms_that_nobody_can_ask_for() -> None:
    world = with_runs()
    for wanted, span, buckets in (
        (RunFilter(), (5, 5), 4),
        (RunFilter(), (0, 5), 0),
        (RunFilter(), (0, 5), 501),
        (RunFilter(version_id=1), (0, 5), 4),
    ):
        with pytest.raises(InvalidRequest):
            spread_of(world, wanted, span, buckets)
