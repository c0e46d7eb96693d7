"""`total_count` of a list is how many elements the list has, or absent: never the size of a page."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.actions import test_flatten_orders, test_tree
from tests.unit.actions.test_lists import EVE, keep, with_runs
from tests.unit.actions.test_nesting import OUTER, made
from tests.unit.actions.world import ANN, World

from stretto.actions.reading.all_runs import RunExtra, list_all_runs
from stretto.actions.reading.all_workflows import list_workflows
from stretto.actions.reading.flattening import Sort
from stretto.actions.reading.instance_lines import list_instance_lines
from stretto.actions.reading.listing import counted_as
from stretto.actions.restart import restart
from stretto.model.page import Count, Page, PageInfo
from stretto.model.request import InstanceRestartRequest, PageRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.ports.history import Counted, RunFilter
from stretto.ports.workflows import WorkflowFilter

FAILED = RunFilter(statuses=[RunStatus.FAILED])
ASKS: dict[str, tuple[Callable[[], World], Callable[[World, PageRequest], Page[Any]], int]] = {
    "runs in a status": (
        with_runs,
        lambda world, asked: world.do(list_all_runs(world.store, ANN, FAILED, asked)),
        2,
    ),
    "workflows of an owner": (
        with_runs,
        lambda world, asked: world.do(list_workflows(world.store, ANN, WorkflowFilter(owner="ann"), asked)),
        2,
    ),
    "runs below a run": (
        lambda: made(OUTER),
        lambda world, asked: test_tree.page(world, 2, first=asked.first, cursor=asked.cursor),
        8,
    ),
    "instances in a status": (
        with_runs,
        lambda world, asked: world.do(
            list_instance_lines(world.store, ANN, "bad", asked, [RunStatus.FAILED])
        ),
        2,
    ),
}


@pytest.mark.parametrize("name", ASKS)
def test_a_total_is_that_of_the_list_or_absent(name: str) -> None:
    make, read, total = ASKS[name]
    world = make()
    whole = read(world, PageRequest(first=total))
    assert (len(whole.elements), whole.total_count) == (total, total)
    part = read(world, PageRequest(first=1))
    assert (len(part.elements), part.page_info.has_next_page, part.total_count) == (1, True, None)
    rest = read(world, PageRequest(first=100, cursor=part.page_info.end_cursor))
    assert (len(rest.elements), rest.total_count) == (total - 1, None)


def test_instances_in_a_status_know_their_neighbours() -> None:
    """Instances 1 and 2 have failed; then the second is restarted."""
    world = with_runs()

    def page(status: RunStatus, **request: Any) -> Page[Any]:
        asked = PageRequest(**request)
        return world.do(list_instance_lines(world.store, ANN, "bad", asked, [status]))

    first = page(RunStatus.FAILED, first=1)
    assert (first.page_info.has_previous_page, first.page_info.has_next_page) == (False, True)
    last = page(RunStatus.FAILED, first=1, cursor=first.page_info.end_cursor)
    assert (last.page_info.has_previous_page, last.page_info.has_next_page) == (True, False)
    again = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    world.do(restart(world.store, ANN, "bad", 2, again))
    alone = page(RunStatus.FAILED, first=1)
    assert [each.workflow_instance_id for each in alone.elements] == [1]
    assert (alone.page_info.has_previous_page, alone.page_info.has_next_page) == (False, False)
    assert alone.total_count == 1
    none = page(RunStatus.STOPPED, first=1)
    assert (none.elements, none.total_count, none.page_info) == ((), 0, PageInfo())
    assert page(RunStatus.FAILED, first=1, cursor="1").total_count is None


def test_a_count_is_the_total_if_it_is_exact_and_the_reader_sees_everything() -> None:
    page = Page[int](page_info=PageInfo(has_next_page=True), elements=(1,))
    assert counted_as(page, ANN, Counted(7)).total_count == 7
    least = counted_as(page, ANN, Counted(7, exact=False))
    assert (least.count, least.total_count) == (Count(value=7, exact=False), None)
    world = with_runs()
    keep(world, "good")

    def seen(size: int) -> Page[Any]:
        asked = PageRequest(first=size)
        return world.do(list_all_runs(world.store, EVE, RunFilter(), asked, include=[RunExtra.COUNT]))

    assert (seen(1).count, seen(1).total_count) == (Count(value=4, exact=True), None)
    assert seen(9).total_count == 2


def test_the_total_of_a_flatten_view_is_that_of_its_page() -> None:
    """As in Maestro."""
    world = test_flatten_orders.mixed()
    found = test_flatten_orders.page(world, first=2)
    assert (len(found.elements), found.page_info.has_next_page, found.total_count) == (2, True, 2)
    failed_first = test_flatten_orders.page(world, sort=Sort.FAILED_FIRST, first=1)
    assert (len(failed_first.elements), failed_first.total_count) == (1, 1)
