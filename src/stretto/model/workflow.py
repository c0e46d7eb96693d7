"""A workflow, and the definition that an author pushes to make a version of it."""

from typing import Any, ClassVar

import msgspec

from stretto.model.param import Params
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.retry import Number
from stretto.model.step import Step
from stretto.model.tag import Tag
from stretto.model.trigger import SignalTrigger, TimeTrigger
from stretto.model.user import User
from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class Criticality(Word):
    """Which of two waiting steps goes first."""

    CRITICAL = "CRITICAL"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Semantics(Word):
    """Which rules the engine follows where Maestro's and ours differ: failures, missing values, overflow."""

    MAESTRO = "MAESTRO"  # as the reference; the default of a definition that does not say
    STRETTO = "STRETTO"  # Python, stages, failure edges, compensation and the task engine's forms


class Workflow(msgspec.Struct, frozen=True, kw_only=True):
    """The versioned part: parameters, triggers and steps."""

    id: str
    name: str | None = None
    description: str | None = None
    semantics: Semantics | None = None
    tags: tuple[Tag, ...] | None = None
    timeout: Number | None = None
    time_triggers: tuple[TimeTrigger, ...] | None = None
    signal_triggers: tuple[SignalTrigger, ...] | None = None
    criticality: Criticality | None = None
    instance_step_concurrency: int | None = None
    undo_on_stop: bool | None = None  # a run that is stopped is undone, as one that fails is
    params: Params | None = None
    steps: tuple[Step, ...] = ()

    @property
    def follows_maestro(self) -> bool:
        """Whether the reference decides where its rules and ours differ."""
        return self.semantics is not Semantics.STRETTO


class GitInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a definition came from."""

    origin: str | None = None
    branch: str | None = None
    sha: str | None = None
    path: str | None = None
    author: str | None = None
    timestamp: int | None = None
    uncommitted_changes: bool | None = None


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """What an author writes, and what is pushed to publish a version. Unknown keys become metadata."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    properties: Properties | None = None
    workflow: Workflow
    is_active: bool = True
    git_info: GitInfo | None = None
    extra: dict[str, Any] = {}


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """Of a version: who made it and when, and whatever else came with the push."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    workflow_id: str | None = None
    workflow_version_id: int | None = None
    create_time: int | None = None
    version_author: User | None = None
    git_info: GitInfo | None = None
    extra: dict[str, Any] = {}


class EnrichedExtras(msgspec.Struct, frozen=True, kw_only=True):
    """What a version looks like once defaults are merged in, and when it fires next."""

    workflow_params: Params | None = None
    step_params: dict[str, Params] | None = None
    next_execution_time: int | None = None
    next_execution_times: tuple[int | None, ...] | None = None


class WorkflowVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A stored version of a workflow (Maestro's WorkflowDefinition)."""

    properties_snapshot: PropertiesSnapshot | None = None
    metadata: Metadata | None = None
    workflow: Workflow
    is_active: bool | None = None
    activate_time: int | None = None
    activated_by: User | None = None
    is_latest: bool | None = None
    is_default: bool | None = None
    modify_time: int | None = None
    internal_id: int | None = None
    enriched_extras: EnrichedExtras | None = None
