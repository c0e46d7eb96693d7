"""An instance over all its runs: for each step, what its newest run made of it."""

import msgspec

from stretto.model.status import InstanceStatus, StepStatus


class StepAggregatedView(msgspec.Struct, kw_only=True):
    """A step over all runs; without a run it was never created."""

    workflow_run_id: int | None = None
    status: StepStatus = StepStatus.NOT_CREATED
    start_time: int | None = None
    end_time: int | None = None


class AggregatedInfo(msgspec.Struct, kw_only=True):
    """The whole instance over all runs."""

    workflow_instance_status: InstanceStatus
    step_aggregated_views: dict[str, StepAggregatedView] = {}
