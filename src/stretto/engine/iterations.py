"""The iterations of a foreach step: every combination of its loop parameters, none of them made in advance.

    Product.of({"day": days, "region": regions})
    product.total         how many there are
    product[7]            the values of iteration 7, counted from 0: {"day": ..., "region": ...}

The parameter that is written first varies fastest. A million combinations cost what their arrays cost, and a
`range` stays one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from stretto.model.errors import Unprocessable


class TooManyIterations(Unprocessable):
    """A loop goes round more often than it may."""

    id = "too-many-iterations"


class Product:
    """The combinations of some arrays, by number. Without an array there is one, the empty one."""

    __slots__ = ("_arrays", "total")

    def __init__(self, arrays: Sequence[tuple[str, Sequence[Any]]]) -> None:
        self._arrays = tuple(arrays)
        self.total = math.prod(len(values) for _, values in self._arrays)

    @classmethod
    def of(cls, arrays: Mapping[str, Sequence[Any]]) -> Self:
        return cls(list(arrays.items()))

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.__getitem__, range(self.total))

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not 0 <= index < self.total:
            raise IndexError(f"there is no iteration {index} of {self.total}")
        chosen: dict[str, Any] = {}
        for name, values in self._arrays:
            index, at = divmod(index, len(values))
            chosen[name] = values[at]
        return chosen


def check_iterations(total: int, limit: int) -> int:
    """The number of iterations of a foreach, if it may have so many."""
    if total > limit:
        raise TooManyIterations(f"Foreach iteration number {total} is over the loop size limit {limit}")
    return total


def check_iteration(iteration: int, limit: int, most: int | None = None) -> int:
    """The next iteration of a while, counted from 1, if it may begin; `most` is the step's own limit."""
    allowed = limit if most is None else min(limit, most)
    if iteration > allowed:
        raise TooManyIterations(
            f"While loop iteration count [{iteration}] is over the loop size limit {allowed}"
        )
    return iteration
