"""Bodies and answers of `/api/v1`. Times are texts (`2026-11-16T12:00:00.000Z`), durations, too (`1.2s`)."""

from typing import Any

import msgspec


class V1Content(msgspec.Struct, frozen=True, kw_only=True):
    """Definitions to publish, as a text."""

    content: str


class V1Execution(msgspec.Struct, frozen=True, kw_only=True):
    """Starts an instance."""

    params: dict[str, Any] = {}
    task_params: dict[str, dict[str, Any]] = {}  # parameters of single tasks, by their id


class V1WorkflowLine(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow in a list."""

    id: str
    name: str
    description: str | None = None
    status: str
    version: int
    updated_at: str


class V1Step(msgspec.Struct, frozen=True, kw_only=True):
    """A task as its workflow defines it."""

    id: str
    name: str
    description: str | None = None
    type: str
    function: str | None = None
    dependencies: tuple[str, ...] = ()
    timeout: str | None = None


class V1Workflow(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow."""

    id: str
    name: str
    description: str | None = None
    status: str
    version: int
    created_at: str | None = None
    task_count: int
    tasks: tuple[V1Step, ...] = ()


class V1Published(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a text: its first workflow, and the ids of all."""

    id: str
    version: int
    workflow_ids: tuple[str, ...]


class V1Id(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is gone."""

    id: str


class V1Started(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that was asked for."""

    instance_id: str
    workflow_id: str
    version: int
    status: str


class V1InstanceLine(msgspec.Struct, frozen=True, kw_only=True):
    """An instance in a list."""

    id: str
    workflow_id: str
    version: int
    status: str
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    duration: str | None = None
    error: str | None = None
    quarantined: str | None = None  # why it was set aside


class V1Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an instance is."""

    total: int
    completed: int
    running: int
    failed: int
    pending: int
    running_task_ids: tuple[str, ...] = ()
    pending_task_ids: tuple[str, ...] = ()


class V1Instance(msgspec.Struct, frozen=True, kw_only=True):
    """An instance."""

    id: str
    workflow_id: str
    version: int
    status: str
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    duration: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}  # by task: what its function returned
    progress: V1Progress
    quarantined: str | None = None  # why it was set aside


class V1Subtask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that the function of another task added."""

    id: str
    status: str
    error: str | None = None


class V1Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task of an instance: its newest attempt."""

    id: str
    name: str
    status: str
    attempt: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    duration: str | None = None
    error: str | None = None
    result: dict[str, Any] = {}  # `result`: what its function returned; beside it other outputs
    subtasks: tuple[V1Subtask, ...] | None = None  # that its function added


# ------------------------------------------------------------------------------------------------- envelopes
class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """Around every answer."""

    code: int = 0
    message: str = "success"


class V1Refusal(Envelope, frozen=True, kw_only=True):
    """An error: the code is the HTTP status."""

    errors: tuple[str, ...] = ()


class V1WorkflowList(msgspec.Struct, frozen=True, kw_only=True):
    """`total` is absent if the list is longer than what was counted."""

    total: int | None = None
    items: tuple[V1WorkflowLine, ...]
    has_more: bool


class V1InstanceList(msgspec.Struct, frozen=True, kw_only=True):
    """`total` is absent if the list is longer than what was counted."""

    total: int | None = None
    items: tuple[V1InstanceLine, ...]
    has_more: bool


class V1TaskList(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    items: tuple[V1Task, ...]
    has_more: bool


class V1WorkflowListAnswer(Envelope, frozen=True, kw_only=True):
    data: V1WorkflowList


class V1PublishedAnswer(Envelope, frozen=True, kw_only=True):
    data: V1Published


class V1WorkflowAnswer(Envelope, frozen=True, kw_only=True):
    data: V1Workflow


class V1IdAnswer(Envelope, frozen=True, kw_only=True):
    data: V1Id


class V1StartedAnswer(Envelope, frozen=True, kw_only=True):
    data: V1Started


class V1InstanceListAnswer(Envelope, frozen=True, kw_only=True):
    data: V1InstanceList


class V1InstanceAnswer(Envelope, frozen=True, kw_only=True):
    data: V1Instance


class V1TaskListAnswer(Envelope, frozen=True, kw_only=True):
    data: V1TaskList
