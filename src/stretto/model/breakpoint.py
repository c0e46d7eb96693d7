"""Breakpoints: where attempts of a step pause, and those that have."""

import msgspec

from stretto.model.user import User


class StepBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Holds the attempts of a step that match; a field that is not set matches all."""

    workflow_id: str
    step_id: str
    workflow_version_id: int | None = None
    workflow_instance_id: int | None = None
    workflow_run_id: int | None = None
    step_attempt_id: int | None = None
    create_time: int | None = None
    created_by: User | None = None


class PausedStepAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that is held at a breakpoint."""

    workflow_id: str
    workflow_version_id: int
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    create_time: int | None = None
