"""The change log says what happened in one commit in an order that makes sense."""

from collections.abc import Sequence

from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.testing.harness import Harness

NESTED = """
workflow:
  id: nested
  dag: sequential
  jobs:
    - job: {id: begin, type: NoOp}
    - foreach:
        id: each
        params: {i: [1, 2]}
        jobs:
          - job: {id: inner, type: NoOp}
    - job: {id: end, type: NoOp}
"""


class Ends(Observer):
    """What has ended, in the order of the log."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def committed(self, rows: Sequence[LogRow]) -> None:
        for event in (event for row in rows for event in row.events):
            if (
                isinstance(event, StepStatusChanged)
                and event.status_change_records[-1].new_status.is_terminal
            ):
                self.seen.append(f"{event.step_id}")
            elif isinstance(event, InstanceStatusChanged) and event.new_status.is_terminal:
                self.seen.append("iteration" if event.depth else "run")


def test_a_run_ends_after_what_is_in_it() -> None:
    ends = Ends()
    with Harness(observers=(ends,)) as harness:
        run = harness.start(NESTED)
        assert harness.finish(run) == "SUCCEEDED"
    assert ends.seen == ["begin", "inner", "iteration", "inner", "iteration", "each", "end", "run"]
