"""A step attempt: one try of a step in a run."""

from typing import ClassVar

import msgspec

from stretto.model.artifact import Artifacts
from stretto.model.param import Parameter, Params
from stretto.model.retry import Backoff
from stretto.model.run_config import RestartConfig
from stretto.model.signal_instance import SignalDependencies, SignalOutputs
from stretto.model.status import StepStatus
from stretto.model.step import Step
from stretto.model.tag import Tag
from stretto.model.timeline import Timeline
from stretto.model.user import User
from stretto.model.wire.codec import Drop, Shape


class StepTransition(msgspec.Struct, kw_only=True):
    """Edges of a step in a run; a condition is a BOOLEAN parameter, evaluated when the step is complete."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    predecessors: list[str] = []
    successors: dict[str, Parameter] = {}


class StepRetry(msgspec.Struct, kw_only=True):
    """How many tries were used and how many there are, for each class of errors."""

    error_retries: int = 0
    error_retry_limit: int = 0
    platform_retries: int = 0
    platform_retry_limit: int = 0
    timeout_retries: int = 0
    timeout_retry_limit: int = 0
    manual_retries: int = 0
    retryable: bool = True
    backoff: Backoff | None = None


class StepRuntimeState(msgspec.Struct, kw_only=True):
    """The status of an attempt, and when it reached each one on the way."""

    status: StepStatus = StepStatus.NOT_CREATED
    create_time: int | None = None
    initialize_time: int | None = None
    pause_time: int | None = None
    wait_signal_time: int | None = None
    evaluate_param_time: int | None = None
    wait_permit_time: int | None = None
    start_time: int | None = None
    execute_time: int | None = None
    finish_time: int | None = None
    end_time: int | None = None
    modify_time: int | None = None


class StepAttemptState(msgspec.Struct, kw_only=True):
    """The status of an attempt with its ids, for lists of attempts."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    runtime_state: StepRuntimeState


class StepInstance(msgspec.Struct, kw_only=True):
    """Everything about one attempt. `step_instance_id` is the same for all attempts of a step in a run."""

    wire: ClassVar[Shape] = Shape(lean=("artifacts", "timeline"))

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    workflow_uuid: str | None = None
    step_uuid: str | None = None
    correlation_id: str | None = None
    step_instance_id: int | None = None
    workflow_version_id: int | None = None
    group_info: int | None = None
    owner: User | None = None
    definition: Step | None = None
    tags: list[Tag] | None = None
    step_run_params: Params | None = None
    restart_config: RestartConfig | None = None
    params: dict[str, Parameter] = {}
    transition: StepTransition = msgspec.field(default_factory=StepTransition)
    step_retry: StepRetry = msgspec.field(default_factory=StepRetry)
    timeout_in_millis: int | None = None
    runtime_state: StepRuntimeState = msgspec.field(default_factory=StepRuntimeState)
    signal_dependencies: SignalDependencies | None = None
    signal_outputs: SignalOutputs | None = None
    artifacts: Artifacts = {}
    timeline: Timeline = []
