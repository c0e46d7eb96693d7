"""Bugs that are planted where loops are ended, and where they wait for room: see `planted`."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

from tests.simulation.plant import Plant, replaced

from stretto.engine.decide import HANDLERS
from stretto.engine.events import Resumed
from stretto.engine.flow import Flow
from stretto.engine.turn import Turn


def end_not_awaited() -> AbstractContextManager[None]:
    """What an end has not reached yet goes on as if nothing had happened."""
    return replaced(Flow, "end_to_come", lambda _before: property(lambda _self: None))


def end_given_up() -> AbstractContextManager[None]:
    """An end that takes several decisions ends with the first."""

    def only_begin(before: Callable[[Turn, Flow, Resumed], None]) -> Callable[[Turn, Flow, Resumed], None]:
        def resumed(turn: Turn, flow: Flow, event: Resumed) -> None:
            attempt = flow.attempt(event.attempt)
            if attempt is None or attempt.ending is None:
                before(turn, flow, event)

        return resumed

    return replaced(cast("dict[Any, Any]", HANDLERS), cast("str", Resumed), only_begin)


END_PLANTS: Mapping[str, Plant] = {"end_not_awaited": end_not_awaited, "end_given_up": end_given_up}
