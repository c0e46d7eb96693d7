"""Bugs that are planted where runs are paused: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from tests.simulation.plant import Plant, replaced

from stretto.node.deciding import Deciding


def pause_not_told() -> AbstractContextManager[None]:
    """A run that is paused does not tell the children of its steps."""
    return replaced(Deciding, "_hold_child", lambda _before: lambda _self, _entry, _draft, _effect: None)


PAUSE_PLANTS: Mapping[str, Plant] = {"pause_not_told": pause_not_told}
