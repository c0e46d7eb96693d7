"""Arithmetic on values of a run means what it means in Python: it is exact, or an error."""

import operator
from collections.abc import Callable
from typing import Any

import pytest

from stretto.definition import parse
from stretto.flow import Flow, collect, foreach, loop_while, otherwise, step, when, workflow
from stretto.testing.harness import Harness

BIG = 4_000_000_000
HUGE = 10**3_000
MOST, LEAST = 2**63 - 1, -(2**63)


@step
def kept(n: int) -> int:
    return n


@step
def number(x: float) -> float:
    return x


def started(flow: Flow[..., Any], **params: Any) -> tuple[str, Any]:
    """How a run of the printed definition ends: its status, and its result or the reasons of its steps."""
    assert parse(flow.to_yaml()) == flow.definition
    with Harness() as harness:
        run = harness.start(flow, **params)
        status = harness.finish(run)
        return status, run.result if status == "SUCCEEDED" else str([run.step(s).reason for s in run.steps])


@workflow
def times(a: int, b: int) -> int:
    return kept(a) * b


@workflow
def plus(a: int, b: int) -> int:
    return kept(a) + b


@workflow
def minus(a: int, b: int) -> int:
    return kept(a) - b


@workflow
def floors(a: int, b: int) -> int:
    return kept(a) // b


@workflow
def modulo(a: int, b: int) -> int:
    return kept(a) % b


@workflow
def parts(a: int, b: int) -> float:
    return kept(a) / b


@workflow
def square(a: int, b: int) -> int:  # noqa: ARG001
    return kept(a) ** 2


@workflow
def magnitude(a: int, b: int) -> int:  # noqa: ARG001
    return abs(kept(a))


@workflow
def opposite(a: int, b: int) -> int:  # noqa: ARG001
    return -kept(a)


IN_PYTHON: dict[Flow[..., Any], Callable[[int, int], float]] = {
    times: operator.mul,
    plus: operator.add,
    minus: operator.sub,
    floors: operator.floordiv,
    modulo: operator.mod,
    parts: operator.truediv,
    square: lambda a, _: a**2,
    magnitude: lambda a, _: abs(a),
    opposite: lambda a, _: -a,
}
PAIRS = [
    (7, 2),
    (-7, 2),
    (7, -2),
    (-7, -2),
    (3, 0),
    (BIG, BIG),
    (MOST, 1),
    (MOST, MOST),
    (MOST - 1, MOST),
    (LEAST, 3),
    (LEAST, -1),
    (LEAST + 1, MOST),
    (9_007_199_254_740_993, 3),
    (2**70, 3),
    (-(2**70), 2**65),
    (3, -(2**70)),
]


@pytest.mark.parametrize("flow", IN_PYTHON, ids=lambda flow: flow.id)
def test_operators_compute_what_python_computes(flow: Flow[..., Any]) -> None:
    for a, b in PAIRS:
        status, found = started(flow, a=a, b=b)
        try:
            expected = IN_PYTHON[flow](a, b)
        except ZeroDivisionError:
            assert (status, "divided by zero" in found) == ("FAILED", True)
            continue
        assert (status, found) == ("SUCCEEDED", expected), (a, b)
        assert type(found) is type(expected)


@workflow
def in_a_condition(a: int) -> None:
    n = kept(a)
    with when(n * n > 0):
        kept(1)
    with otherwise():
        kept(2)


def test_a_condition_that_overflows_is_an_error() -> None:
    status, found = started(in_a_condition, a=HUGE)
    assert status == "FAILED"
    assert "Integer overflow: 10000000000000000000... (3,001 characters) * 1000" in found
    assert "needs more than 4,000 digits" in found
    assert started(in_a_condition, a=BIG)[0] == "SUCCEEDED"


@workflow
def in_a_loop() -> int:
    with loop_while(lambda v: v.n * HUGE > 0, n=1) as v:
        v.n = kept(v.n * HUGE)
    return v.n  # type: ignore[no-any-return]


@workflow
def in_a_map(a: int) -> list[int]:
    with foreach([1, 2]) as n:
        found = kept(n * a * a)
    return collect(found)


@pytest.mark.parametrize(("flow", "params"), [(in_a_loop, {}), (in_a_map, {"a": HUGE})])
def test_loops_that_overflow_fail(flow: Flow[..., Any], params: dict[str, Any]) -> None:
    with Harness() as harness:
        run = harness.start(flow, **params)
        assert harness.finish(run) == "FAILED"
        reasons = [
            str(inner.step(s).reason) for s in run.steps for inner in run.iterations(s) for s in inner.steps
        ]
        reasons += [str(run.step(s).reason) for s in run.steps]
        assert any("Integer overflow" in each for each in reasons), reasons


@workflow
def compared(a: int, x: float) -> list[bool]:
    n, y = kept(a), number(x)
    return [n == y, n < y, n > y]


def test_whole_numbers_and_fractions_are_compared_exactly() -> None:
    a, x = 2**53 + 1, float(2**53)
    assert started(compared, a=a, x=x) == ("SUCCEEDED", [a == x, a < x, a > x])


@workflow
def fractions(x: float) -> list[float]:
    y = number(x)
    return [y**2, abs(y), y / 4, kept(2) ** -1, kept(9) ** 0.5]


def test_fractions() -> None:
    assert started(fractions, x=-1.5) == ("SUCCEEDED", [2.25, 1.5, -0.375, 0.5, 3.0])


def test_the_same_expression_for_maestro_wraps() -> None:
    text = times.to_yaml().replace("semantics: STRETTO", "semantics: MAESTRO")
    with Harness() as harness:
        harness.does("kept", {"result": BIG})
        run = harness.start(text, {"a": BIG, "b": BIG})
        assert harness.finish(run) == "SUCCEEDED"
        assert run.step("return").params["result"] == BIG * BIG - 2**64
