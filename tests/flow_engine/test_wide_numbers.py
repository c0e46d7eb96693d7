"""Whole numbers of more than 64 bits, `nan` and the infinities go wherever other numbers go."""

import math
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.flow_engine.flows import finish

from stretto.flow import collect, either, foreach, loop_while, otherwise, step, text, when, workflow
from stretto.flow.engine import Engine
from stretto.testing.harness import Harness

BIG = 2**70
NAN, INF = math.nan, math.inf


def same(found: Any, wanted: Any) -> bool:
    """Equality in which nan equals itself, and 1 is not 1.0."""
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and bool(found == wanted)


@dataclass
class Reading:
    value: float
    count: int
    all: list[float]


@step
def whole(n: int) -> int:
    return n


@step
def real(x: float) -> float:
    return x


@step
def wholes(ns: list[int]) -> list[int]:
    return ns


@step
def reals(xs: list[float]) -> list[float]:
    return xs


@step
def by_name(n: int) -> dict[str, int]:
    return {"n": n, "small": 1}


@step
def reading(x: float, n: int) -> Reading:
    return Reading(x, n, [x, 1.5])


@step(isolation="process")
def apart(n: int, x: float) -> list[float]:
    return [x, float(n)]


@step
def doubled(n: int) -> int:
    return 2 * n


@step
def anything(value: Any) -> Any:
    return value


@step
def said(value: str) -> str:
    return value


@workflow
def inner(n: int, x: float) -> list[int]:
    real(x)
    return wholes([n, whole(n)])


@workflow
def everything(n: int, x: float, ns: list[int], xs: list[float], most: int = BIG) -> dict[str, Any]:
    read = reading(x, n)
    named = by_name(n)
    with foreach(ns) as each:
        kept = whole(each)
    with loop_while(lambda v: v.n < most * 4, n=n) as v:
        v.n = doubled(v.n)
    with when(whole.named("tested")(n) > most - 1):
        chosen = said("large")
    with otherwise():
        small = said("small")
    with when(real.named("compared")(x) == x):  # not so for nan
        said("a number")
    return {
        "whole": whole(n),
        "real": real(x),
        "wholes": wholes(ns),
        "reals": reals(xs),
        "by name": named,
        "entry": named["n"] + 1,
        "field": read.value,
        "element": read.all[0],
        "reading": read,
        "mapped": doubled.map(ns),
        "mapped reals": real.map(xs),
        "collected": collect(kept),
        "looped": v.n,
        "apart": apart(n, x),
        "child": inner(n, x),
        "sum": whole.named("summed")(n) + n,
        "product": n * whole.named("factor")(n),
        "negative": -whole.named("negated")(n),
        "halves": whole.named("halved")(n) // 2,
        "above": real.named("infinite")(x) > float("inf"),
        "open": anything([n, x]),
        "shown": said(text("n is ", n)),
        "chosen": either(chosen, small),
    }


def expected(n: int, x: float, ns: list[int], xs: list[float]) -> dict[str, Any]:
    looped = n
    while looped < 4 * BIG:
        looped *= 2
    return {
        "whole": n,
        "real": x,
        "wholes": ns,
        "reals": xs,
        "by name": {"n": n, "small": 1},
        "entry": n + 1,
        "field": x,
        "element": x,
        "reading": {"value": x, "count": n, "all": [x, 1.5]},
        "mapped": [2 * each for each in ns],
        "mapped reals": xs,
        "collected": ns,
        "looped": looped,
        "apart": [x, float(n)],
        "child": [n, n],
        "sum": 2 * n,
        "product": n * n,
        "negative": -n,
        "halves": n // 2,
        "above": x > INF,
        "open": [n, x],
        "shown": f"n is {n}",
        "chosen": "large",
    }


def test_they_travel(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            for x in (NAN, -INF):
                arguments: dict[str, Any] = {"n": BIG, "x": x, "ns": [BIG, 1, -BIG], "xs": [x, 0.5, INF]}
                run = await engine.submit(everything, **arguments)
                found = await run.result(60)
                wanted = expected(**arguments)
                assert found.keys() == wanted.keys()
                wrong = {key: found[key] for key, each in wanted.items() if repr(found[key]) != repr(each)}
                assert not wrong
                steps = await run.steps()
                assert same(steps["real"].value, x)
                assert same(steps["wholes"].value, [BIG, 1, -BIG])

    finish(work())


@workflow
def handed_on(n: int, x: float, ns: list[int], xs: list[float]) -> tuple[int, float, list[int], list[float]]:
    return whole(whole.named("first")(n)), real(x), wholes(ns), reals(reals.named("first_reals")(xs))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers() | st.integers(-(10**300), 10**300),
    st.floats(),
    st.lists(st.integers() | st.just(BIG)),
    st.lists(st.floats()),
)
def test_whatever_a_step_returns_arrives(n: int, x: float, ns: list[int], xs: list[float]) -> None:
    with Harness() as harness:
        run = harness.start(handed_on, n=n, x=x, ns=ns, xs=xs)
        assert harness.finish(run) == "SUCCEEDED"
        assert same(list(run.result), [n, x, ns, xs])
