"""I14: the change log of a group has no gap, and what it says of a run and its steps follows on itself."""

from typing import Any

from simulation.watch import Complain, Touched
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.status import InstanceStatus, StepStatus
from stretto.ports.messages import Log
from stretto.store.memory.database import Database


class History:
    """Reads the log as it is written, and knows what it has told so far. A line that could not be written in
    its turn comes later than others about its run.
    """

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._runs: dict[RunKey, InstanceStatus] = {}
        self._steps: dict[AttemptKey, StepStatus] = {}
        self._late: set[RunKey | None] = set()

    def rule(self, touched: Touched, complain: Complain) -> None:
        for _, before, after in touched.of("messages"):
            if before is not None and after is not None and isinstance(after.body, Log):
                self.excuse(after.body.run)  # it was postponed
        for (group, seq), before, after in touched.of("log"):
            if after is None:
                self._trimmed(touched, group, seq, complain)
                continue
            if before is not None:
                complain(f"I14: the row {seq} of the log of group {group} changed")
                continue
            if seq != self._last.get(group, 0) + 1:
                complain(f"I14: row {seq} of the log of group {group} follows {self._last.get(group, 0)}")
            self._last[group] = seq
            for event in after.events:
                self._hear(event, complain)

    def _trimmed(self, touched: Touched, group: int, seq: int, complain: Complain) -> None:
        """The oldest by number go first, whatever the clock did, and the newest stays: numbering goes on
        from it.
        """
        left = [each for _, each in touched.db.log_by_group[group]]
        if any(each < seq for each in left) or left[-1:] != [self._last[group]]:
            complain(f"I14: row {seq} of the log of group {group} is gone, and {left} are left")

    def excuse(self, run: RunKey | None) -> None:
        """A line about a run could not be written in its turn."""
        self._late.add(run)

    def _hear(self, event: Any, complain: Complain) -> None:
        if isinstance(event, InstanceStatusChanged):
            key = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
            told = self._runs.get(key)
            if told is not None and told is not event.old_status and key not in self._late:
                complain(f"I14: the log says that {key} left {event.old_status}, and it was {told}")
            self._runs[key] = event.new_status
        elif isinstance(event, StepStatusChanged):
            run = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
            at = AttemptKey(run, event.step_id, event.step_attempt_id)
            for record in event.status_change_records:
                known = self._steps.get(at, StepStatus.NOT_CREATED)
                if known is not record.old_status:
                    complain(f"I14: the log says that {at} left {record.old_status}, and it was {known}")
                self._steps[at] = record.new_status

    def end(self, db: Database, complain: Complain) -> None:
        """In the end the log has told how everything ended."""
        for key in db.runs:
            status, told = db.runs[key].record.status, self._runs.get(key)
            if (told is None or told.value != status.value) and key not in self._late:
                complain(f"I14: {key} is {status}, and the log says {told}")
        for at in db.attempts:
            told_step, end = self._steps.get(at), db.attempts[at].record.status
            if told_step is not end:
                complain(f"I14: {at} is {end}, and the log says {told_step}")
