"""The engine's rules against slow and obvious models."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import ITEMS, foreach, step, workflow

from stretto.engine.earlier import EarlierLoop
from stretto.engine.intervals import Intervals, Row
from stretto.engine.loop_overview import Round, foreach_artifact
from stretto.engine.permits import Waiter, granted
from stretto.engine.rollup import Leaf, Rollup
from stretto.model.param import Parameter, ParamType
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.workflow import Criticality
from stretto.params import iteration_count, iteration_values

# ------------------------------------------------------------------------------------------------- intervals
NUMBERS = st.integers(-5, 60)


def ranges_of(iterations: Iterable[int]) -> list[Row]:
    """The fewest ranges that hold exactly these iterations, the slow way."""
    ranges: list[Row] = []
    for each in sorted(set(iterations)):
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return ranges


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "row"]), NUMBERS, st.integers(0, 9))))
def test_intervals_are_sets(changes: list[tuple[str, int, int]]) -> None:
    numbers, model = Intervals(), set[int]()
    for change, number, more in changes:
        if change == "add":
            assert numbers.add(number) is (number not in model)
            model.add(number)
        elif change == "remove":
            assert numbers.remove(number) is (number in model)
            model.discard(number)
        else:
            numbers.add_row(number, number + more)
            model.update(range(number, number + more + 1))
        assert numbers.rows() == ranges_of(model)
    assert list(numbers) == sorted(model)
    assert len(numbers) == len(model)
    assert (numbers.lowest, numbers.highest) == (min(model, default=None), max(model, default=None))
    assert [each for each in range(-6, 75) if each in numbers] == sorted(model)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3_000), st.integers(0, 3_000))
def test_many_pages_hold_what_one_would(stride: int, kept: int) -> None:
    order = [number * stride % 3_001 for number in range(3_001)]  # all of them, as 3,001 is a prime
    numbers = Intervals()
    for number in order:
        numbers.add(2 * number)
    for number in order[kept:]:
        numbers.remove(2 * number)
    assert list(numbers) == sorted(2 * number for number in order[:kept])


# --------------------------------------------------------------------------------------------------- products
def chosen(loop_params: Parameter, index: int) -> dict[str, int]:
    return {name: each.evaluated_result for name, each in iteration_values(loop_params, index).items()}


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(), max_size=5)))
def test_iterations_are_what_nested_loops_make(arrays: dict[str, list[int]]) -> None:
    loops = [dict(zip(arrays, values[::-1], strict=True)) for values in product(*list(arrays.values())[::-1])]
    given = Parameter(type=ParamType.MAP, value={}, evaluated_result=arrays)
    assert iteration_count(given) == len(loops)
    assert [chosen(given, index) for index in range(len(loops))] == loops


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_any_combination_is_found_at_once(x: int, y: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, x * y - 1))
    given = Parameter(type=ParamType.MAP, value={}, evaluated_result={"x": [*range(x)], "y": [*range(y)]})
    assert chosen(given, index) == {"x": index % x, "y": index // x}


# ---------------------------------------------------------------------------------------------------- rollups
LEAVES = [Leaf.of(workflow, 1, 1, step, 1) for workflow in ("a", "b") for step in ("x", "y", "z")]
STATUSES = st.sampled_from(StepStatus)


def recount(model: dict[Leaf, StepStatus]) -> Rollup:
    rollup = Rollup()
    for leaf, status in model.items():
        rollup.add(leaf, status)
    return rollup


@given(st.lists(st.tuples(st.sampled_from(LEAVES), STATUSES | st.none())))
def test_moving_leaves_one_by_one_is_counting_them_again(
    moves: list[tuple[Leaf, StepStatus | None]],
) -> None:
    rollup, model = Rollup(), dict[Leaf, StepStatus]()
    for leaf, status in moves:
        before = model.pop(leaf, None)
        if status is not None:
            model[leaf] = status
        if before is None and status is not None:
            rollup.add(leaf, status)
        elif before is not None and status is None:
            rollup.remove(leaf, before)
        elif before is not None and status is not None:
            rollup.move(leaf, before, status)
        assert rollup == recount(model)
        assert rollup.total == sum(rollup.counts.values()) == len(model)


TREES = st.dictionaries(st.sampled_from(LEAVES), STATUSES)


@given(TREES, TREES)
def test_a_tree_that_joined_can_leave(mine: dict[Leaf, StepStatus], other: dict[Leaf, StepStatus]) -> None:
    theirs = {Leaf(f"other-{leaf.run}", leaf.step): status for leaf, status in other.items()}
    both = recount(mine).merge(recount(theirs))
    assert both == recount({**mine, **theirs})
    assert Rollup.of(both.record()) == both
    assert both.subtract(recount(theirs)) == recount(mine)


# ---------------------------------------------------------------------------------------------------- foreach
RUN_STATUSES = st.sampled_from(RunStatus)


def rows_of(statuses: Mapping[int, RunStatus], *, ended: bool) -> dict[RunStatus, tuple[Row, ...]]:
    """The iterations in each status, as rows."""
    found: dict[RunStatus, list[int]] = {}
    for number, status in statuses.items():
        if status.is_terminal is ended:
            found.setdefault(status, []).append(number)
    return {status: tuple(ranges_of(numbers)) for status, numbers in found.items()}


@given(st.lists(RUN_STATUSES, min_size=1, max_size=40))
def test_an_overview_is_that_of_the_list(drawn: list[RunStatus]) -> None:
    statuses = dict(enumerate(drawn, 1))
    ended, alive = rows_of(statuses, ended=True), rows_of(statuses, ended=False)
    driver = Driver(workflow(foreach("l", ITEMS, step("x"))), runtime=scripted(x=[FOREVER])).start().run(0)
    counts = Counter(drawn)
    loop = replace(
        driver.flow.loops[0], next_index=len(drawn), ended={status: counts[status] for status in ended}
    )
    rounds = [Round(each, 1, status, Rollup()) for each, status in statuses.items() if not status.is_terminal]
    found = foreach_artifact(driver.flow, driver.attempt("l"), loop, rounds, ended).foreach_overview
    assert found is not None
    assert {**found.stats, **found.running_stats} == {InstanceStatus(each): n for each, n in counts.items()}
    rows = {InstanceStatus(status): list(each) for status, each in {**ended, **alive}.items()}
    assert found.details == rows
    first = next((each for each, status in statuses.items() if not status.is_terminal), len(drawn) + 1)
    assert found.checkpoint == first - 1


@given(st.lists(RUN_STATUSES, min_size=1, max_size=40), st.data())
def test_a_restart_keeps_what_it_says(drawn: list[RunStatus], data: st.DataObject) -> None:
    statuses = {each: status for each, status in enumerate(drawn, 1) if status.is_terminal}
    earlier = EarlierLoop(rows=rows_of(statuses, ended=True))
    assert earlier.highest == max(statuses, default=0)
    chosen = data.draw(st.none() | st.sampled_from(sorted(statuses))) if statuses else None
    keep = {RunStatus.SUCCEEDED} if chosen is None else set(RunStatus)
    taken = earlier.taken(keep, but=chosen)
    kept = {each: status for each, status in statuses.items() if status in keep and each != chosen}
    assert taken.kept == tuple(ranges_of(kept))
    assert taken.again == tuple(ranges_of(statuses.keys() - kept.keys()))
    assert taken.ended == Counter(kept.values())


# --------------------------------------------------------------------------------------------------- permits
TAGS = "vwxyz"


@st.composite
def lines(draw: st.DrawFn) -> list[Waiter]:
    count = draw(st.integers(0, 12))
    return [
        Waiter(
            f"attempt-{ticket}",
            tuple(draw(st.sets(st.sampled_from(TAGS), min_size=1, max_size=4))),
            draw(st.sampled_from([None, *Criticality])),
            draw(st.integers(0, 3)),
            ticket,
        )
        for ticket in range(count)
    ]


LIMITS = st.dictionaries(st.sampled_from(TAGS), st.integers(0, 4))
HELD = st.dictionaries(st.sampled_from(TAGS), st.integers(0, 4))


def holds(waiters: list[Waiter]) -> Counter[str]:
    return Counter(tag for waiter in waiters for tag in waiter.tags)


@given(lines(), HELD, LIMITS)
def test_permits_are_never_above_the_limit_and_nobody_is_passed(
    line: list[Waiter], held: dict[str, int], limits: dict[str, int]
) -> None:
    lucky = granted(line, held, limits)
    now = Counter(held) + holds(lucky)
    for tag in holds(lucky):
        assert tag not in limits or now[tag] <= limits[tag]
    for waiter in line:
        before = [each for each in line if each.rank < waiter.rank]
        free = all(held.get(tag, 0) + holds(before)[tag] < limits.get(tag, 10**9) for tag in waiter.tags)
        assert (waiter in lucky) is free
    assert lucky == sorted(lucky, key=lambda each: each.rank)


@given(lines(), HELD, LIMITS)
def test_granting_again_grants_nothing(
    line: list[Waiter], held: dict[str, int], limits: dict[str, int]
) -> None:
    lucky = granted(line, held, limits)
    left = [waiter for waiter in line if waiter not in lucky]
    assert granted(left, Counter(held) + holds(lucky), limits) == []


@given(lines(), st.dictionaries(st.sampled_from(TAGS), st.integers(1, 4)))
def test_everybody_gets_a_turn(line: list[Waiter], limits: dict[str, int]) -> None:
    """Holders end one after the other; as long as somebody waits, somebody runs. The first never waits."""
    waiting, running = list(line), list[Waiter]()
    for _ in range(len(line) + 1):
        lucky = granted(waiting, holds(running), limits)
        first = min(waiting, key=lambda each: each.rank, default=None)
        if not running and first is not None:
            assert lucky[0] is first
        running += lucky
        waiting = [waiter for waiter in waiting if waiter not in lucky]
        if running:
            running.pop(0)
    assert not waiting


@given(lines(), HELD, LIMITS, st.frozensets(st.sampled_from(TAGS)))
def test_what_is_not_locked_is_not_given(
    line: list[Waiter], held: dict[str, int], limits: dict[str, int], locked: frozenset[str]
) -> None:
    lucky = granted(line, held, limits, locked)
    assert all(locked.issuperset(waiter.tags) for waiter in lucky)
    assert set(lucky) <= set(granted(line, held, limits))
