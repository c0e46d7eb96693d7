"""Which run, which attempt of a step, and how many runs a workflow has."""

from typing import NamedTuple


class RunKey(NamedTuple):
    """Which run: the iteration of a loop has the loop's inline workflow id. Keys of one workflow sort as its
    queue does: the oldest instance first.
    """

    workflow_id: str
    instance_id: int
    run_id: int

    def __str__(self) -> str:
        return f"[{self.workflow_id}][{self.instance_id}][{self.run_id}]"


class AttemptKey(NamedTuple):
    """Which attempt of which step."""

    run: RunKey
    step_id: str
    number: int

    def __str__(self) -> str:
        return f"{self.run}[{self.step_id}][{self.number}]"


class RunCounts(NamedTuple):
    """The runs of a workflow, counted in one statement: iterations are not among them."""

    queued: int  # QUEUED, and not paused
    running: int  # ADMITTED and LIVE
    failed: int  # whose failure stands
    paused: int = 0  # queued, and passed over until they are resumed

    @property
    def pending(self) -> int:
        return self.queued + self.paused

    @property
    def unfinished(self) -> int:
        return self.pending + self.running
