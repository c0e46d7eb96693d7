"""What happened to a run, a step or a workflow, in order. Events are facts: frozen, told apart by `type`."""

from typing import ClassVar

import msgspec

from stretto.model.details import ErrorStatus
from stretto.model.user import User
from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class LogLevel(Word):
    TRACE = "TRACE"
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


class MilestoneType(Word):
    """What of the outside system a milestone is about."""

    CMB_JOB = "CMB_JOB"
    CMB_TASK = "CMB_TASK"


class EventFields(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all timeline events have."""

    timestamp: int


class LogEvent(EventFields, frozen=True, kw_only=True, tag="LOG"):
    """A sentence."""

    level: LogLevel = LogLevel.INFO
    message: str


class DetailsEvent(EventFields, frozen=True, kw_only=True, tag="DETAILS"):
    """An error. Ours always say whether a retry follows; what others wrote may leave it open."""

    wire: ClassVar[Shape] = Shape(lean=("errors",))

    status: ErrorStatus
    message: str
    errors: tuple[str, ...] = ()
    retryable: bool | None = None


class StatusEvent(EventFields, frozen=True, kw_only=True, tag="STATUS"):
    """A status was reached: of an instance or of a step, so it is plain text."""

    status: str


class ActionEvent(EventFields, frozen=True, kw_only=True, tag="ACTION"):
    """Somebody did something."""

    action: str
    author: User | None = None
    message: str | None = None
    reason: str | None = None
    info: int | None = None


class MilestoneEvent(EventFields, frozen=True, kw_only=True, tag="MILESTONE"):
    """Progress inside an outside system."""

    status: str
    milestone_type: MilestoneType
    source_id: str | None = None
    info: str | None = None


TimelineEvent = LogEvent | DetailsEvent | StatusEvent | ActionEvent | MilestoneEvent
Timeline = list[TimelineEvent]


class WorkflowChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a workflow: a new version, new properties, an activation."""

    author: User
    log: str
    timestamp: int


class WorkflowTimeline(msgspec.Struct, kw_only=True):
    """The changes of a workflow, newest first."""

    workflow_id: str
    timeline_events: list[WorkflowChange] = []
