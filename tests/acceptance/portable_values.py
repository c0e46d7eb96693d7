"""Workflows with missing values and large numbers that run from this file and from their YAML."""

import asyncio
from collections.abc import Sequence
from typing import Any

from stretto import (
    StepError,
    collect,
    either,
    foreach,
    loop_while,
    on_failure,
    otherwise,
    sleep,
    step,
    switch,
    text,
    wait,
    when,
    workflow,
)


def checked(n: int) -> int:
    if n == 3:
        message = "three"
        raise ValueError(message)
    return 2 * n


@step(retries=0)
def double(n: int) -> int:
    return checked(n)


@step(retries=0, failure_mode="IGNORE_FAILURE")
def optional(n: int) -> int:
    return checked(n)


@step(retries=0, failure_mode="IGNORE_FAILURE")
def flag(n: int) -> bool:
    return checked(n) > 0


@step(retries=0, failure_mode="IGNORE_FAILURE")
def half(n: int) -> float:
    return checked(n) / 4


@step(retries=0, failure_mode="IGNORE_FAILURE")
def name(n: int) -> str:
    return str(checked(n))


@step(retries=0, failure_mode="IGNORE_FAILURE")
def record(n: int) -> dict[str, int]:
    return {"n": checked(n)}


@step(retries=0, failure_mode="IGNORE_FAILURE")
def numbers(n: int) -> list[int]:
    return [checked(n), n]


@step(timeout="3 seconds", retries=0, failure_mode="IGNORE_FAILURE")
async def in_time(seconds: float) -> int:
    await asyncio.sleep(seconds)
    return 1


@step
def shown(value: Sequence[int | None]) -> str:
    return repr(value)


@step
def shown_one(value: int | None) -> str:
    return repr(value)


@step
def errors_shown(values: Sequence[int | StepError | None]) -> list[str]:
    return [str(each) for each in values]


@step
def kept(n: int) -> int:
    return n


@step
def real(x: float) -> float:
    return x


@step
def said(word: str) -> str:
    return word


# ------------------------------------------------------------------------------------------- missing values
@workflow
def ignored_items() -> list[int]:
    return optional.map([1, 2, 3, 4])


@workflow
def handled_items() -> list[int]:
    with foreach([1, 2, 3, 4]) as n:
        found = double(n)
        with on_failure(found):
            sleep(0)
    return collect(found)


@workflow
def flags() -> list[bool]:
    return flag.map([1, 3])


@workflow
def halves() -> list[float]:
    return half.map([1, 3])


@workflow
def names() -> list[str]:
    return name.map([1, 3])


@workflow
def records() -> list[dict[str, int]]:
    return record.map([1, 3])


@workflow
def lists() -> list[list[int]]:
    return numbers.map([1, 3])


@workflow
def all_missing() -> list[int]:
    return optional.map([3, 3])


@workflow
def nothing_to_map(ns: list[int] = []) -> list[int]:  # noqa: B006 - never changed
    return optional.map(ns)


@workflow
def over_a_parameter(ns: list[int] = [1, 3, 5]) -> list[int]:  # noqa: B006 - never changed
    return optional.map(ns)


@workflow
def one_missing() -> int:
    return optional(3)


@workflow
def in_an_object() -> dict[str, Any]:
    return {"a": optional(3), "b": [name(3), name(4)], "c": record(3), "d": [record(3)], "e": numbers(3)}


@workflow
def handed_on() -> list[str]:
    return [shown(optional.map([1, 3])), shown_one(optional(3))]


@workflow
def not_taken() -> list[int]:
    with foreach([1, 2]) as n, when(n > 1):
        found = double(n)
    return collect(found)


@workflow
def not_evaluated() -> list[int]:
    with foreach([1, 0]) as n:
        found = optional(1 // n)
    return collect(found)


@workflow
def late() -> list[int]:
    return in_time.map([0.0, 60.0])


@workflow
def inner(n: int) -> int:
    return optional(n)


@workflow
def one_child_missing() -> int:
    return inner(3)


@workflow
def children() -> list[int]:
    return inner.map([1, 3])


@workflow
def chosen() -> list[str]:
    with foreach([1, 3]) as n:
        found = optional(n)
        with when(found == None):  # noqa: E711 - it is traced
            none = said("none")
        with otherwise():
            other = said("some")
        one = either(none, other)
    return collect(one)


@workflow
def switched() -> str:
    with switch(name(3)) as case:
        with case(""):
            empty = said("empty")
        with case.default():
            other = said("other")
    return either(empty, other)


@workflow
def in_a_text() -> str:
    return said(text("n: ", optional(3), ", ", optional(4)))


@workflow
def computed() -> int:
    return kept(optional(3) + 1)


@workflow
def not_expected() -> int:
    return kept(optional(3))


@workflow
def returned_errors() -> list[str]:
    return errors_shown(double.map([1, 3], errors="return"))


@workflow
def by_default() -> int:
    return either(optional(3), default=-1)


@workflow
def inner_record(n: int) -> dict[str, int]:
    return record(n)


@workflow
def children_handed_on() -> list[Any]:
    return [shown_one(inner(3)), shown(inner.map([1, 3])), inner_record.map([3, 1]), {"a": inner_record(3)}]


@workflow
def unanswered() -> list[str]:
    with foreach([1, 2]):
        answer = wait(id="ask", returns=str, timeout="1 second")
        with on_failure(answer):
            sleep(0)
    return collect(answer)


# ---------------------------------------------------------------------------------------------------- numbers
@workflow
def arithmetic(a: int = 4_000_000_000, b: int = -(2**65)) -> list[int]:
    x, y = kept(a), kept(b)
    return [x**3, x * y, y - x, y // 3, y % 7, -y, abs(y), x + y]


@workflow
def compared(a: int = 2**53 + 1, x: float = float(2**53)) -> list[bool]:
    n, y = kept(a), real(x)
    return [n == y, n < y, n > y, n * n * n > 2**158, n**2 != y**2]


@workflow
def branched(n: int = 4_000_000_000) -> str:
    x = kept(n)
    with when((x * x > 2**63) & (x * x < 2**64)):
        large = said("exact")
    with otherwise():
        small = said("wrapped")
    return either(large, small)


@workflow
def switched_large(n: int = 2**40) -> str:
    x = kept(n)
    with switch(x * x) as case:
        with case(2**80):
            large = said("exact")
        with case.default():
            small = said("wrapped")
    return either(large, small)


@workflow
def looped() -> int:
    with loop_while(lambda v: v.n * v.n < 2**200, n=3) as v:
        v.n = kept(v.n * v.n)
    return v.n  # type: ignore[no-any-return]


@workflow
def mapped(ns: list[int] = [2**62, 2**64, -(2**70)]) -> list[int]:  # noqa: B006 - never changed
    with foreach(ns) as n:
        found = kept(n * 2)
    return collect(found)


@workflow
def inner_square(n: int) -> int:
    return kept(n * n)


@workflow
def through_a_child(n: int = 2**50) -> int:
    return kept(inner_square(n * 4) + 1)


@workflow
def in_a_record(n: int = 2**70) -> dict[str, Any]:
    return {"n": kept(n) + 1, "all": [kept(n), n * n]}


@workflow
def too_large(n: int = 10**3_000) -> int:
    return kept(kept(n) * n)


@workflow
def too_large_in_a_condition(n: int = 10**3_000) -> None:
    with when(kept(n) * n > 0):
        said("never")


@workflow
def too_large_in_a_loop() -> int:
    with loop_while(lambda v: v.n * v.n > 0, n=10**1_500) as v:
        v.n = kept(v.n * v.n)
    return v.n  # type: ignore[no-any-return]


@workflow
def divided_by_zero(n: int = 0) -> int:
    return kept(7 // kept(n))
