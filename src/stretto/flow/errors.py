"""What is wrong with the way a workflow is written in Python: the place, and what to write instead."""

from contextvars import ContextVar
from typing import Final

from stretto.flow.places import Place, here
from stretto.model.errors import InvalidRequest


class TraceError(InvalidRequest):
    """A mistake in a workflow function, found while it is read and before anything runs."""

    id = "trace"

    def __init__(self, what: str, way_out: str, *, place: Place | None = None) -> None:
        self.place = place or here()
        self.what = what
        super().__init__(f"{self.place}: {what}; {way_out}", hint=way_out)
        found = MISTAKES.get()
        if found is not None:
            found.append(self)

    def at(self, place: Place) -> "TraceError":
        """The same mistake at another line."""
        return TraceError(self.what, self.hint or "", place=place)


MISTAKES: Final[ContextVar[list[TraceError] | None]] = ContextVar("mistakes", default=None)
"""What was found in the workflow that is being traced, whoever catches it: an author's own `except` does not
make it good.
"""
