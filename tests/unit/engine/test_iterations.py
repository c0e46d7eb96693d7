"""The product of loop parameters, by number."""

import pytest

from stretto.engine.iterations import Product, TooManyIterations, check_iteration, check_iterations


def test_the_first_parameter_varies_fastest() -> None:
    product = Product.of({"x": ["a", "b"], "y": (1, 2, 3)})
    assert len(product) == product.total == 6
    assert list(product) == [
        {"x": "a", "y": 1},
        {"x": "b", "y": 1},
        {"x": "a", "y": 2},
        {"x": "b", "y": 2},
        {"x": "a", "y": 3},
        {"x": "b", "y": 3},
    ]


def test_an_empty_array_leaves_nothing_and_no_array_leaves_one() -> None:
    assert list(Product.of({"x": [], "y": [1]})) == []
    assert list(Product.of({})) == [{}]


def test_ranges_are_not_spelled_out() -> None:
    product = Product.of({"x": range(10**6), "y": range(0, 10**12, 2)})
    assert product.total == 10**6 * 5 * 10**11
    assert product[10**6 * 3 + 7] == {"x": 7, "y": 6}


@pytest.mark.parametrize("index", [-1, 2])
def test_there_is_no_iteration_outside(index: int) -> None:
    with pytest.raises(IndexError, match="no iteration"):
        Product.of({"x": [1, 2]})[index]


def test_limits_of_a_foreach() -> None:
    assert check_iterations(25_000, 25_000) == 25_000
    with pytest.raises(TooManyIterations, match="iteration number 25001 is over the loop size limit 25000"):
        check_iterations(25_001, 25_000)


def test_limits_of_a_while() -> None:
    assert check_iteration(5, 5) == 5
    with pytest.raises(TooManyIterations, match=r"count \[6\] is over the loop size limit 5"):
        check_iteration(6, 5)
    with pytest.raises(TooManyIterations, match=r"count \[4\] is over the loop size limit 3"):
        check_iteration(4, 5, most=3)
