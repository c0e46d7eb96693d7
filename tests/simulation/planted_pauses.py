"""Bugs that are planted where runs are paused: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from tests.simulation.plant import Plant, replaced

from stretto.node import effects


def pause_not_told() -> AbstractContextManager[None]:
    """A run that is paused does not tell the children of its steps."""
    return replaced(effects, "_hold", lambda _before: lambda _entry, _draft, _effect: None)


PAUSE_PLANTS: Mapping[str, Plant] = {"pause_not_told": pause_not_told}
