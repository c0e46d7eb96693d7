"""Branches: what runs, what does not, and how what follows goes on."""

from typing import Any

import pytest
from tests.flow.playing import conditions, play

from stretto.definition import parse
from stretto.flow import collect, either, foreach, otherwise, step, switch, when, workflow


@step
def number(n: int) -> int:
    return n


@step
def add(a: int, b: int = 100) -> int:
    return a + b


@step
def name(text: str) -> str:
    return text


@step
def note(text: str) -> None:
    assert text


@step
def gather(values: list[int]) -> list[int]:
    return values


@workflow
def one_way(n: int) -> str:
    x = number(n)
    with when(x > 3):
        note("large")
    return name("done")


@pytest.mark.parametrize("n", [1, 5])
def test_a_branch_runs_or_not_and_the_rest_does_either_way(n: int) -> None:
    played = play(one_way, n=n)
    assert played.ran("note") is (n > 3)
    assert played.value == "done"
    assert set(played.steps) == {"number", "note", "name"}  # the condition stands on the edge: no gate


@workflow
def two_ways(n: int) -> int:
    x = number(n)
    with when(x > 3):
        a = add(x)
    with otherwise():
        b = add(x, 200)
    return add(either(a, b), 1)


@pytest.mark.parametrize(("n", "value"), [(1, 202), (5, 106)])
def test_either_branch_can_give_the_value(n: int, value: int) -> None:
    assert play(two_ways, n=n).value == value


@workflow
def four_ways(n: int) -> str:
    x = number(n)
    with when(x < 0):
        a = name("negative")
    with otherwise(x == 0):
        b = name("zero")
    with otherwise(x < 10):
        c = name("small")
    with otherwise():
        d = name("large")
    return either(a, b, c, d)


@pytest.mark.parametrize(("n", "value"), [(-1, "negative"), (0, "zero"), (9, "small"), (10, "large")])
def test_branches_in_a_row(n: int, value: str) -> None:
    played = play(four_ways, n=n)
    assert played.value == value
    assert sum(played.ran(each) for each in ("name", "name_2", "name_3", "name_4")) == 1


@workflow
def by_value(kind: str) -> str:
    with switch(name(kind)) as case:
        with case("a"):
            x = name("A")
        with case("b", "c"):
            y = name("BC")
        with case.default():
            z = name("other")
    return either(x, y, z)


@pytest.mark.parametrize(("kind", "value"), [("a", "A"), ("b", "BC"), ("c", "BC"), ("d", "other")])
def test_a_switch_takes_one_case(kind: str, value: str) -> None:
    assert play(by_value, kind=kind).value == value


@workflow
def parts_of_switch(kind: str) -> str:
    with switch(kind) as case, case("a"):
        x = name("A")
    return either(x, default="none")


@pytest.mark.parametrize(("kind", "value"), [("a", "A"), ("b", "none")])
def test_a_parameter_can_decide(kind: str, value: str) -> None:
    played = play(parts_of_switch, kind=kind)
    assert played.value == value
    assert "switch" in played.steps  # nothing comes before it, so a gate decides


@workflow
def outside_values(n: int) -> int:
    x, y, z = number(n), number(10), number(20)
    with when(x > 3):
        a = add(y, z)
        b = add(a, x)
    return either(b, default=0)


@pytest.mark.parametrize(("n", "value"), [(1, 0), (5, 35)])
def test_a_branch_may_need_values_from_outside(n: int, value: int) -> None:
    played = play(outside_values, n=n)
    assert played.value == value
    edges = conditions(outside_values)
    assert (
        edges["number_2"] == edges["number_3"] == {"when": "true"}
    )  # no edge into the branch but the gate's
    assert edges["when"] == {"add": "(number__result > 3)", "return": "true"}


@workflow
def nested(a: bool, b: bool) -> str:
    x = name("x")
    with when(a == True):  # noqa: E712
        y = name("y")
        with when(b == True):  # noqa: E712
            z = name(x + y)
        with otherwise():
            u = name("u" + y)
        v = name("[" + either(z, u) + "]")
    with otherwise():
        w = name("w")
    return either(v, w)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [(True, True, "[xy]"), (True, False, "[uy]"), (False, True, "w"), (False, False, "w")],
)
def test_branches_in_branches(a: bool, b: bool, value: str) -> None:
    assert play(nested, a=a, b=b).value == value


@workflow
def later_conditions(n: int) -> list[int]:
    x = number(n)
    with when(x > 3):
        a = add(x)
    with when(either(a, default=0) > 105):
        b = add(1)
    with when((x > 0) & (x < 3)):
        c = add(2)
    return [either(a, default=-1), either(b, default=-1), either(c, default=-1)]


@pytest.mark.parametrize(("n", "value"), [(1, [-1, -1, 102]), (4, [104, -1, -1]), (6, [106, 101, -1])])
def test_a_condition_may_look_at_what_a_branch_gave(n: int, value: list[int]) -> None:
    assert play(later_conditions, n=n).value == value


@workflow
def loop_in_branch(n: int) -> list[int]:
    x = number(n)
    with when(x > 3):
        found = add.map([1, 2, 3], b=x)
        doubled = gather(found)
    return either(doubled, default=[0])


@pytest.mark.parametrize(("n", "value"), [(1, [0]), (5, [6, 7, 8])])
def test_a_map_in_a_branch(n: int, value: list[int]) -> None:
    assert play(loop_in_branch, n=n).value == value


@workflow
def branch_in_loop(n: int) -> list[Any]:
    limit = number(n)
    with foreach([1, 5, 9]) as item:
        with when(item > limit):
            x = add(item)
        with otherwise():
            y = add(item, 0)
            with when(y == 1):
                note("one")
        z = number(either(x, y))
    return [collect(x), collect(z)]


def test_a_branch_in_a_loop() -> None:
    played = play(branch_in_loop, n=4)
    assert played.value == [[None, 105, 109], [1, 105, 109]]  # a value that was not computed is a gap
    assert [text for step_id, text in played.calls if step_id == "note"] == [{"text": "one"}]


@workflow
def after_a_branch(n: int) -> str:
    x = number(n)
    with when(x > 3):
        a = note("a")
    return name.after(a)("last")


@pytest.mark.parametrize("n", [1, 5])
def test_a_step_after_a_branch_waits_for_it_and_runs_anyway(n: int) -> None:
    assert play(after_a_branch, n=n).value == "last"


@workflow
def only_in_the_branch(n: int) -> None:
    x = number(n)
    with when(x > 3):
        a = note("a")
        b = note.after(a)("b")
        note.after(b)("c")


def test_steps_of_a_branch_follow_each_other() -> None:
    assert conditions(only_in_the_branch)["note"] == {"note_2": "true"}
    assert not any(play(only_in_the_branch, n=1).ran(each) for each in ("note", "note_2", "note_3"))
    assert all(play(only_in_the_branch, n=4).ran(each) for each in ("note", "note_2", "note_3"))


@workflow
def empty_branch(n: int) -> int:
    x = number(n)
    with when(x > 3):
        pass
    return x


def test_a_branch_without_steps_is_nothing() -> None:
    assert list(conditions(empty_branch)) == ["number"]


@workflow
def mixed_choices(n: int) -> Any:
    x = number(n)
    with when(x > 3):
        a = name("text")
    return either(a, x, default="never")


@pytest.mark.parametrize(("n", "value"), [(1, 1), (5, "text")])
def test_choices_may_be_of_different_types(n: int, value: Any) -> None:
    assert play(mixed_choices, n=n).value == value


@workflow
def choice_in_a_loop(n: int) -> list[int]:
    x = number(n)
    with when(x > 3):
        a = add(x)
    return add.map([1, 2], b=either(a, default=1000))


@pytest.mark.parametrize(("n", "value"), [(1, [1001, 1002]), (5, [106, 107])])
def test_a_choice_is_handed_into_a_loop(n: int, value: list[int]) -> None:
    assert play(choice_in_a_loop, n=n).value == value


@workflow
def choices_in_a_loop(n: int) -> list[Any]:
    x = number(n)
    with foreach([1, 5]) as item:
        with when(item > x):
            a = add(item)
        b = number(either(a, x))
        c = gather(either(gather([b]), default=[item, x]))
    with when(x > 3):
        d = add(x)
        e = gather([x])
    return [
        collect(b),
        collect(c),
        either(d, default=[x, "none"]),
        either(e, default=[x]),
        either(e, default=x),
    ]


@pytest.mark.parametrize(
    ("n", "value"),
    [(3, [[3, 105], [[3], [105]], [3, "none"], [3], 3]), (6, [[6, 6], [[6], [6]], 106, [6], [6]])],
)
def test_choices_of_all_kinds(n: int, value: list[Any]) -> None:
    assert play(choices_in_a_loop, n=n).value == value


ALL = [
    choices_in_a_loop,
    one_way,
    two_ways,
    four_ways,
    by_value,
    parts_of_switch,
    outside_values,
    nested,
    later_conditions,
    loop_in_branch,
    branch_in_loop,
    after_a_branch,
    only_in_the_branch,
    empty_branch,
    mixed_choices,
    choice_in_a_loop,
]


@pytest.mark.parametrize("flow", ALL, ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
