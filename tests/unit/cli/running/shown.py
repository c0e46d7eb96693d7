"""Runs that happen only on paper: events as the change log has them, for what shows them."""

from collections.abc import Sequence

import msgspec

from stretto.cli.database import Place
from stretto.cli.running.progress import Progress, Step
from stretto.config import Config
from stretto.definition import parse_all
from stretto.engine.records import AttemptKey, LoopRecord, RunKey, RunRecord
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.initiator import ManualInitiator
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.status_change import StepStatusChange

TEXT = """
workflow:
  id: etl
  jobs:
    - job: {id: extract, type: Shell, command: a, transition: [each]}
    - foreach: {id: each, ranges: {i: {to: 4}}, transition: [load], jobs: [{job: {id: in, type: NoOp}}]}
    - job: {id: load, type: Shell, command: b}
"""
KEY = RunKey("etl", 3, 1)
INLINE = "maestro_foreach_x"
PLACE = Place("sqlite:///.stretto/stretto.db", Config(), ())
IN_MEMORY = Place("memory://", Config(), ())


def run_record() -> RunRecord:
    return RunRecord(key=KEY, uuid="u", version_id=2, initiator=ManualInitiator(), correlation_id="c")


def progress_of(text: str = TEXT) -> Progress:
    (definition,) = parse_all(text)
    return Progress(definition.workflow, KEY, 2, RunStatus.CREATED)


def run_moved(
    status: InstanceStatus, at: int, workflow_id: str = "etl", instance: int = 3
) -> InstanceStatusChanged:
    return InstanceStatusChanged(
        workflow_id=workflow_id,
        workflow_instance_id=instance,
        workflow_run_id=1,
        old_status=InstanceStatus.CREATED,
        new_status=status,
        event_time=at,
    )


def step_moved(step: str, status: StepStatus, at: int, attempt: int = 1) -> StepStatusChanged:
    change = StepStatusChange(old_status=StepStatus.NOT_CREATED, new_status=status, event_time=at)
    return StepStatusChanged(
        workflow_id="etl",
        workflow_instance_id=3,
        workflow_run_id=1,
        step_id=step,
        step_attempt_id=attempt,
        status_change_records=(change,),
    )


def loop_begun(progress: Progress, total: int | None = 4) -> None:
    record = LoopRecord(key=AttemptKey(KEY, "each", 1), inline_id=INLINE, run_id=1, total=total)
    progress.fill_loop(record, 0, 0)


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 0

    def __call__(self) -> int:
        return self.time


def applied(progress: Progress, *events: msgspec.Struct) -> Sequence[Step]:
    return [step for event in events if (step := progress.apply(event)) is not None]
