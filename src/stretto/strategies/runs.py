"""What a run strategy knows of a run: its ids, and how its failure stands."""

from enum import StrEnum
from typing import NamedTuple


class RunKey(NamedTuple):
    """A run inside its workflow. Keys sort as the queue does: the oldest instance first."""

    instance_id: int
    run_id: int

    def __str__(self) -> str:
        return f"instance {self.instance_id} run {self.run_id}"


class LatestRun(NamedTuple):
    """The newest run of an instance, for a request to restart it."""

    run_id: int
    ended: bool
    failed: bool = False  # its raw status is FAILED


class RawFailure(StrEnum):
    """How a failed run is stored. All three read as FAILED; only the first one blocks."""

    STANDING = "FAILED"
    UNBLOCKED = "FAILED_1"  # a user let the queue go on
    SUPERSEDED = "FAILED_2"  # a newer run of the same instance took its place


class Mark(NamedTuple):
    """A standing failure that no longer blocks: the raw status to store instead."""

    run: RunKey
    raw: RawFailure


class Replaced(NamedTuple):
    """A queued run that ends STOPPED without having started, and the note on its timeline."""

    run: RunKey
    note: str


def name_runs(runs: tuple[RunKey, ...], most: int = 3) -> str:
    """`instance 1 run 1, instance 2 run 1 and 5 more`: long lists keep their length out of a sentence."""
    shown = [str(run) for run in runs[:most]]
    if len(runs) > most:
        shown.append(f"{len(runs) - most} more")
    *most_of_them, last = shown
    return f"{', '.join(most_of_them)} and {last}" if most_of_them else last
