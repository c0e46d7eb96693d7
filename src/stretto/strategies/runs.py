"""What a run strategy knows of the runs of a workflow, and what it says of them."""

from typing import NamedTuple

from stretto.model.runs import RunKey
from stretto.model.status import FailureMark


class LatestRun(NamedTuple):
    """The newest run of an instance, for a request to restart it."""

    run_id: int
    ended: bool
    failed: bool = False  # its raw status is FAILED


class Mark(NamedTuple):
    """A standing failure that no longer blocks: the raw status to store instead."""

    run: RunKey
    raw: FailureMark


class Replaced(NamedTuple):
    """A queued run that ends STOPPED without having started, and the note on its timeline."""

    run: RunKey
    note: str


def text_of(run: RunKey) -> str:
    """A run as those read it who know the workflow."""
    return f"instance {run.instance_id} run {run.run_id}"


def name_runs(runs: tuple[RunKey, ...], most: int = 3) -> str:
    """`instance 1 run 1, instance 2 run 1 and 5 more`: long lists keep their length out of a sentence."""
    shown = [text_of(run) for run in runs[:most]]
    if len(runs) > most:
        shown.append(f"{len(runs) - most} more")
    *most_of_them, last = shown
    return f"{', '.join(most_of_them)} and {last}" if most_of_them else last
