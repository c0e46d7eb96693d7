"""Values that JSON has no word for go from step to step, through threads, processes and the database."""

import math
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from tests.flow_engine.flows import finish

from stretto import RunFailed, StepContext, codec
from stretto.flow.engine import Engine
from stretto.flow.errors import TraceError
from stretto.flow.steps import step
from stretto.flow.workflow import workflow


class Money:
    def __init__(self, amount: Decimal, currency: str) -> None:
        self.amount = amount
        self.currency = currency

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


codec(Money, encode=lambda m: [m.amount, m.currency], decode=lambda parts: Money(Decimal(parts[0]), parts[1]))
VALUE = {
    "bytes": b"\x00\xff",
    "infinite": [math.inf, -math.inf],
    "big": 2**100,
    "keys": {1: "a", None: {2: b"x"}},
    "money": [Money(Decimal("1.5"), "EUR")],
}


@step
def make() -> Any:
    return VALUE


@step(isolation="process")
def hand_on(value: Any) -> Any:
    assert value == VALUE
    return value


@step
def typed(value: dict[str, Any], prices: list[Money]) -> dict[int, bytes]:
    return {len(prices): value["bytes"]}


@step
async def longest(pages: dict[int, bytes], money: Money) -> tuple[int, Money]:
    return max(pages), money


@workflow(run_strategy="parallel")
def travelling(money: Money) -> tuple[int, Money]:
    value = hand_on(make())
    return longest(typed(value, [money, money]), money)


@step
def locks() -> threading.Event:
    return threading.Event()


@step
def opens(lock: threading.Event) -> None: ...


@workflow
def locked() -> None:
    locks()


@workflow
def opening() -> None:
    opens(None)  # type: ignore[arg-type]


@workflow
def opened(lock: threading.Event | None = None) -> None:  # noqa: ARG001
    make()


@workflow
def returning() -> Iterator[int]:
    return iter([1])


@step
def numbers() -> Callable[[int], int]:
    return abs


@workflow
def calling() -> None:
    numbers()


@step
def by_pair(n: int) -> dict[tuple[int, int], str]:
    return {(n, n): "a"}


@workflow
def paired() -> None:
    by_pair.map([1])


WORK: list[str] = []


@step
def works() -> Iterator[int]:
    WORK.append("done")
    return iter([1])


@step
def adds(ctx: StepContext) -> None:
    ctx.add(works, {})


@workflow
def adding() -> None:
    adds()  # type: ignore[call-arg]


def test_a_step_that_is_added_is_refused_before_its_work(url: str) -> None:
    with Engine(url).sync() as engine, pytest.raises(RunFailed) as failed:
        engine.run(adding)
    assert "returns an `Iterator`, which can not be stored between two steps" in str(failed.value)
    assert WORK == []


def test_fractions_and_complex_numbers_travel(url: str) -> None:
    with Engine(url).sync() as engine:
        value = [Fraction(1, 3), 1 + 2j, {2: Fraction(-1, 2**70)}]
        assert engine.run(tagging, value={"$stretto": ["", value]})[:2] == [{"$stretto": ["", value]}] * 2


def test_values_travel(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            money = Money(Decimal(3), "EUR")
            run = await engine.submit(travelling, money=money)
            assert await run.result(60) == (2, money)
            steps = await run.steps()
            assert steps["hand_on"].value == VALUE
            assert steps["typed"].value == {2: b"\x00\xff"}

    finish(work())


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (locked, "`locks` returns an `Event`, which can not be stored between two steps"),
        (opened, "the workflow `opened` takes `lock` as an `Event`, which can not be stored"),
        (returning, "the workflow `returning` returns an `Iterator`, which can not be stored"),
        (calling, "`numbers` returns a `Callable`, which can not be stored between two steps; use plain"),
        (paired, r"`by_pair` returns a `dict\[tuple, ...\]`, .*; use texts, numbers or flags as keys"),
        (opening, "`opens` takes `lock` as an `Event`, which can not be stored between two steps"),
    ],
)
def test_what_types_say_is_refused_before_the_work(flow: Any, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        _ = flow.definition


@step
def measures(big: int | None) -> list[float | None]:
    return [1.5, math.inf, -math.inf, None if big is None else float(big)]


@step
def doubled(value: float | None) -> float | None:
    return None if value is None else 2 * value


@step
def raised(base: int | None) -> int | None:
    return None if base is None else base**3


@step
def kept(numbers: list[float | None], big: int | None) -> tuple[list[float | None], int | None]:
    return numbers, big


@workflow
def measuring(big: int | None, first: float | None) -> tuple[list[float | None], int | None]:
    numbers = doubled.map(measures(big))
    return kept(numbers, raised(big).after(doubled.named("first_doubled")(first)))  # type: ignore[union-attr]


def test_numbers_that_no_parameter_type_holds_are_kept_as_the_error_says(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(measuring, big=10**30, first=math.nan)
            numbers, big = await run.result(60)
            assert numbers == [3.0, math.inf, -math.inf, 2e30]
            assert big == 10**90
            assert math.isnan((await run.steps())["first_doubled"].value)

    finish(work())


@step
def overflows() -> int:
    return 10**4_000


@workflow
def overflowing() -> int:
    return overflows()


def test_an_integer_that_is_too_large_is_an_error_with_the_way_out() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            result = await (await engine.submit(overflowing)).wait(30)
            assert "is an integer of more than 4,000 digits: return it as text" in str(result.error)

    finish(work())


TAGGED = {"$stretto": ["bytes", "AA=="]}


@step
def same(value: Any) -> Any:
    return value


@step(isolation="process")
def same_elsewhere(value: Any) -> Any:
    return value


@step
def texts(value: Any) -> dict[str, Any]:
    return {"$stretto": ["bytes", value["$stretto"][1]]}


@workflow
def tagging(value: Any) -> Any:
    inner = {"$stretto": [same("bytes"), "AA=="], "other": same(b"x")}
    return [same(value), same_elsewhere(value), texts(value), same(inner), {"$stretto": same(1)}]


def test_data_with_the_key_of_a_tag_travels(url: str) -> None:
    wanted = [TAGGED, TAGGED, TAGGED, {**TAGGED, "other": b"x"}, {"$stretto": 1}]
    with Engine(url).sync() as engine:
        assert engine.run(tagging, value=TAGGED) == wanted
