"""Iterations in other orders than that of their numbers, and those that somebody looks for."""

from typing import Any

import pytest
from tests.unit.actions.test_iteration_map import FIVE
from tests.unit.actions.test_nesting import WHILE, made
from tests.unit.actions.world import ANN, World, flow

from stretto.actions.reading import flatten_orders
from stretto.actions.reading.flatten import list_iterations
from stretto.actions.reading.flattening import Sort, Wanted
from stretto.engine.events import ResultState
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.flatten import StepIteration
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.ports.rows import took_until

RUN = RunKey("flow", 1, 1)
BAD = {2: ResultState.FATAL_ERROR, 3: ResultState.STOPPED}


def mixed() -> World:
    """Five iterations: the second fails, the third is stopped, the fourth goes on."""

    def script(effect: Any) -> ResultState | None:
        number = effect.attempt.run.instance_id
        world.clock.time += number * 10
        return None if number == 4 else BAD.get(number, ResultState.DONE)

    world = World(script)
    world.publish(flow(FIVE))
    world.start()
    return world.settle()


def page(world: World, step_id: str = "leaf", sort: Sort = Sort.RANK, **more: Any) -> Page[StepIteration]:
    request = {name: more.pop(name) for name in ("first", "last", "cursor") if name in more}
    asked = PageRequest(**(request if "last" in request else {"first": 9, **request}))
    wanted = Wanted(sort=sort, **more)
    return world.do(list_iterations(world.store, ANN, RUN, step_id, asked, wanted))


def numbers(found: Page[StepIteration]) -> list[int]:
    return [int(each.iteration_rank[1:]) for each in found.elements]


def in_pages(world: World, sort: Sort, size: int) -> list[int]:
    found = page(world, sort=sort, first=size)
    read = numbers(found)
    while found.page_info.has_next_page:
        found = page(world, sort=sort, first=size, cursor=found.page_info.end_cursor)
        assert found.page_info.has_previous_page
        read += numbers(found)
    return read


@pytest.mark.parametrize("size", [1, 2, 9])
def test_what_failed_comes_first_then_what_goes_on(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatten_orders, "BATCH", 1)
    assert in_pages(mixed(), Sort.FAILED_FIRST, size) == [2, 3, 4, 1, 5]


@pytest.mark.parametrize("size", [1, 2, 9])
def test_the_longest_come_first(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatten_orders, "BATCH", 2)
    world = mixed()
    rows = [world.row(inline(world), number) for number in range(1, 6)]
    longest = sorted(took_until(row, world.clock.time) for row in rows)
    assert in_pages(world, Sort.LONGEST, size) == [number for _took, number in reversed(longest)]


def inline(world: World) -> str:
    (loop,) = world.do(world.store.loops(RUN))
    return loop.inline_id


@pytest.mark.parametrize("size", [1, 2, 9])
def test_the_latest_come_first(size: int) -> None:
    world = mixed()
    assert in_pages(world, Sort.LATEST, size) == [5, 4, 3, 2, 1]
    last = page(world, sort=Sort.LATEST, last=2)
    assert (numbers(last), last.page_info.has_previous_page) == ([2, 1], True)


def test_texts_that_somebody_looks_for() -> None:
    world = mixed()
    assert numbers(page(world, q="4")) == [4]  # the value of i is the number
    assert numbers(page(world, q="no such")) == []
    world.report("leaf", ResultState.FATAL_ERROR, message="Disk is FULL")
    assert numbers(page(world, error="disk is full")) == [4]
    assert numbers(page(world, error="disk", q="1")) == []
    assert numbers(page(world, error="disk", sort=Sort.FAILED_FIRST)) == [4]


def test_a_page_looks_at_a_bounded_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatten_orders, "LOOK_AT", 3)
    world = mixed()
    found = page(world, sort=Sort.FAILED_FIRST, q="5")
    assert (numbers(found), found.page_info.has_next_page) == ([], True)
    assert numbers(page(world, sort=Sort.FAILED_FIRST, q="5", cursor=found.page_info.end_cursor)) == [5]


def test_what_can_not_be_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    world = mixed()
    with pytest.raises(InvalidRequest, match="read from its beginning"):
        page(world, sort=Sort.LONGEST, last=2)
    with pytest.raises(InvalidRequest, match="Invalid cursor"):
        page(world, sort=Sort.LONGEST, cursor=page(world, sort=Sort.FAILED_FIRST).page_info.end_cursor)
    with pytest.raises(InvalidRequest, match=r"inside several loops: sort \[failed_first\] is for one"):
        page(made(), sort=Sort.FAILED_FIRST)
    monkeypatch.setattr(flatten_orders, "MOST_SORTED", 4)
    with pytest.raises(InvalidRequest, match="has 5 iterations"):
        page(world, sort=Sort.LONGEST)


def test_a_loop_that_has_not_begun_has_nothing_to_sort() -> None:
    world = World()
    world.publish(flow(FIVE))
    world.start()
    found = page(world, sort=Sort.LONGEST)
    assert (found.elements, found.page_info.end_cursor) == ((), None)
    rounds = made(WHILE)
    assert numbers(page(rounds, "round", sort=Sort.LONGEST)) == [2, 1]
