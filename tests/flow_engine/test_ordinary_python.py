"""What somebody who writes Python expects to work, or to be told about: each of it runs on a real engine."""

from typing import Any

import pytest
from tests.flow_engine.flows import finish

from stretto import Engine, TraceError, sleep, step, wait, workflow


@step
def add(a: int, b: int) -> int:
    return a + b


@step
def spell(word: str, times: int, end: str) -> str:
    return word * times + end


@workflow
def in_pairs(xs: list[int], ys: list[int]) -> list[int]:
    return add.map(xs, ys)


@workflow
def in_threes(words: list[str], times: list[int]) -> list[str]:
    """By position and by name, with a value that is the same for all."""
    return spell.map(words, times=times, end="!")


@workflow
def in_pairs_of_results(xs: list[int]) -> list[int]:
    doubled = add.map(xs, xs)
    return add.map(doubled, xs)


@workflow
def computed_pairs(xs: list[int], ys: list[int]) -> list[int]:
    """Lists of a workflow that another one calls."""
    return in_pairs(add.map(xs, ys), ys)


@pytest.mark.parametrize(
    ("flow", "params", "value"),
    [
        (in_pairs, {"xs": [1, 2, 3], "ys": [10, 20, 30]}, [11, 22, 33]),
        (in_pairs, {"xs": [], "ys": []}, []),
        (in_threes, {"words": ["a", "b"], "times": [1, 2]}, ["a!", "bb!"]),
        (in_pairs_of_results, {"xs": [1, 2]}, [3, 6]),
        (computed_pairs, {"xs": [1, 2], "ys": [5, 6]}, [11, 14]),
    ],
)
def test_a_map_over_two_lists_takes_them_in_pairs(flow: Any, params: dict[str, Any], value: Any) -> None:
    with Engine("memory").sync() as engine:
        assert engine.run(flow, **params) == value


@workflow
def napping(n: int) -> int:
    return add.after(sleep(0.5))(n, 1)


@workflow
def napping_as_long_as_given(n: int, seconds: float) -> int:
    return add.after(sleep(seconds))(n, 1)


@workflow
def napping_often(times: list[int]) -> list[int]:
    return nap.map(times)


@workflow
def nap(n: int) -> int:
    return add.after(sleep(n * 0.01))(n, 1)


@pytest.mark.parametrize(
    ("flow", "params", "value"),
    [
        (napping, {"n": 1}, 2),
        (napping_as_long_as_given, {"n": 1, "seconds": 0.25}, 2),
        (napping_often, {"times": [1, 2]}, [2, 3]),
    ],
)
def test_sleep_takes_parts_of_a_second(flow: Any, params: dict[str, Any], value: Any) -> None:
    with Engine("memory").sync() as engine:
        assert engine.run(flow, **params) == value


@workflow
def approval(n: int) -> int:
    extra = wait(id="amount", returns=int).after(add(n, 0))  # type: ignore[attr-defined]
    return add(n, extra)


@workflow
def two_approvals(n: int) -> int:
    first = wait(id="first", returns=int).after(add(n, 0))  # type: ignore[attr-defined]
    second = wait(id="second", returns=int).after(first)  # type: ignore[attr-defined]
    return add(first, second)


@pytest.mark.parametrize(
    ("flow", "asked", "value"), [(approval, ("amount",), 42), (two_approvals, ("first", "second"), 80)]
)
def test_a_wait_stands_behind_a_step_that_is_written_in_it(
    flow: Any, asked: tuple[str, ...], value: int
) -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(flow, n=2)
            for step_id in asked:
                await run.answer(step_id, result=40)
            assert await run.result() == value

    finish(work())


class Shop:
    def __init__(self) -> None:
        self.prices = {"tea": 3}

    def price(self, item: str) -> int:
        return self.prices[item]


def test_methods_as_steps_are_refused_with_the_reason() -> None:
    with pytest.raises(TraceError, match=r"`Shop\.price` is a method"):
        step(Shop().price)
    with pytest.raises(TraceError, match=r"`Shop\.price` is a method"):
        step(Shop.price)


def test_a_static_method_is_a_step() -> None:
    class Ruler:
        @step(name="ruler_length")
        @staticmethod
        def length(item: str) -> int:
            return len(item)

    with Engine("memory").sync() as engine:
        assert engine.run(Ruler.length, item="tea") == 3


def double(number: int) -> int:
    return number * 2


async def double_later(number: int) -> int:
    return number * 2


@pytest.mark.parametrize("given", [double, double_later, Shop().price, lambda number: number])
def test_a_function_that_is_no_workflow_is_refused_with_a_hint(given: Any) -> None:
    with Engine("memory").sync() as engine, pytest.raises(Exception, match="is a plain function") as refused:
        engine.run(given, number=1)
    assert "@workflow" in f"{refused.value} {getattr(refused.value, 'hint', '')}"


@step(retries=1)
async def halve(number: int) -> float:
    return number / 2


def test_a_single_step_can_be_submitted_and_run() -> None:
    with Engine("memory").sync() as engine:
        assert engine.run(add, a=1, b=2) == 3
        assert engine.submit(halve, number=3).result() == 1.5
        assert engine.submit(halve, number=5, request_id="once") == engine.submit(
            halve, number=5, request_id="once"
        )


def test_try_around_a_step_is_refused_when_the_workflow_is_traced() -> None:
    @workflow(id="tried")
    def tried(n: int) -> int:
        try:
            return add(n, 1)
        except ValueError:
            return add(n, 2)

    with pytest.raises(TraceError, match="try"):
        _ = tried.definition
