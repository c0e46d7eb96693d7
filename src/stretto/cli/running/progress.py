"""A run as it is shown: its steps in the order of the definition, and how far its loops are."""

from collections.abc import Iterable
from typing import Final

from stretto.engine.records import AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TemplateStep, TypedStep, WhileStep
from stretto.model.workflow import Workflow

S = StepStatus
AT_WORK: Final = frozenset({S.STARTING, S.RUNNING, S.FINISHING})
WAITING: Final = frozenset({S.PAUSED, S.WAITING_FOR_SIGNALS, S.WAITING_FOR_PERMITS})
NEVER: Final = frozenset({S.UNSATISFIED, S.DISABLED, S.SKIPPED})
_KINDS: Final = {
    ForeachStep: "foreach",
    WhileStep: "while",
    SubworkflowStep: "subworkflow",
    TemplateStep: "template",
}


class Loop:
    """How far a loop is."""

    def __init__(self) -> None:
        self.total: int | None = None  # of a while nobody knows
        self.ended = 0
        self.failed = 0


class Step:
    """A step with its newest attempt."""

    def __init__(self, step: AnyStep) -> None:
        self.id = step.id
        self.kind = kind_text(step)
        self.is_loop = isinstance(step, ForeachStep | WhileStep)
        self.status = S.NOT_CREATED
        self.attempt = 0
        self.began: int | None = None
        self.ended: int | None = None
        self.since: int | None = None  # when it came into its status
        self.reason: str | None = None  # why it ended badly, or what it waits for
        self.loop: Loop | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something goes on, or will by itself."""
        return self.status is not S.NOT_CREATED and (not self.status.is_terminal or self.status.is_retryable)

    @property
    def waits(self) -> bool:
        """Whether one would ask why it does not go on."""
        return self.status in WAITING or self.status.is_retryable

    def move(self, status: StepStatus, attempt: int, at: int) -> None:
        if attempt != self.attempt:
            self.attempt, self.began, self.ended, self.loop = attempt, None, None, None
        self.status, self.since, self.reason = status, at, None  # what it waited for is over
        if self.began is None and (status in AT_WORK or status.is_terminal):
            self.began = at
        if status.is_terminal:
            self.ended = at

    def fill(self, record: AttemptRecord) -> None:
        """As a row says it."""
        self.status, self.attempt = record.status, record.key.number
        self.began = record.start_time or (record.create_time if record.status.is_terminal else None)
        self.ended = record.end_time
        self.since = record.end_time or record.start_time or record.create_time
        self.tell(record)

    def tell(self, record: AttemptRecord) -> None:
        """What only the row knows of an attempt that has ended."""
        self.reason = record.reason
        if record.loop_total is not None and record.status.is_complete:
            self.loop = self.loop or Loop()
            self.loop.total = self.loop.ended = record.loop_total


class Progress:
    """What is known of a run."""

    def __init__(self, workflow: Workflow, key: RunKey, version: int, status: RunStatus) -> None:
        self.key = key
        self.version = version
        self.steps = {step.id: Step(step) for step in workflow.steps}
        self.status = status
        self.began: int | None = None
        self.ended: int | None = None
        self.queued: str | None = None  # why it has not begun
        self._loops: dict[str, Step] = {}  # by the inline id of their iterations

    # ------------------------------------------------------------------------------------------------- rows
    def fill(self, run: RunRecord, attempts: Iterable[AttemptRecord]) -> None:
        """As the rows say it."""
        self.status, self.began, self.ended = run.status, run.start_time, run.end_time
        for record in attempts:
            step = self.steps.get(record.key.step_id)
            if step is not None:
                step.fill(record)

    def fill_loop(self, record: LoopRecord, ended: int, failed: int) -> None:
        """A loop has begun: from now on its iterations are counted."""
        step = self.steps.get(record.key.step_id)
        if step is not None and step.attempt == record.key.number:
            step.loop = Loop()
            step.loop.total, step.loop.ended, step.loop.failed = record.total, ended, failed
            self._loops[record.inline_id] = step

    # ---------------------------------------------------------------------------------------------- changes
    def apply(self, event: object) -> Step | None:
        """A line of the change log; returns the step of this run that it moved."""
        match event:
            case StepStatusChanged() if self._is_ours(event):
                return self._step(event)
            case InstanceStatusChanged() if self._is_ours(event):
                self._run(event)
            case InstanceStatusChanged() if event.workflow_id in self._loops:
                self._iteration(self._loops[event.workflow_id], event)
        return None

    def _is_ours(self, event: StepStatusChanged | InstanceStatusChanged) -> bool:
        return (event.workflow_id, event.workflow_instance_id, event.workflow_run_id) == self.key

    def _step(self, event: StepStatusChanged) -> Step | None:
        step = self.steps.get(event.step_id)
        if step is None or event.step_attempt_id < step.attempt:
            return None
        for change in event.status_change_records:
            step.move(change.new_status, event.step_attempt_id, change.event_time)
        return step

    def _run(self, event: InstanceStatusChanged) -> None:
        self.status = RunStatus(event.new_status.value)
        if self.began is None and self.status is not RunStatus.CREATED:
            self.began, self.queued = event.event_time, None
        if self.status.is_terminal:
            self.ended = event.event_time

    def _iteration(self, step: Step, event: InstanceStatusChanged) -> None:
        if step.loop is not None and event.new_status.is_terminal:
            step.loop.ended += 1
            step.loop.failed += event.new_status.value != RunStatus.SUCCEEDED.value


def kind_text(step: AnyStep) -> str:
    """The type of a step, in a word."""
    return step.type if isinstance(step, TypedStep) else _KINDS[type(step)]
