"""Values of a program that are far too many: refused before they are made."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest
from tests.unit.actions.test_trials import LOOPS, long
from tests.unit.actions.world import NOOP, flow

from stretto.definition import load
from stretto.definition.parse import Options
from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.values import MOST_MADE

SIDE: Final = 25_000


class Counted:
    """An iterable that counts what it has made."""

    def __init__(self) -> None:
        self.made = 0

    def __iter__(self) -> Iterator[int]:
        for first, second in product(range(SIDE), range(SIDE)):
            self.made += 1
            yield first * second


@step
def double(n: int) -> int:
    return n * 2


@step
def size(what: Any) -> int:
    return len(what)


@workflow
def numbers(items: list[int]) -> Any:
    return double.map(items)


@workflow
def anything(what: Any) -> Any:
    return size(what)


def test_values_are_refused_before_they_are_made() -> None:
    counted = Counted()
    with Engine("memory:").sync() as engine:
        with pytest.raises(InvalidRequest, match="makes more than 100,000 elements"):
            engine.submit(numbers, items=counted)
        assert counted.made <= MOST_MADE + 1
        for given in (range(SIDE * SIDE), range(10**30)):
            with pytest.raises(InvalidRequest, match="no more than 8,388,608 elements"):
                engine.submit(numbers, items=given)
            with pytest.raises(InvalidRequest, match="can not be stored"):
                engine.submit(anything, what=given)


def test_few_values_of_a_generator_are_taken() -> None:
    with Engine("memory:").sync() as engine:
        assert engine.run(numbers, items=(each for each in range(3))) == [0, 2, 4]
        assert engine.run(anything, what=range(3)) == 3


def test_an_expression_that_makes_them_is_refused() -> None:
    (definition,) = load(flow(NOOP, more=f"  params: {{{long('n', LOOPS)}}}\n"), Options())
    with Engine("memory:").sync() as engine, pytest.raises(InvalidRequest, match="compute it in a step"):
        engine.submit(definition)
