"""Workflows that run from this file and from the YAML that is printed of them."""

import asyncio

from stretto import Cron, collect, either, foreach, loop_while, on_failure, sleep, step, wait, when, workflow


@step(retries=0)
def inverse(n: int) -> int:
    return 12 // n


@step(retries=0, failure_mode="IGNORE_FAILURE")
def optional(n: int) -> int:
    return 12 // n


@step
def squared(n: int) -> int:
    return n * n


@step
def note(text: str) -> str:
    return text


@step(timeout="1 second", retries=0)
async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "in time"


# ------------------------------------------------------------------------------------------- missing values
@workflow
def mapped() -> list[int]:
    return optional.map([1, 0, 3])


@workflow
def listed() -> list[int]:
    return [optional(1), optional(0)]


@workflow
def gathered_twice() -> list[list[int]]:
    with foreach([1, 2]) as a:
        with foreach([0, a]) as b:
            found = inverse(b)
            with on_failure(found):
                sleep(0)
        inner = collect(found)
    return collect(inner)


# -------------------------------------------------------------------------------------------------- numbers
@workflow
def power(n: int = 4_000_000_000) -> int:
    return squared(n**2)


@workflow
def only_large() -> list[int]:
    with foreach([3_000_000_000, 5_000_000_000]) as n, when(n * n > 10**19):
        found = squared(n * n)
    return collect(found)


@workflow
def grown() -> int:
    with loop_while(lambda v: v.n < 10**30, n=10) as v:
        v.n = squared(v.n)
    return v.n  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------- timeouts
@workflow
def late() -> str:
    found = slow(60)
    with on_failure(found):
        other = note("late")
    return either(found, other)


@workflow
def late_items() -> list[str]:
    with foreach([0.0, 60.0]) as seconds:
        found = slow(seconds)
        with on_failure(found):
            sleep(0)
    return collect(found)


@workflow
def unanswered_items() -> list[str]:
    with foreach([1, 2]):
        answer = wait(id="ask", returns=str, timeout="1 second")
        with on_failure(answer):
            other = note("nobody")
    return collect(other)


@workflow
def late_child() -> str:
    return slow(60)


@workflow
def handled_child() -> str:
    found = late_child()
    with on_failure(found):
        other = note("the child is late")
    return either(found, other)


# ------------------------------------------------------------------------------------- at once, and schedules
@workflow
def held() -> str:
    return wait(id="ask", returns=str)


@workflow(schedule=Cron("0 3 * * *"))
def nightly() -> str:
    return note("night")


@workflow
def all_then_fail() -> list[int]:
    return inverse.map([1, 0, 3], continue_on_failure=True)
