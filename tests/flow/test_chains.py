"""Steps one after the other, values handed on, and what is computed on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import msgspec
import pytest
from tests.flow.playing import conditions, play

from stretto.definition import parse
from stretto.flow import size, step, text, workflow


@dataclass
class Line:
    product: str
    price: float


@dataclass
class Order:
    id: int
    lines: list[Line]
    tags: list[str]
    note: str | None = None


class Point(NamedTuple):
    x: int
    y: int


class Box(msgspec.Struct, rename="camel"):
    top_left: int


class Row(TypedDict):
    name: str
    count: int


@step
def order(number: int) -> Order:
    return Order(number, [Line("tea", 2.5), Line("cup", 4.0)], ["new", "paid"])


@step
def double(n: int) -> int:
    return 2 * n


@step
def half(x: float) -> float:
    return x / 2


@step
def say(words: str) -> str:
    return words


@step
def as_is(value: Any) -> Any:
    return value


@step
def numbers(n: int) -> list[int]:
    return list(range(n))


@step
def point() -> Point:
    return Point(3, 4)


@step
def box() -> Box:
    return Box(top_left=7)


@step
def row() -> Row:
    return {"name": "a$b", "count": 2}


@step
def pair() -> tuple[int, str]:
    return 5, "five"


@step
def total(xs: Sequence[float]) -> float:
    return sum(xs)


@step
def nothing(n: int) -> None:
    assert n >= 0


@step
def describe(order: Order, extra: dict[str, Any]) -> str:
    return f"{order.id} {order.lines[1].product} {extra}"


@workflow
def chain(n: int, factor: int = 3) -> int:
    """Double twice."""
    return double(double(n) + factor)


def test_values_are_handed_on() -> None:
    played = play(chain, n=5)
    assert played.value == 26
    assert played.calls == [("double", {"n": 5}), ("double_2", {"n": 13})]


def test_a_default_can_be_changed_at_the_start() -> None:
    assert play(chain, n=5, factor=0).value == 20


def test_a_workflow_and_its_steps_say_what_they_are() -> None:
    assert chain.definition.workflow.description == "Double twice."
    assert chain.definition.extra == {
        "requires": {"n": {"type": "LONG"}},
        "returns": {"step": "double_2", "param": "result", "type": "LONG"},
    }


@workflow
def looking() -> dict[str, Any]:
    found = order(9)
    p, b, r = point(), box(), row()
    first, second = pair()
    found_any = as_is({"a": [1, {"b": None}]})
    return {
        "price": found.lines[1].price,
        "last tag": found.tags[-1],
        "first tag": found.tags[0],
        "xs": [p.x, p[1], p.y],
        "box": b.top_left,
        "row": r["name"],
        "count": r["count"] + 1,
        "pair": [first, second],
        "deep": found_any["a"][1],
        "order": found,
    }


def test_parts_of_results_can_be_read() -> None:
    played = play(looking)
    assert played.value == {
        "price": 4.0,
        "last tag": "paid",
        "first tag": "new",
        "xs": [3, 4, 4],
        "box": 7,
        "row": "a$b",
        "count": 3,
        "pair": [5, "five"],
        "deep": {"b": None},
        "order": {
            "id": 9,
            "lines": [{"product": "tea", "price": 2.5}, {"product": "cup", "price": 4.0}],
            "tags": ["new", "paid"],
            "note": None,
        },
    }


@workflow
def in_records(n: int) -> list[Any]:
    return [as_is(Box(top_left=n)), as_is(Line("tea", n)), as_is((n, n))]


def test_values_may_be_inside_of_records() -> None:
    assert play(in_records, n=3).value == [{"topLeft": 3}, {"product": "tea", "price": 3}, [3, 3]]


@workflow
def mixed() -> str:
    found = order(1)
    return describe(found, {"n": double(4), "list": [found.id, "x$y"], "plain": 3})


def test_values_may_be_inside_of_arguments() -> None:
    assert play(mixed).value == "1 cup {'n': 8, 'list': [1, 'x$y'], 'plain': 3}"


@workflow
def arithmetic(a: int, b: int, x: float, s: str) -> dict[str, Any]:
    return {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "/": a / b,
        "//": a // b,
        "%": a % b,
        "neg": -a,
        "r+": 1 + a,
        "r-": 1 - a,
        "r*": 2 * a,
        "r/": 7 / b,
        "r//": 7 // b,
        "r%": 7 % b,
        "f+": x + 1,
        "s+": s + "!",
        "rs+": ">" + s,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
        "==": a == b,
        "!=": a != b,
        "s<": s < "b",
        "s==": s == "a",
        "&": (a < b) & (x > 0),
        "|": (a > b) | (x > 0),
        "~": ~(a > b),
        "r&": True & (a < b),
        "r|": False | (a < b),
        "size": size(s),
        "text": text("<", s, "|", a, ">"),
    }


@pytest.mark.parametrize(("a", "b"), [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (2, 9)])
def test_arithmetic_is_that_of_python(a: int, b: int) -> None:
    x, s = 1.5, "abc"
    expected = {**arithmetic.fn(a, b, x, s), "~": not a > b}  # of a plain bool, `~` is a number
    assert play(arithmetic, a=a, b=b, x=x, s=s).value == expected


@workflow
def of_anything(data: Any) -> list[Any]:
    a, b = data["a"], data["b"]
    return [a + 1, a + b, a / b, a - 0.5, 10 % a, data["s"] + "!", -b, a > b, (a == 3) & data["yes"]]


def test_what_may_be_anything_can_be_computed_with() -> None:
    data = {"a": 3, "b": 2.5, "s": "x", "yes": True}
    assert play(of_anything, data=data).value == [4, 5.5, 1.2, 2.5, 1, "x!", -2.5, True, True]


@workflow
def sizes() -> list[int]:
    found = order(1)
    data = as_is({"a": 1})
    return [size(numbers(4)), size(found.lines), size(found.tags[0]), size(say("four")), size(data)]


def test_sizes_of_what_is_not_known_yet() -> None:
    assert play(sizes).value == [4, 2, 3, 4, 1]


def test_size_and_text_work_on_plain_values() -> None:
    assert size([1, 2]) == 2
    assert text("a", 1, True) == "a1True"


@workflow
def conversions() -> list[Any]:
    found = as_is([1, 2])
    return [
        half(double(3)),  # a whole number where any will do
        total(numbers(3)),
        total(found),
        as_is(numbers(2)),
        as_is(say("text")),
        double(as_is(4)),
        say(as_is("json")),
        as_is(order(2).lines),
    ]


def test_a_value_becomes_what_the_next_step_asks_for() -> None:
    assert play(conversions).value == [
        3.0,
        3.0,
        3.0,
        [0, 1],
        "text",
        8,
        "json",
        [{"product": "tea", "price": 2.5}, {"product": "cup", "price": 4.0}],
    ]


@workflow
def same_names(n: int, words: str) -> list[Any]:
    # Each argument has the name of a parameter that the other one is given.
    return [swapped(n=size(words), words=text(n)), swapped(words=text(n + 1), n=size(words) + 1)]


@step
def swapped(n: int, words: str) -> str:
    return f"{n} {words}"


def test_arguments_may_be_named_like_parameters() -> None:
    assert play(same_names, n=7, words="abc").value == ["3 7", "4 8"]


@workflow
def odd_names(int: int, result: int, loop_index: int, function: str) -> list[Any]:  # noqa: A002
    return [double(int), double(result + loop_index), say(function)]


def test_parameters_may_be_named_as_they_like() -> None:
    assert play(odd_names, int=1, result=2, loop_index=3, function="f").value == [2, 10, "f"]


@workflow
def ordered() -> int:
    a = nothing(1)
    b = nothing(2)
    c = nothing.after(a, b)(3)
    return double(4).after(c)  # type: ignore[attr-defined, no-any-return]


def test_steps_without_values_can_be_ordered() -> None:
    played = play(ordered)
    assert [step_id for step_id, _ in played.calls] == ["nothing", "nothing_2", "nothing_3", "double"]
    assert conditions(ordered)["nothing_2"] == {"nothing_3": "true"}
    assert played.value == 8


@workflow
def constant() -> str:
    return "$10 {x}"


def test_a_workflow_may_return_what_is_known_already() -> None:
    assert play(constant).value == "$10 {x}"


@workflow
def returning_none() -> None:
    nothing(1)


def test_a_workflow_may_return_nothing() -> None:
    assert returning_none.returns is None
    assert play(returning_none).value is None


@workflow
def returning_nothing(n: int = 1) -> Any:
    return nothing(n)


def test_a_workflow_that_returns_a_step_without_a_result_returns_nothing() -> None:
    assert returning_nothing.returns is None


@workflow
def unannotated(a, b=2):
    return as_is({"a": a, "b": b})


def test_annotations_may_be_left_out() -> None:
    assert play(unannotated, a=[1, "x"]).value == {"a": [1, "x"], "b": 2}


ALL = [
    chain,
    looking,
    mixed,
    arithmetic,
    sizes,
    conversions,
    same_names,
    odd_names,
    ordered,
    constant,
    returning_none,
    unannotated,
]


@pytest.mark.parametrize("flow", ALL, ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
    assert parse(flow.to_json()) == flow.definition


@step
def double_2(n: int) -> int:
    return 2 * n


@workflow
def alike() -> int:
    return double(double(double(double_2(1))))


def test_ids_that_are_made_pass_over_those_that_are_taken() -> None:
    assert [step_id for step_id, _ in play(alike).calls] == ["double_2", "double", "double_3", "double_4"]
