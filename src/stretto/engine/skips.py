"""Skipping a step: who is skipped by a restart, and what a request to skip comes down to.

A step that has not ended is skipped on the spot. One that has ended is started again, and the new attempt is
skipped before it does anything: in the same run while that lasts, else in a new run that begins there.
"""

from enum import Enum, auto
from typing import Final

from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import WrongState
from stretto.model.run_config import RestartConfig
from stretto.model.status import InstanceStatus, StepStatus

SKIPPED_MESSAGE: Final = "Step is skipped because of a user skip action."


class SkipRoute(Enum):
    """What a request to skip a step comes down to."""

    ACTION = auto()  # the attempt that is under way ends as SKIPPED
    ATTEMPT = auto()  # a new attempt in the same run, with the step in `skip_steps`
    RUN = auto()  # a new run that restarts this step, with the step in `skip_steps`


def is_skipped(step_id: str, restart: RestartConfig | None) -> bool:
    """Whether a restart skips a step. Only at the end of its path: a step there may have a namesake above."""
    return restart is not None and len(restart.restart_path) == 1 and step_id in (restart.skip_steps or ())


def route_skip(
    instance: InstanceStatus, step: StepStatus, workflow_id: str, instance_id: int, step_id: str
) -> SkipRoute:
    """How to skip a step; `WrongState` if it can not be skipped as it stands."""
    place = f"[{workflow_id}][{instance_id}][{step_id}]"
    if step is StepStatus.NOT_CREATED:
        raise WrongState(f"Cannot skip step {place} before it is created. Please try it again.")
    allowed = STEP_ACTIONS[step]
    if StepAction.SKIP not in allowed:
        raise WrongState(
            f"Cannot skip step {place} because it is unsupported by the step action map"
            f" [{', '.join(allowed)}]"
        )
    if instance.is_terminal:
        return SkipRoute.RUN
    return SkipRoute.ACTION if step.is_wakeable else SkipRoute.ATTEMPT
