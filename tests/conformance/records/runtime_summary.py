"""Summaries that Maestro's engine keeps of a run in progress. Ours does not; we read and write theirs."""

from typing import Any, ClassVar

import msgspec

from stretto.model.artifact import Artifacts
from stretto.model.initiator import Initiator
from stretto.model.instance import RunProperties
from stretto.model.param import Parameter, Params
from stretto.model.rollup import RollupOverview, RuntimeOverview
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.signal_instance import SignalDependencies, SignalOutputs
from stretto.model.status import InstanceStatus
from stretto.model.status_change import StepStatusChange
from stretto.model.step import Step, StepTypeName, Transition
from stretto.model.step_instance import StepRetry, StepRuntimeState, StepTransition
from stretto.model.tag import Tag
from stretto.model.timeline import Timeline
from stretto.model.wire.codec import Shape
from stretto.model.workflow import Criticality


class WorkflowSummary(msgspec.Struct, kw_only=True):
    """What a run is, fixed when it starts."""

    workflow_id: str
    internal_id: int | None = None
    workflow_version_id: int | None = None
    workflow_name: str | None = None
    workflow_instance_id: int | None = None
    workflow_run_id: int | None = None
    correlation_id: str | None = None
    group_info: int | None = None
    creation_time: int | None = None
    workflow_uuid: str | None = None
    run_policy: RunPolicy | None = None
    restart_config: RestartConfig | None = None
    run_properties: RunProperties | None = None
    initiator: Initiator | None = None
    params: dict[str, Parameter] | None = None
    step_run_params: dict[str, Params] | None = None
    tags: list[Tag] | None = None
    runtime_dag: dict[str, Transition] | None = None
    step_map: dict[str, Step] | None = None
    criticality: Criticality | None = None
    instance_step_concurrency: int | None = None


class WorkflowRuntimeSummary(msgspec.Struct, kw_only=True):
    """How far a run is."""

    wire: ClassVar[Shape] = Shape(lean=("artifacts",))

    instance_status: InstanceStatus
    start_time: int | None = None
    end_time: int | None = None
    modify_time: int | None = None
    runtime_overview: RuntimeOverview | None = None
    rollup_base: RollupOverview | None = None
    artifacts: Artifacts = {}
    timeline: Timeline | None = None


class StepRuntimeSummary(msgspec.Struct, kw_only=True):
    """How far a step attempt is."""

    wire: ClassVar[Shape] = Shape(lean=("artifacts", "pending_records"))

    step_id: str
    step_attempt_id: int
    step_instance_uuid: str | None = None
    step_name: str | None = None
    step_instance_id: int | None = None
    tags: list[Tag] | None = None
    type: StepTypeName
    sub_type: str | None = None
    params: dict[str, Parameter] = {}
    transition: StepTransition | None = None
    step_retry: StepRetry | None = None
    timeout_in_millis: int | None = None
    synced: bool = False
    db_operation: str | None = None
    runtime_state: StepRuntimeState = msgspec.field(default_factory=StepRuntimeState)
    signal_dependencies: SignalDependencies | None = None
    signal_outputs: SignalOutputs | None = None
    artifacts: Artifacts = {}
    timeline: Timeline | None = None
    pending_records: list[StepStatusChange] = []
    tracing_context: dict[str, Any] | None = None
    step_run_params: Params | None = None
    restart_config: RestartConfig | None = None
