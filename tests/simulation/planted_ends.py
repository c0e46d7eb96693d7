"""Bugs that are planted where loops are ended: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from tests.simulation.plant import Planted, replaced

from stretto.engine.flow import Flow
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Turn


def end_not_awaited() -> AbstractContextManager[None]:
    """What an end has not reached yet goes on as if nothing had happened."""
    return replaced(Flow, "end_to_come", lambda _before: property(lambda _self: None))


def end_not_carried_on() -> AbstractContextManager[None]:
    """The end of a loop reaches as many iterations as one decision may, and then nobody goes on with it."""

    def make(resume_later: Any) -> Any:
        def resumed(self: Turn, attempt: AttemptRecord) -> None:
            if attempt.ending is None:
                resume_later(self, attempt)

        return resumed

    return replaced(Turn, "resume_later", make)


END_PLANTS: Mapping[str, Planted] = {
    "end_not_awaited": Planted(end_not_awaited, 81, ("I21:", "heeded a ghost")),
    "end_not_carried_on": Planted(end_not_carried_on, 40, ("I21:",)),
}
