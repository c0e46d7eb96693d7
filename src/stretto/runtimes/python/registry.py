"""The functions that a program knows, by name."""

from collections.abc import Callable, Iterator
from typing import Any

from stretto.model.errors import Conflict
from stretto.model.suggest import did_you_mean
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Function, function_of


class Registry:
    """Steps name functions; this is where they are found."""

    def __init__(self, *given: Any) -> None:
        self._by_name: dict[str, Function] = {}
        self.names: frozenset[str]
        self.handlers: frozenset[str] = frozenset()  # of workflows: what else is advertised
        self.register(*given)

    def register(self, *given: Any) -> None:
        """Make functions known: functions, or what has one as its `function`. A newer one of the same module
        and name takes the place of the older.
        """
        for each in given:
            function = as_function(each)
            known = self._by_name.get(function.name)
            if known is not None and (known.module, known.qualname) != (function.module, function.qualname):
                raise Conflict(
                    f"`{function.name}` is the name of two functions, {known.module}:{known.qualname} and "
                    f"{function.module}:{function.qualname}: give one of them another name"
                )
            self._by_name[function.name] = function
        self.names = frozenset(self._by_name)

    def get(self, name: str) -> Function | None:
        return self._by_name.get(name)

    def find(self, name: str) -> Function:
        """A function that somebody relies on."""
        function = self._by_name.get(name)
        if function is None:
            hint = did_you_mean(name, self._by_name)
            raise Refused(
                f"there is no function `{name}` in this program: it was renamed, removed or is not registered"
                + (f"; {hint}" if hint else "")
            )
        return function

    def __iter__(self) -> Iterator[Function]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)


def as_function(given: Function | Callable[..., Any] | Any) -> Function:
    """What is, holds or can become a function."""
    if isinstance(given, Function):
        return given
    held = getattr(given, "function", None)
    return held if isinstance(held, Function) else function_of(given)
