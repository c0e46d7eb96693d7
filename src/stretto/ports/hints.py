"""Notices that make things fast and are needed for nothing."""

from collections.abc import Callable, Collection
from typing import Final, Protocol

from stretto.engine.records import RunKey

__all__ = ["SILENT", "Heard", "Hints", "Silent"]

Heard = Callable[[frozenset[int], Collection[RunKey]], None]


class Hints(Protocol):
    """Who has committed something for other groups says so; their owners fetch at once instead of soon.

    A hint may be lost, late or doubled, and nothing goes wrong: polls and sweeps find everything without it.
    """

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """Tell whoever owns these groups to look. Only after the commit. Never waits and never raises.

        Runs that were `admitted` may be told by name: an owner in this process need not look for those.
        """
        ...

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Call `heard` with the groups of each hint, and what runs it names, in the caller's event loop.
        Returns how to stop it.
        """
        ...


class Silent:
    """Nobody is told: what was committed is found by the next poll."""

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """Nothing."""

    def listen(self, heard: Heard) -> Callable[[], None]:  # noqa: ARG002 - there is nothing to hear
        """Nothing will be heard, and there is nothing to stop."""
        return lambda: None


SILENT: Final[Hints] = Silent()
