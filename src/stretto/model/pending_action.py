"""Actions of users that are stored until the flow has carried them out."""

import msgspec

from stretto.model.actions import StepAction
from stretto.model.param import Params
from stretto.model.run_config import RestartConfig
from stretto.model.user import User


class PendingStepAction(msgspec.Struct, frozen=True, kw_only=True):
    """On a step, or with only a workflow and its run on all of its steps."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str | None = None
    action: StepAction
    user: User | None = None
    create_time: int | None = None
    run_params: Params | None = None
    restart_config: RestartConfig | None = None


class PendingForeachAction(msgspec.Struct, frozen=True, kw_only=True):
    """On one ended iteration of a foreach step that still runs."""

    instance_id: int
    instance_run_id: int
    restart_config: RestartConfig | None = None
    action: StepAction
    user: User | None = None
    create_time: int | None = None
