"""What a stretch of code without branches costs. It is known when compiling, and charged once on entry."""

from collections.abc import Callable
from typing import TypeAlias

from stretto.sel.errors import SelError
from stretto.sel.runtime.frame import VALUE_SIZE, Frame
from stretto.sel.values import Value

Code: TypeAlias = Callable[[Frame], Value]
"""A compiled expression or statement."""


class Segment:
    """Gathers the visits, the memory and the depth of operands of a stretch of code."""

    __slots__ = ("depth", "memory", "visits")

    def __init__(self, visits: int = 0) -> None:
        self.visits = visits
        self.memory = 0
        self.depth = 0

    def visit(self, count: int) -> None:
        """Visit that many nodes."""
        self.visits += count

    def make(self, count: int = 1) -> None:
        """Make that many values."""
        self.memory += count * VALUE_SIZE

    def hold(self, depth: int) -> None:
        """Have that many operands on the stack."""
        self.depth = max(self.depth, depth)

    def charged(self, code: Code, at: int) -> Code:
        """The code, preceded by the charge for all of it."""
        visits, memory, depth = self.visits, self.memory, self.depth

        def run(frame: Frame) -> Value:
            frame.fuel -= visits
            frame.room -= memory
            try:
                if frame.fuel < 0 or frame.room < 0 or depth > frame.limits.stack:
                    frame.exhausted(depth)
                return code(frame)
            except SelError as error:  # what has no better place is here
                raise error.placed(at) from None

        return run
