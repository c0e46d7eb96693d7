"""Behaviour cases about loops and nested runs, one test for each."""

from typing import Any

import pytest
from tests.conformance.behaviour import Then
from tests.conformance.corpus import corpus
from tests.conformance.rule_cases import Rules, fixture

from stretto.definition import MAESTRO_LIMITS, validate
from stretto.engine.foreach_overview import (
    ForeachProgress,
    batches,
    derived_concurrency,
    kept_from,
    restart_action,
)
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.intervals import Details
from stretto.engine.restart_path import iteration_on_path
from stretto.engine.rollup import Leaf, Rollup
from stretto.engine.timeline import started_by
from stretto.model.errors import InvalidRequest
from stretto.model.foreach import ForeachOverview, Ranges, iterations_in
from stretto.model.initiator import Initiator
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.wire import decode, encode, loads
from stretto.model.wire.types import codec_of
from stretto.model.workflow import Definition

pytestmark = pytest.mark.conformance
RULES = Rules()
I = InstanceStatus  # noqa: E741 - as short as in the tables of moves


def details(record: dict[str, Any]) -> Details:
    found, problems = decode(dict[InstanceStatus, Ranges], record)
    assert not problems
    return Details(found)


def written(found: Details) -> dict[str, Any]:
    """As JSON shows it."""
    ranges = codec_of(Ranges)
    return {status.value: ranges.encode(rows) for status, rows in found.record().items()}


def flat(found: Details) -> dict[str, list[int]]:
    return {status.value: iterations_in(rows) for status, rows in found.record().items()}


# ------------------------------------------------------------------------------------------------- details
@RULES.case("foreach-details-flatten")
def check_flatten(given: Any, then: Then) -> None:
    found = details(given["details"])
    assert written(found) == given["details"]
    assert flat(found) == then.rest()


@RULES.case("foreach-details-add-refresh")
def check_refresh(given: Any, then: Then) -> None:
    found = details(given["details"])
    for status, iterations in given["added"].items():
        for iteration in iterations:
            found.put(iteration, I(status))
    for status, rows in then.rest().items():
        assert written(found)[status] == rows
    assert written(found)["STOPPED"] == given["details"]["STOPPED"]


@RULES.case("foreach-details-restartable")
def check_restartable(given: Any, then: Then) -> None:
    found = details(given["details"])
    for iteration, expected in then.rest().items():
        assert found.is_restartable(int(iteration)) is expected


@RULES.case("foreach-details-reset")
def check_reset(given: Any, then: Then) -> None:
    found = details(given["details"])
    running = found.of(I.CREATED).rows()
    found.reset(8, I.FAILED, I.CREATED)
    assert [row for row in found.of(I.CREATED) if (row, row) not in running] == then.take(
        "pending_CREATED_after_first"
    )
    found.reset(9, I.FAILED, I.CREATED)
    assert written(found)["FAILED"] == then.take("FAILED_after_second")
    with pytest.raises(InvalidRequest) as caught:
        found.reset(1, I.FAILED, I.CREATED)
    assert then.take("error_unknown_iteration_1") in caught.value.message


# ------------------------------------------------------------------------------------------------ overview
def progress(path: str) -> ForeachProgress:
    record: ForeachOverview = fixture(path, ForeachOverview)
    found = ForeachProgress.of(record)
    again = found.record()
    assert (again.stats, again.running_stats, again.details) == (
        record.stats,
        record.running_stats,
        record.details,
    )
    assert Rollup.of(again.running_rollup) == Rollup.of(record.running_rollup)
    return found


def leaf(iteration: int, status: StepStatus) -> Rollup:
    rollup = Rollup()
    rollup.add(Leaf.of("maestro_foreach_x", iteration, 1, "job.2", 1), status)
    return rollup


@RULES.case("foreach-overview-add-terminal", "foreach-overview-add-running")
def check_add(given: Any, then: Then) -> None:
    found = progress(given["data_file"])
    launched = found.details.highest
    added = given["add"]
    assert added["leaf"] == 1
    found.add(added["iteration"], I(added["status"]), leaf(added["iteration"], StepStatus.SUCCEEDED))
    assert found.running_count() == then.take("running_count")
    if added["status"] == "SUCCEEDED":
        assert found.ordered_count(launched) == then.take("running_count_strict_ordering")
        assert found.stats[I.SUCCEEDED] == then.take("stats.SUCCEEDED")
        assert found.rollup.total == then.take("rollup.total_leaf_count")
    else:
        assert found.running_stats[I.IN_PROGRESS] == then.take("running_stats.IN_PROGRESS")
        assert found.running_rollup.total == then.take("running_rollup.total_leaf_count")


@RULES.case("foreach-overview-refresh")
def check_overview_refresh(given: Any, then: Then) -> None:
    found = progress(given["data_file"])
    for iteration in given["add_SUCCEEDED"]:
        found.add(iteration, I.SUCCEEDED)
    assert written(found.details)["SUCCEEDED"] == then.take("SUCCEEDED")


@RULES.case("foreach-overview-inflight-restart")
def check_inflight_restart(given: Any, then: Then) -> None:
    found = progress(given["data_file"])
    [iteration] = given["add_FAILED"]
    found.add(iteration, I.FAILED, leaf(iteration, StepStatus.FATALLY_FAILED))
    assert then.take("before") == "restartable"
    assert found.is_restartable(iteration)
    found.restart(iteration, leaf(iteration, StepStatus.FATALLY_FAILED))
    after = then.take("after")
    assert after.pop("stats.FAILED") == "removed"
    assert I.FAILED not in found.stats
    assert found.running_stats[I.CREATED] == after.pop("running_stats.CREATED")
    assert found.record().restart_info == after.pop("restart_info")
    assert flat(found.details)["CREATED"] == after.pop("details_pending_CREATED")
    assert not after
    with pytest.raises(InvalidRequest) as caught:
        found.restart(99)
    assert then.take("error_for_unknown") in caught.value.message


@RULES.case("foreach-restart-keeps-succeeded", "foreach-restart-specific-keeps-terminal")
def check_kept(given: Any, then: Then) -> None:
    previous = progress(given["previous"])
    kept = kept_from(previous, given["restart_iteration"])
    assert previous.details.highest == then.take("max_iteration")
    assert flat(kept.details) == then.take("kept")
    assert {status.value: count for status, count in kept.stats.items()} == {
        status: len(iterations) for status, iterations in flat(kept.details).items()
    }
    assert kept.checkpoint == then.take("checkpoint")


@RULES.case("foreach-restart-checkpoint-prefix")
def check_checkpoint(given: Any, then: Then) -> None:
    checkpoints = []
    for variant in given["variants"]:
        previous = ForeachProgress()
        for span, status in variant.items():
            first, _, last = span.partition("..")
            previous.details.of(I(status)).add_row(int(first), int(last or first))
        checkpoints.append(kept_from(previous, given["restart_iteration"]).checkpoint)
    assert checkpoints == then.take("checkpoints")


@RULES.case("foreach-restart-rollup-batches")
def check_batches(given: Any, then: Then) -> None:
    size = given["get_rollup_batch_limit"]
    queries = [list(batches(range(1, count + 1), size)) for count in given["iterations_to_rerun"]]
    assert [len(each) for each in queries] == then.take("queries")
    assert len(queries[0][-1]) == then.take("last_batch_of_23")


# -------------------------------------------------------------------------------- ids, paths and limits
@RULES.case("foreach-inline-workflow-id", "while-inline-workflow-id")
def check_inline_id(given: Any, then: Then) -> None:
    expected = then.take("id")
    loop = Loop(expected.split("_")[1])
    found = inline_workflow_id(
        loop,
        given["internal_id"],
        given["workflow_id"],
        given["instance_id"],
        given["step_id"],
        given["non_inline_parent_instance"],
    )
    assert found == expected


INLINE = "maestro_foreach_7D3_1C_2fe596608afaef7a41b4ec3c0edc3973"


@RULES.case("foreach-restart-along-path")
def check_along_path(given: Any, then: Then) -> None:
    path = tuple(
        RestartNode(workflow_id=node["workflow"], instance_id=node["instance"], step_id=node["step"])
        for node in given["restart_path"]
    )
    config = RestartConfig(restart_path=path, restart_policy=RunPolicy(given["policy"]))
    iteration = iteration_on_path(config, INLINE)
    assert iteration is not None
    action = restart_action(config, iteration, now=1)
    assert encode(config)["restart_policy"] == then.take("artifact.run_policy")
    for name, value in then.take("pending_action").items():
        assert encode(action)[name] == value


@RULES.case("foreach-restart-not-along-path")
def check_not_along_path(given: Any, then: Then) -> None:
    other = RestartNode(workflow_id=given["restart_path_first"].split()[0], instance_id=2, step_id="job2")
    here = RestartNode(workflow_id="wf", instance_id=1, step_id="job1")
    assert iteration_on_path(RestartConfig(restart_path=(other, here)), INLINE) is then.take("pending_action")


@RULES.case("instance-step-concurrency")
def check_concurrency(given: Any, then: Then) -> None:
    found = [
        derived_concurrency(each.get("step_concurrency"), each.get("instance_step_concurrency"), 20)
        for each in given["variants"]
    ]
    assert found == then.take("values")


@RULES.case("foreach-concurrency-validation")
def check_concurrency_limit(given: Any, then: Then) -> None:
    valid = []
    for concurrency in given["concurrency"]:
        inner = {"step": {"id": "job", "type": "NoOp"}}
        loop = {
            "id": "loop",
            "concurrency": concurrency,
            "params": {"loop_params": {"type": "MAP", "value": {"i": {"type": "LONG_ARRAY", "value": [1]}}}},
            "steps": [inner],
        }
        definition, problems = decode(Definition, {"workflow": {"id": "wf", "steps": [{"foreach": loop}]}})
        assert not problems
        valid.append(not validate(definition, MAESTRO_LIMITS))
    assert valid == then.take("valid")


@RULES.case("initiator-timeline-messages")
def check_initiators(given: Any, then: Then) -> None:
    records = loads(corpus(*given["data_file"].split("/")).read_text(encoding="utf-8"))
    for name, line in then.rest().items():
        initiator, problems = decode(Initiator, records[name])
        assert not problems
        assert started_by(initiator) == line


@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)
