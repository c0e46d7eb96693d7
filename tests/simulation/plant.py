"""How a bug is planted into the shipped code: something of it is another thing for a while."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

Plant = Callable[[], AbstractContextManager[None]]


class Planted(NamedTuple):
    """A bug, a seed that has found it, and what gives it away: which comes first depends on the seed."""

    plant: Plant
    seed: int
    signs: tuple[str, ...]


@contextmanager
def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Something of the product is another thing for a while; `make` gets what it was."""
    is_map = isinstance(owner, dict)
    before = owner[name] if is_map else getattr(owner, name)
    put: Callable[[Any], None] = (
        (lambda value: owner.__setitem__(name, value))
        if is_map
        else (lambda value: setattr(owner, name, value))
    )
    put(make(before))
    try:
        yield
    finally:
        put(before)
