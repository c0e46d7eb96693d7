"""The engine's rules against slow and obvious models."""

from collections import Counter
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from stretto.engine.foreach_overview import ForeachProgress, kept_from, runs_again
from stretto.engine.intervals import Intervals
from stretto.engine.iterations import Product
from stretto.engine.permits import Waiter, granted
from stretto.engine.rollup import Leaf, Rollup
from stretto.model.foreach import ranges_of
from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.workflow import Criticality

# ------------------------------------------------------------------------------------------------- intervals
NUMBERS = st.integers(-5, 60)


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
@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(), max_size=5)))
def test_a_product_is_what_nested_loops_make(arrays: dict[str, list[int]]) -> None:
    loops = [dict(zip(arrays, values[::-1], strict=True)) for values in product(*list(arrays.values())[::-1])]
    found = Product.of(arrays)
    assert len(found) == len(loops)
    assert list(found) == loops


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.data())
def test_any_combination_of_large_ranges_is_found_at_once(x: int, y: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, x * y - 1))
    assert Product.of({"x": range(x), "y": range(y)})[index] == {"x": index % x, "y": index // x}


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
ENDS = st.sampled_from([status for status in InstanceStatus if status.is_terminal])


class Foreach(RuleBasedStateMachine):
    """A foreach that launches, goes on, ends and restarts iterations, beside a plain list of statuses."""

    def __init__(self) -> None:
        super().__init__()
        self.progress = ForeachProgress()
        self.model: dict[int, InstanceStatus] = {}
        self.most_ended = 0

    def pick(self, data: st.DataObject, *, ended: bool) -> int:
        return data.draw(st.sampled_from([each for each, s in self.model.items() if s.is_terminal is ended]))

    @rule()
    def launch(self) -> None:
        iteration = len(self.model) + 1
        self.progress.add(iteration, InstanceStatus.CREATED)
        self.model[iteration] = InstanceStatus.CREATED

    @precondition(lambda self: any(not status.is_terminal for status in self.model.values()))
    @rule(data=st.data(), status=st.just(InstanceStatus.IN_PROGRESS) | ENDS)
    def go_on(self, data: st.DataObject, status: InstanceStatus) -> None:
        iteration = self.pick(data, ended=False)
        self.progress.move(iteration, self.model[iteration], status)
        self.model[iteration] = status

    @precondition(lambda self: any(status.is_terminal for status in self.model.values()))
    @rule(data=st.data())
    def start_again(self, data: st.DataObject) -> None:
        iteration = self.pick(data, ended=True)
        assert self.progress.is_restartable(iteration)
        self.progress.restart(iteration)
        self.model[iteration] = InstanceStatus.CREATED

    @invariant()
    def the_counts_are_those_of_the_list(self) -> None:
        counts = Counter(self.model.values())
        assert {**self.progress.stats, **self.progress.running_stats} == counts
        assert self.progress.details.record() == {
            status: ranges_of(each for each, now in self.model.items() if now is status) for status in counts
        }
        running = [each for each, status in self.model.items() if not status.is_terminal]
        launched = len(self.model)
        assert self.progress.running_count() == len(running)
        assert self.progress.ordered_count(launched) == (launched - min(running) + 1 if running else 0)
        while self.has_ended(self.most_ended + 1):  # who starts again later has ended once, and that counts
            self.most_ended += 1
        assert self.progress.checkpoint == self.most_ended

    def has_ended(self, iteration: int) -> bool:
        return iteration in self.model and self.model[iteration].is_terminal

    @invariant()
    def a_restart_keeps_what_it_says(self) -> None:
        kept = kept_from(self.progress)
        succeeded = [each for each, status in self.model.items() if status is InstanceStatus.SUCCEEDED]
        assert list(kept.details.of(InstanceStatus.SUCCEEDED)) == succeeded
        assert sorted([*runs_again(self.progress, kept), *succeeded]) == list(self.model)


TestForeach = Foreach.TestCase
TestForeach.settings = settings(max_examples=50, stateful_step_count=30)


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
