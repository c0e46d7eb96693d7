"""Random workflows in Python do what the same statements do when Python carries them out itself."""

from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.flow.playing import play

from stretto.definition import parse
from stretto.flow import (
    Flow,
    collect,
    either,
    foreach,
    loop_while,
    on_failure,
    otherwise,
    step,
    when,
    workflow,
)

Block = tuple["Statement", ...]


class Statement(NamedTuple):
    """`kind` with the positions of values that are known where it stands, constants, and inner statements."""

    kind: str
    first: int
    second: int
    inner: Block = ()
    other: Block = ()
    items: tuple[int, ...] = ()


# ---------------------------------------------------------------------------------------------------- steps
@step
def add(a: int, b: int) -> int:
    return a + b


@step
def total(values: list[int]) -> int:
    return sum(values)


@step
def risky(n: int, part: int) -> int:
    if n % 3 == part % 3:
        message = "by chance"
        raise ValueError(message)
    return n * 2


# --------------------------------------------------------------------------------------------------- traced
def trace(block: Block, known: list[Any]) -> list[Any]:
    """Write the statements as an author would; gives the values that are known after them."""
    known = list(known)
    for each in block:
        known.append(_traced(each, known))
    return known


def _traced(each: Statement, known: list[Any]) -> Any:
    a, b = known[each.first % len(known)], known[each.second % len(known)]
    match each.kind:
        case "step":
            return add(a, b)
        case "expression":
            return a - b + each.first
        case "branch":
            with when(a > each.second):
                x = add(trace(each.inner, known)[-1], 1)
            if not each.other:
                return either(x, default=each.first)
            with otherwise():
                y = add(trace(each.other, known)[-1], 2)
            return either(x, y)
        case "loop":
            with foreach(each.items) as item:
                x = add(trace(each.inner, [*known, item])[-1], a)
            return total(collect(x))
        case "failure":
            x = risky(a, each.second)
            with on_failure(x):
                y = add(trace(each.inner, known)[-1], 1000)
            return either(x, y)
        case "while":
            with loop_while(lambda v: v.k < each.first % 4, k=0, seen=b) as v:
                v.seen = add(trace(each.inner, [*known, v.k])[-1], v.seen)
                v.k = v.k + 1
            return v.seen
        case _:
            raise AssertionError(each.kind)


# -------------------------------------------------------------------------------------------- carried out
def carry_out(block: Block, known: list[int]) -> list[int]:
    known = list(known)
    for each in block:
        known.append(_carried_out(each, known))
    return known


def _carried_out(each: Statement, known: list[int]) -> int:
    a, b = known[each.first % len(known)], known[each.second % len(known)]
    match each.kind:
        case "step":
            return a + b
        case "expression":
            return a - b + each.first
        case "branch":
            if a > each.second:
                return carry_out(each.inner, known)[-1] + 1
            return carry_out(each.other, known)[-1] + 2 if each.other else each.first
        case "loop":
            return sum(carry_out(each.inner, [*known, item])[-1] + a for item in each.items)
        case "failure":
            return carry_out(each.inner, known)[-1] + 1000 if a % 3 == each.second % 3 else a * 2
        case "while":
            for k in range(each.first % 4):
                b += carry_out(each.inner, [*known, k])[-1]
            return b
        case _:
            raise AssertionError(each.kind)


# ------------------------------------------------------------------------------------------------- programs
NUMBERS = st.integers(0, 9)
NOTHING: st.SearchStrategy[Any] = st.just(())
KINDS = st.sampled_from(["step", "expression"])
PLAIN = st.builds(Statement, KINDS, NUMBERS, NUMBERS, NOTHING, NOTHING, NOTHING)


def statements(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    block = st.lists(inner, min_size=1, max_size=2).map(tuple)
    items = st.lists(NUMBERS, min_size=1, max_size=2).map(tuple)
    kinds = st.sampled_from(["branch", "loop", "failure", "while"])
    return st.builds(Statement, kinds, NUMBERS, NUMBERS, block, NOTHING | block, items)


SHALLOW = PLAIN | statements(PLAIN)
PROGRAMS = st.lists(PLAIN | statements(SHALLOW), min_size=1, max_size=3).map(tuple)


SLOW = [HealthCheck.too_slow]


def flow_of(block: Block) -> Flow[..., Any]:
    @workflow(id="random")
    def described(n: int) -> list[int]:
        return trace(block, [n, n + 4])

    return described


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=SLOW)
@given(PROGRAMS, NUMBERS)
def test_workflows_mean_what_they_say(block: Block, n: int) -> None:
    flow = flow_of(block)
    assert parse(flow.to_yaml()) == flow.definition
    assert play(flow, n=n).value == carry_out(block, [n, n + 4])


@pytest.mark.prove
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS, NUMBERS)
def test_many_workflows_mean_what_they_say(block: Block, n: int) -> None:
    assert play(flow_of(block), n=n).value == carry_out(block, [n, n + 4])
