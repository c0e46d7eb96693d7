"""Letting a strictly sequential queue go on past its failures."""

from collections.abc import Sequence
from dataclasses import dataclass

from stretto.model.properties import RunStrategy
from stretto.model.runs import RunKey
from stretto.model.status import FailureMark
from stretto.strategies.admission import Admission, admit
from stretto.strategies.runs import Mark


@dataclass(frozen=True, slots=True)
class Unblocked:
    """The failures that no longer stand, and what may start for it. No marks: there was nothing to do."""

    marks: tuple[Mark, ...]
    admission: Admission


def unblock(
    strategy: RunStrategy,
    queue: Sequence[RunKey],
    running: int,
    failed: Sequence[RunKey],
    run: RunKey | None = None,
    paused: Sequence[RunKey] = (),
) -> Unblocked:
    """Unblock one failed run, or all of the workflow. `failed` are the runs with the raw status FAILED."""
    marks = tuple(Mark(each, FailureMark.UNBLOCKED) for each in failed if run is None or each == run)
    return Unblocked(marks, admit(strategy, queue, running, len(failed) - len(marks), paused=paused))
