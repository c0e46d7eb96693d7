"""What a harm of the storm is, and what it may ask of the storm."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from chaos.nodes import NodeProcess

Doing = Coroutine[Any, Any, None]
Harm = Callable[[], Doing | None]  # None: not now


class Harms(Protocol):
    """The storm, for its kinds of harm."""

    def victim(self) -> NodeProcess | None:
        """A node that may be harmed now; None: there is none."""
        ...

    def note(self, trouble: str) -> None:
        """It was done."""
        ...

    def keep_up(self) -> None:
        """Start the nodes that are missing."""
        ...
