"""Flatten views: the iterations of nested foreach steps as one list.

A rank names an iteration through all levels, `225-14`: each number is led by the count of its digits, so
that texts sort as numbers do.
"""

from typing import Any

import msgspec

from stretto.model.status import StepStatus
from stretto.model.step_instance import StepRuntimeState


class LeafStepRef(msgspec.Struct, frozen=True, kw_only=True):
    """The step attempt behind an iteration."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int


class StepIteration(msgspec.Struct, frozen=True, kw_only=True):
    """A step in one iteration."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    iteration_rank: str
    step_attempt_seq: str
    leaf_step_instance_ref: LeafStepRef | None = None
    loop_params: dict[str, Any] | None = None
    step_runtime_state: StepRuntimeState | None = None


class StepIterationsSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A step over all its iterations."""

    representative_iteration: StepIteration | None = None
    count_by_status: dict[StepStatus, int] | None = None
    range: tuple[int, ...] | None = None
    loop_param_values: dict[str, list[Any]] | None = None


class FlattenedKey(msgspec.Struct, frozen=True, kw_only=True):
    """What names a row of the flattened table."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    iteration_rank: str
    initial_step_created_ms: int
    leaf_workflow_id: str | None = None


class FlattenedRow(msgspec.Struct, kw_only=True):
    """A row of the flattened table: valid from its run up to `run_id_validity_end`."""

    instance: FlattenedKey
    run_id_validity_end: int
    step_attempt_seq: str
    loop_parameters: dict[str, Any] | None = None
    step_status_encoded: int
    step_status_priority: int
    step_runtime_state: StepRuntimeState
    is_inserted_in_new_run: bool = False
