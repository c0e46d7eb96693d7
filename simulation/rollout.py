"""Worlds in which processes know different functions, as while a new release is deployed."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from simulation.runtime import FUNCTIONS
from simulation.watch import Touched
from stretto.ports.messages import Kind

if TYPE_CHECKING:
    from simulation.process import Process


class Rollout:
    """What a world has of it, and how often it mattered."""

    def __init__(self, *, mixed: bool) -> None:
        self.mixed = mixed
        self._deployed = False
        self.figures: Counter[str] = Counter({"worlds with different functions": mixed})

    def functions(self, coin: Callable[[], bool]) -> list[str]:
        """What a process knows that starts now."""
        return [each for each in FUNCTIONS if not self.mixed or self._deployed or coin()]

    def deploy(self, process: "Process | None") -> None:
        """A process knows every function from now on, and so does each that starts later: what waits for a
        function can begin.
        """
        self._deployed = True
        if self.mixed and process is not None:
            process.spawn(0, lambda: process.learn(*FUNCTIONS))

    def seen(self, touched: Touched) -> None:
        """Count what only happens where a process does not know a function."""
        for _, before, after in touched.of("messages"):
            if before is None and after is not None and after.body.kind is Kind.START:
                self.figures["launches sent to other nodes"] += 1
        for _, before, after in touched.of("attempts"):
            waited = before is not None and before.record.function_wait is not None
            if after is not None and after.record.function_wait is not None and not waited:
                self.figures["waits for functions"] += 1
