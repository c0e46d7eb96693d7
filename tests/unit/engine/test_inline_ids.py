"""Ids of iterations and of nested runs: the same each time, and in Maestro's form."""

import pytest

from stretto.engine.inline_ids import (
    Loop,
    hash_key,
    inline_prefix,
    inline_workflow_id,
    is_inline,
    iteration_uuid,
    nearest_workflow,
    range_key,
    subworkflow_uuid,
)
from stretto.model.errors import Unprocessable
from stretto.model.initiator import Ancestor


def ancestor(workflow_id: str, instance_id: int = 1) -> Ancestor:
    return Ancestor(
        workflow_id=workflow_id, instance_id=instance_id, run_id=1, step_id="step", step_attempt_id=2
    )


def test_hash_keys_begin_with_the_last_digit() -> None:
    assert [hash_key(number) for number in (1, 61, 62, 63, 12_345)] == ["1", "z", "01", "11", "7D3"]


def test_range_keys_sort_as_numbers_do() -> None:
    numbers = [1, 9, 61, 62, 3_843, 3_844, 10**6, 2**63 - 1]
    keys = [range_key(number) for number in numbers]
    assert keys == sorted(keys)
    assert keys[:4] == ["11", "19", "1z", "210"]


@pytest.mark.parametrize("number", [0, -1])
def test_only_positive_numbers_have_keys(number: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        range_key(number)


def test_inline_workflows_are_told_by_their_id() -> None:
    made = inline_workflow_id(Loop.WHILE, 54_321, "wf", 3, "step", 7)
    assert made.startswith(inline_prefix(Loop.WHILE, 54_321))
    assert made.split("_")[3] == range_key(7)
    assert is_inline(made)
    assert is_inline(f"{Loop.FOREACH.tag}-parent")
    assert not is_inline("wf")
    assert not is_inline("maestro_subworkflow")


def test_every_part_of_the_place_makes_another_id() -> None:
    ids = {
        inline_workflow_id(loop, internal, workflow, instance, step, root)
        for loop in Loop
        for internal in (1, 2)
        for workflow in ("a", "b")
        for instance in (1, 2)
        for step in ("x", "y")
        for root in (1, 2)
    }
    assert len(ids) == 32 * len(Loop)


def test_the_nearest_workflow_is_the_last_that_is_no_iteration() -> None:
    line = [
        ancestor("root"),
        ancestor("child", 9),
        ancestor("maestro_foreach_1"),
        ancestor("maestro_while_1"),
    ]
    assert nearest_workflow(line) is line[1]
    with pytest.raises(Unprocessable, match="not an iteration itself"):
        nearest_workflow(line[2:])


def test_request_ids_are_uuids_of_type_3() -> None:
    assert iteration_uuid("maestro_foreach_1", 1, 0) == iteration_uuid("maestro_foreach_1", 1, 0)
    assert iteration_uuid("maestro_foreach_1", 1, 0) != iteration_uuid("maestro_foreach_1", 1, 1)
    made = subworkflow_uuid(ancestor("wf"), "uuid")
    assert made != subworkflow_uuid(ancestor("wf"), "other")
    assert (made[14], made[19] in "89ab") == ("3", True)
