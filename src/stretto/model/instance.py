"""A workflow instance in one of its runs."""

from typing import ClassVar

import msgspec

from stretto.model.aggregated import AggregatedInfo
from stretto.model.alerting import Alerting
from stretto.model.artifact import Artifacts
from stretto.model.initiator import Initiator
from stretto.model.param import Parameter, Params
from stretto.model.rollup import RuntimeOverview
from stretto.model.run_config import RunConfig
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.step import Transition
from stretto.model.tag import Tag
from stretto.model.timeline import Timeline
from stretto.model.user import User
from stretto.model.wire.codec import Shape
from stretto.model.workflow import Workflow


class RunProperties(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of the workflow that a run goes by, as they stood when it was made."""

    create_time: int | None = None  # of the snapshot: its version
    owner: User | None = None
    alerting: Alerting | None = None
    step_concurrency: int | None = None
    tags: tuple[Tag, ...] | None = None


class WorkflowInstance(msgspec.Struct, kw_only=True):
    """One run with everything around it. `status` is over all runs; the run's own is `run_status`.

    The order of `runtime_dag` matters: the overview names steps by their place in it.
    """

    wire: ClassVar[Shape] = Shape(lean=("artifacts", "timeline"))

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    workflow_uuid: str | None = None
    correlation_id: str | None = None
    workflow_version_id: int | None = None
    group_info: int | None = None
    internal_id: int | None = None
    execution_id: str | None = None  # none while it is queued
    run_config: RunConfig | None = None
    run_params: Params | None = None
    step_run_params: dict[str, Params] | None = None
    run_properties: RunProperties | None = None
    runtime_workflow: Workflow | None = None
    runtime_dag: dict[str, Transition] | None = None
    timeout_in_millis: int | None = None
    params: dict[str, Parameter] | None = None  # None: they could not be evaluated
    initiator: Initiator | None = None
    status: InstanceStatus
    request_time: int | None = None
    create_time: int | None = None
    start_time: int | None = None
    end_time: int | None = None
    modify_time: int | None = None
    runtime_overview: RuntimeOverview | None = None
    artifacts: Artifacts = {}
    timeline: Timeline = []
    aggregated_info: AggregatedInfo | None = None
    quarantined: str | None = None  # why it was set aside; only of a run that is

    @property
    def run_status(self) -> RunStatus:
        """Of this run; the overview says it where it differs from the instance's."""
        overview = self.runtime_overview
        if overview is not None and overview.run_status is not None:
            return overview.run_status
        return RunStatus(self.status)
