"""How many iterations a loop may have."""

from stretto.model.errors import Unprocessable


class TooManyIterations(Unprocessable):
    """A loop goes round more often than it may."""

    id = "too-many-iterations"


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
