"""What every way to show a run must do."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from stretto.cli.database import Place
from stretto.cli.running.progress import Progress, Step
from stretto.model.param import Parameter
from stretto.ports.rows import AttemptRow


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a session ended."""

    progress: Progress
    place: Place
    attempts: tuple[AttemptRow, ...] = ()  # the newest of each step
    interrupted: bool = False
    result: Parameter | None = None  # the value of a workflow function that has returned
    again: str | None = None  # the command that goes on with the run; None: nothing is kept of it


class View(Protocol):
    """Told what happens, in this order: begin, show and note any number of times, end."""

    def begin(self, progress: Progress, place: Place) -> None:
        """The run is there."""
        ...

    def show(self, moved: Sequence[Step]) -> None:
        """Some steps have moved, or only time has passed."""
        ...

    def note(self, text: str) -> None:
        """Something beside the run that a person should know."""
        ...

    def end(self, ending: Ending) -> None:
        """It is over."""
        ...
