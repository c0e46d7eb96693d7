"""How many iterations a loop may have."""

import pytest

from stretto.engine.iterations import TooManyIterations, check_iteration, check_iterations


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
