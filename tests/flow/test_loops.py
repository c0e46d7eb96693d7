"""Loops: over lists, in each other, and as long as a condition holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.flow.playing import carry_out, conditions, play

from stretto.definition import parse
from stretto.flow import Flow, TraceError, collect, each, foreach, loop_while, step, text, when, workflow
from stretto.testing.harness import Harness


@dataclass
class Item:
    name: str
    count: int


@step
def items(n: int) -> list[Item]:
    return [Item(f"i{k}", k) for k in range(n)]


@step
def texts(n: int) -> list[str]:
    return [f"${k}" for k in range(n)]


@step
def weigh(item: Item, factor: int = 1) -> float:
    return item.count * factor / 2


@step
def double(n: int) -> int:
    return 2 * n


@step
def join(words: list[str], by: str = "+") -> str:
    return by.join(words)


@step
def add(a: int, b: int) -> int:
    return a + b


@step
def span(n: int) -> list[int]:
    return list(range(n))


@step
def total(values: list[int]) -> int:
    return sum(values)


@step
def spell(word: str, times: int) -> str:
    return word * times


@step
def both(values: list[list[int]]) -> int:
    return sum(map(sum, values))


@step
def anything(value: Any) -> Any:
    return value


@step
def none(n: int) -> None:
    assert n >= 0


@workflow
def over_results(n: int, factor: int = 3) -> list[float]:
    return weigh.map(items(n), factor=factor, concurrency=2)


def test_a_map_goes_through_what_a_step_returned() -> None:
    assert play(over_results, n=3).value == [0.0, 1.5, 3.0]
    assert play(over_results, n=0).value == []


def test_the_calls_of_a_map_get_objects() -> None:
    assert play(over_results, n=2).calls[1:] == [
        ("weigh", {"item": Item("i0", 0), "factor": 3}),
        ("weigh", {"item": Item("i1", 1), "factor": 3}),
    ]


@workflow
def over_constants() -> list[Any]:
    return [
        double.map([1, 2, 3]),
        double.map(range(3)),
        double.map(n=(4, 5)),
        spell.map(["a", "$b"], times=2),
        weigh.map([Item("x", 4), {"name": "y", "count": 6}]),
        anything.map([1, "two", None, {"three": 3}]),
        spell.map(times=each([1, 2]), word="w"),
        join.map(each([["a", "b"], ["c"]]), by="-"),
    ]


def test_a_map_goes_through_what_is_known() -> None:
    assert play(over_constants).value == [
        [2, 4, 6],
        [0, 2, 4],
        [8, 10],
        ["aa", "$b$b"],
        [2.0, 3.0],
        [1, "two", None, {"three": 3}],
        ["w", "ww"],
        ["a-b", "c"],
    ]


@step
def shift(n: int, all: list[int]) -> int:  # noqa: A002 - each call gets the whole list
    return n + sum(all)


@workflow
def twice(a: int, b: int) -> int:
    return double(add(a, b))


def numbers(*given: int) -> Iterator[int]:
    yield from given


@workflow
def over_iterators() -> list[Any]:
    with foreach(numbers(1, 2)) as number:
        found = double(number)
    return [
        add.map(numbers(1, 2), [3, 4]),
        add.map([1, 2], numbers(3, 4)),
        add.map(each(numbers(1, 2)), b=each(numbers(3, 4))),
        add.map(a=map(int, "12"), b=iter(range(3, 5))),
        twice.map(numbers(1, 2), [3, 4]),
        shift.map([1, 2], numbers(10, 20)),
        double.map(numbers(1, 2)),
        collect(found),
    ]


def test_iterators_are_gone_through_once() -> None:
    sums = [4, 6]
    assert play(over_iterators).value == [sums, sums, sums, sums, [8, 12], [31, 32], [2, 4], [2, 4]]
    assert add.map(numbers(1, 2), [3, 4]) == sums
    assert shift.map([1, 2], numbers(10, 20)) == [31, 32]


@workflow
def over_values(n: int) -> list[int]:
    x = double(n)
    return double.map([n, x, 7])


def test_a_map_goes_through_a_list_with_values_in_it() -> None:
    assert play(over_values, n=5).value == [10, 20, 14]


@workflow
def over_json(n: int) -> list[Any]:
    data = anything({"rows": [{"n": 1}, {"n": 2}], "names": ["a", "b"]})
    with foreach(data["rows"]) as row:
        x = add(row["n"], n)
    return [collect(x), spell.map(data["names"], times=2)]


def test_a_loop_goes_through_a_part_of_a_value() -> None:
    assert play(over_json, n=10).value == [[11, 12], ["aa", "bb"]]


@workflow
def of_lists(n: int) -> int:
    return both(span.map(each([1, n, 3])))


def test_a_step_in_a_map_may_return_a_list() -> None:
    assert play(of_lists, n=4).value == 0 + 6 + 3


@workflow
def without_values(n: int) -> int:
    done = none.map([1, 2])
    return double.after(done)(n)


def test_a_map_of_a_step_without_a_result_can_be_waited_for() -> None:
    assert conditions(without_values)["none_map"] == {"double": "true"}
    assert play(without_values, n=2).value == 4


@workflow
def in_each_other(n: int) -> list[Any]:
    offset = double(n)
    with foreach([1, 2], id="outer") as a:
        base = double(a)
        with foreach(span(2), id="inner", concurrency=1, strict_ordering=True) as b:
            x = add(base, add(b, offset))
        inner = collect(x)
        y = total(inner)
    return [collect(inner), collect(y), collect(base)]


def test_loops_in_loops() -> None:
    played = play(in_each_other, n=50)
    assert played.value == [[[102, 103], [104, 105]], [205, 209], [2, 4]]


@workflow
def map_in_map(n: int) -> list[list[str]]:
    names = texts(n)
    with foreach(names) as word:
        inner = spell.map(times=[1, 2], word=word)
    return collect(inner)


def test_a_map_in_a_loop() -> None:
    assert play(map_in_map, n=2).value == [["$0", "$0$0"], ["$1", "$1$1"]]


@workflow
def computed(n: int) -> list[int]:
    with foreach([1, 2, 3]) as a:
        double(a)
        b = a * n
    return collect(b)


def test_what_was_computed_in_a_loop_can_be_gathered() -> None:
    assert play(computed, n=10).value == [10, 20, 30]


@workflow
def counting(n: int) -> None:
    with loop_while(lambda v: v.i < n, i=0, word="") as v:
        v.i = add(v.i, 1)
        v.word = spell(v.word + "x", 1)


def test_a_while_counts() -> None:
    played = play(counting, n=3)
    passes = played.run.iterations("loop")
    assert [(each.params["i"], each.params["word"]) for each in passes] == [(0, ""), (1, "x"), (2, "xx")]


def test_a_while_may_not_run_at_all() -> None:
    assert play(counting, n=0).run.iterations("loop") == []


@workflow
def counted(n: int, by: int) -> list[Any]:
    with loop_while(lambda v: v.i < n, i=0, words=["a"], seen=double(by)) as v:
        v.i = add(v.i, by)
        v.words = [v.words[0], join(v.words)]
    with foreach([1, 2]) as item:
        x = add(item, v.i)
    return [v.i, v.words, v.seen, collect(x), double(v.i + 1)]


@pytest.mark.parametrize(
    ("n", "value"),
    [(5, [6, ["a", "a+a"], 6, [7, 8], 14]), (0, [0, ["a"], 6, [1, 2], 2])],
)
def test_what_a_while_leaves_can_be_read(n: int, value: list[Any]) -> None:
    assert play(counted, n=n, by=3).value == value


@workflow
def carrying(i: int) -> None:
    # The names are those of a parameter, and of arguments of the steps in the loop.
    with loop_while(
        lambda v: v.a + v.i < 100, a=1, b=7, i=i, data={"seen": [0]}, id="grow", max_iterations=9
    ) as v:
        v.a = add(v.a, b=v.i)
        none(v.data["seen"][-1])
        v.i = v.i + 10
        v.data = {"seen": [v.a]}


def test_a_while_carries_what_was_set_and_nothing_else() -> None:
    passes = play(carrying, i=20).run.iterations("grow")
    found = [(each.params["a"], each.params["b"], each.params["i_2"], each.params["data"]) for each in passes]
    assert found == [(1, 7, 20, '{"seen":[0]}'), (21, 7, 30, '{"seen":[21]}'), (51, 7, 40, '{"seen":[51]}')]


@workflow
def while_outside(n: int) -> None:
    limit = double(n)
    step_by = double(2)
    with loop_while(lambda v: (v.i < limit) & v.go, i=0, go=anything(True)) as v:
        v.i = add(v.i, step_by)
        with when(v.i > 8):
            none(v.i)
        v.go = anything(True)


def test_a_while_may_need_values_from_outside() -> None:
    played = play(while_outside, n=6)
    assert [each.params["i"] for each in played.run.iterations("loop")] == [0, 4, 8]
    assert [given for step_id, given in played.calls if step_id == "none"] == [{"n": 12}]


@workflow
def without_variables(n: int) -> int:
    x = double(n)
    with loop_while(lambda _v: x > 100):
        none(n)
    return x


def test_a_while_may_live_on_its_condition_alone() -> None:
    assert play(without_variables, n=1).value == 2


@workflow
def gathered_then_looped() -> list[Any]:
    first = double.map([1, 2])
    with foreach([0, 1]) as item:
        x = add(first[0], item)
        y = total(first)
    return [collect(x), collect(y)]


def test_what_a_loop_gathered_is_handed_into_another() -> None:
    assert play(gathered_then_looped).value == [[2, 3], [6, 6]]


@workflow
def while_in_foreach() -> list[int]:
    with foreach([1, 2]) as item:
        with loop_while(lambda v: v.k < item, k=0) as v:
            v.k = add(v.k, 1)
        x = double(item)
    return collect(x)


def test_a_while_in_a_foreach() -> None:
    played = play(while_in_foreach)
    assert played.value == [2, 4]
    assert len([1 for step_id, _ in played.calls if step_id == "add"]) == 3


@workflow
def foreach_in_while(n: int) -> None:
    with loop_while(lambda v: v.sum < n, sum=1) as v:
        found = add.map([1, 2], b=v.sum)
        v.sum = total(found)


def test_a_foreach_in_a_while() -> None:
    passes = play(foreach_in_while, n=20).run.iterations("loop")
    assert [each.params["sum"] for each in passes] == [1, 5, 13]


@workflow
def own_names(loop_index: int, condition: str) -> list[Any]:
    with foreach([1]) as item:
        x = add(item, loop_index)
        with loop_while(lambda v: v.i < 1, i=0) as v:
            v.i = add(v.i, loop_index)
            spell(condition, 1)
    return [collect(x), text(condition, loop_index)]


def test_parameters_may_have_the_names_that_loops_use() -> None:
    played = play(own_names, loop_index=5, condition="c")
    assert played.value == [[6], "c5"]
    assert ("spell", {"word": "c", "times": 1}) in played.calls


@workflow
def after_in_loops() -> int:
    a = none(1)
    with foreach([1, 2]) as item:
        b = none.after(a)(item)
    with loop_while(lambda v: v.i < 1, i=0) as v:
        c = none.after(b)(2)
        v.i = add(v.i, 1)
    return double.after(b, c)(1)


def test_order_across_loops_is_that_of_the_loops() -> None:
    edges = conditions(after_in_loops)
    assert edges == {
        "none": {"foreach": "true"},
        "foreach": {"loop": "true", "double": "true"},
        "loop": {"double": "true"},
        "double": {},
    }
    assert play(after_in_loops).value == 2


ALL: list[Flow[..., Any]] = [
    over_results,
    over_constants,
    over_values,
    over_json,
    of_lists,
    without_values,
    in_each_other,
    map_in_map,
    computed,
    counting,
    counted,
    carrying,
    while_outside,
    without_variables,
    gathered_then_looped,
    while_in_foreach,
    foreach_in_while,
    own_names,
    after_in_loops,
]


@pytest.mark.parametrize("flow", ALL, ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition


# ----------------------------------------------------------------------------------------- lists side by side
@step
def numbers_up_to(n: int) -> list[int]:
    return list(range(n))


@step
def minus(a: int, b: int, c: int = 0) -> int:
    return a - b - c


@step
def loosely(a: Any, b: Any) -> Any:
    return f"{a}{b}"


@step
def tagged(n: int, tags: list[str]) -> str:
    return f"{n} {tags}"


@workflow
def minus_flow(a: int, b: int) -> int:
    return minus(a, b)


@workflow
def side_by_side(n: int) -> list[Any]:
    rows = numbers_up_to(n)
    return [
        minus.map([10, 20], [1, 2]),
        minus.map(rows, numbers_up_to(n), c=1),
        minus.map(rows, [1, n, 3]),
        minus.map(a=rows, b=[1, 2, 3]),
        minus.map(each([5]), b=each([1]), c=3),
        loosely.map(["x", "y"], [{"k": 1}, None]),
        loosely.map(["x", "y"], b=[1, 2]),
        join.map([["a", "b"], ["c"]], ["-", "+"]),
        minus_flow.map([9, 8], [1, 2]),
        tagged.map([1, 2], ["a", "b"]),
    ]


def test_a_map_goes_through_several_lists_side_by_side() -> None:
    assert play(side_by_side, n=3).value == [
        [9, 18],
        [-1, -1, -1],
        [-1, -2, -1],
        [-1, -1, -1],
        [1],
        ["x{'k': 1}", "yNone"],
        ["x[1, 2]", "y[1, 2]"],
        ["a-b", "c"],
        [8, 6],
        ["1 ['a', 'b']", "2 ['a', 'b']"],
    ]


def test_plain_maps_go_side_by_side_too() -> None:
    assert minus.map([10, 20], [1, 2], c=1) == [8, 17]
    with pytest.raises(TraceError, match="give lists of one length"):
        minus.map([1], [2, 3])


@workflow
def uneven(n: int) -> list[int]:
    return minus.map(numbers_up_to(n), [1])


def test_lists_of_different_lengths_fail_in_the_run() -> None:
    with Harness() as harness:
        carry_out(harness, uneven)
        run = harness.start(uneven.definition, uneven.encode({"n": 2}))
        assert harness.finish(run) == "FAILED"
        found = (
            "goes through lists side by side, and `a` has 2 elements, `b` has 1 element: give lists of one"
        )
        assert found in str(run.timeline)


@workflow
def uneven_parameters(xs: list[int], ys: list[int], zs: list[int]) -> list[int]:
    return minus.map(xs, ys, zs)


def test_parameters_of_different_lengths_are_named() -> None:
    with Harness() as harness:
        run = harness.start(uneven_parameters, xs=[1], ys=[], zs=[1])
        assert harness.finish(run) == "FAILED"
        assert "`a` has 1 element, `b` has 0 elements, `c` has 1 element" in str(run.timeline)


def test_known_lists_of_different_lengths_are_refused_beside_unknown_ones() -> None:
    @workflow
    def uneven(n: int) -> list[int]:
        return minus.map(numbers_up_to(n), [1, 2], [3])

    with pytest.raises(TraceError, match="`b` has 2 elements, `c` has 1 element; give lists of one length"):
        _ = uneven.definition


@step
def labelled(label: str, n: int) -> str:
    return f"{label}{n}"


@workflow
def one_label(label: str = "a") -> list[str]:
    return labelled.map(label, [1, 2])


@workflow
def one_known_label() -> list[str]:
    return labelled.map("ab", [1, 2])


@workflow
def one_computed_label(label: str = "a") -> list[str]:
    return labelled.map(labelled(label, 0), [1, 2])


@workflow
def of_one_child(label: str = "a") -> list[str]:
    return labelled_child.map(label, [1, 2])


@workflow
def labelled_child(label: str, n: int) -> str:
    return labelled(label, n)


@pytest.mark.parametrize(
    ("flow", "value"),
    [
        (one_label, ["a1", "a2"]),
        (one_known_label, ["ab1", "ab2"]),
        (one_computed_label, ["a01", "a02"]),
        (of_one_child, ["a1", "a2"]),
    ],
    ids=lambda each: getattr(each, "id", ""),
)
def test_a_single_value_before_the_list_is_the_same_for_all(flow: Flow[..., Any], value: list[str]) -> None:
    assert play(flow).value == value


def test_a_plain_map_with_a_single_value_before_the_list() -> None:
    assert labelled.map("ab", [1, 2]) == ["ab1", "ab2"]
