"""Bugs that are planted where loops are ended: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from tests.simulation.plant import Plant, replaced

from stretto.engine.flow import Flow


def end_not_awaited() -> AbstractContextManager[None]:
    """What an end has not reached yet goes on as if nothing had happened."""
    return replaced(Flow, "end_to_come", lambda _before: property(lambda _self: None))


END_PLANTS: Mapping[str, Plant] = {"end_not_awaited": end_not_awaited}
