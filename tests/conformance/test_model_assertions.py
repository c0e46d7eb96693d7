"""What Maestro's own tests assert about the shape of its fixtures (basis A of the corpus' index)."""

from decimal import Decimal
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.model_fixtures import COMMON, record_of

from stretto.engine.intervals import Intervals
from stretto.model import wire
from stretto.model.alerting import AlertGranularity, AlertType
from stretto.model.artifact import ArtifactKey
from stretto.model.errors import Internal
from stretto.model.properties import RunStrategyRule
from stretto.model.retry import ExponentialBackoff, FixedBackoff
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.wire.nul import to_stored_json

pytestmark = pytest.mark.conformance

ROOT = corpus("maestro-data")


def load(name: str) -> Any:
    path = f"{COMMON}/{name}.json"
    record, problems = wire.from_json(record_of(path), (ROOT / path).read_bytes())
    assert problems == []
    return record


def test_run_status_falls_back_to_status_unless_the_overview_has_one() -> None:
    instance = load("instances/sample-workflow-instance-succeeded")
    assert instance.run_status == RunStatus.SUCCEEDED
    instance.runtime_overview.run_status = RunStatus.FAILED
    assert instance.run_status == RunStatus.FAILED
    assert instance.status is InstanceStatus.SUCCEEDED


def test_ordinals_of_the_overview_are_places_in_the_graph() -> None:
    overview = load("instances/sample-workflow-runtime-overview")
    dag = load("instances/sample-workflow-instance-created").runtime_dag
    status, info = overview.steps_of(dag)["job3"]
    assert (status, info.start_time, info.end_time) == (StepStatus.RUNNING, 1647977244273, None)
    with pytest.raises(Internal, match="cannot find the step"):
        overview.steps_of({"job1": None})


def test_artifacts_of_every_kind() -> None:
    artifacts = load("artifact/sample-artifacts")["artifacts"]
    assert artifacts["artifact1"].data == {"value": 1, "foo": "bar"}
    assert artifacts["artifact2"].data == {"value": 2, "foo": "baz", "type": "DEFAULT"}
    dynamic = artifacts[ArtifactKey.DYNAMIC_OUTPUT]
    (signal,) = dynamic.signal_outputs
    assert signal.evaluated_result == {"name": "demo_table", "timestamp": 1536787990}
    assert dynamic.info.message == "sample info log"
    subworkflow, foreach, loop = (artifacts[k] for k in list(ArtifactKey)[:3])
    assert subworkflow.subworkflow_overview.rollup_overview.total_leaf_count == 29
    overview = foreach.foreach_overview
    assert overview.rollup.total_leaf_count + overview.running_rollup.total_leaf_count == 14
    assert loop.rollup.total_leaf_count + loop.last_overview.rollup_overview.total_leaf_count == 5


def test_the_foreach_artifact_of_a_step_attempt() -> None:
    artifact = load("instances/sample-foreach-step-instance-running").artifacts[ArtifactKey.FOREACH]
    assert (artifact.foreach_run_id, artifact.run_policy) == (5, RunPolicy.RESTART_FROM_SPECIFIC)
    assert (artifact.ancestor_iteration_count, artifact.next_loop_index) == (6, 6)


def test_foreach_details_flatten() -> None:
    details = load("instances/sample-foreach-details")["test1"]
    assert list(Intervals(details[InstanceStatus.FAILED])) == [8, 9, 11, 12, 13, 14, 15]
    assert list(Intervals(details[InstanceStatus.SUCCEEDED])) == [10, 16, 17, 18, 19, 20, 22]


def test_a_nul_byte_is_stored_as_shown_text() -> None:
    step = load("instances/sample-step-instance-failed-with-null-byte")
    assert step.timeline[1].message == "sample error details foo\0bar"
    stored = to_stored_json(wire.encode(step))
    assert b'"sample error details foo[NULL]bar"' in stored
    assert b"\\u0000" not in stored


def test_numbers_keep_their_form() -> None:
    assert load("workflows/definition/sample-numbers") == {"number1": 1, "number2": 0, "number3": "4"}
    assert list(load("workflows/definition/sample-retry-strings").values()) == ["${foo}", "bar", "1+4"]
    assert list(load("workflows/definition/sample-timeouts").values()) == [
        12345,
        "10 minutes 5 seconds 1 day",
        "123456",
    ]


def test_a_tag_keeps_its_attributes() -> None:
    tag = load("workflows/definition/sample-tag-with-attributes")
    assert len(tag.attributes) == 4
    assert tag.attributes["created_at_milli"] == 1234


def test_metadata_keeps_what_came_with_the_push() -> None:
    metadata = load("workflows/definition/sample-valid-metadata")
    assert metadata.extra["step_ordinals"] == {"step1": 2, "step2": 1}


@pytest.mark.parametrize(
    ("name", "limits", "backoff"),
    [
        ("sample-parsable-retry-values", ("10", "3", "1"), None),
        ("sample-retries", (1, "2", "3"), ExponentialBackoff),
        ("sample-retry-exponential-back-off-policy", (10, 10, None), ExponentialBackoff),
        ("sample-retry-exponential-no-backoff", (10, 10, None), None),
        ("sample-retry-fixed-delay-policy", (10, 10, None), FixedBackoff),
        ("sample-retry-only-backoff", (None, None, None), FixedBackoff),
        ("sample-retry-random-values", (10, None, None), None),
    ],
)
def test_retry_policies(name: str, limits: tuple[Any, ...], backoff: type | None) -> None:
    policy = load(f"retry_policy/{name}")
    assert (policy.error_retry_limit, policy.platform_retry_limit, policy.timeout_retry_limit) == limits
    assert (None if policy.backoff is None else type(policy.backoff)) is backoff


def test_alerting_words_are_read_in_any_case() -> None:
    alerting = load("alerting/workflow_alerting_all_fields_overrides_payload")
    configs = alerting.type_configs
    assert list(configs) == [
        AlertType.STEP_FAILURE,
        AlertType.TCT_VIOLATION,
        AlertType.LONG_RUNNING,
        AlertType.BREAKPOINT_HIT,
        AlertType.DEFINITION_CHANGE,
    ]
    assert configs[AlertType.LONG_RUNNING].disabled
    assert [configs[kind].granularity for kind in list(configs)[2:]] == [
        AlertGranularity.ALL,
        AlertGranularity.STEP,
        AlertGranularity.WORKFLOW,
    ]
    assert (alerting.tct.completed_by_hour, alerting.tct.tz) == (1, "UTC")
    within = load("alerting/workflow_alerting_with_success_within_payload").type_configs
    assert within[AlertType.SUCCESS_WITHIN].duration_minutes == 1440


def test_doubles_keep_every_digit() -> None:
    steps = load("parameters/sample-wf-params").workflow.steps
    assert steps[0].params["memory"].value == Decimal("10.229999999999")
    assert steps[0].params["monitor"].value == Decimal("1.00000000000001")
    assert b"1.00000000000001" in wire.to_json(wire.encode(steps[0]))


@pytest.mark.parametrize(
    ("name", "rule", "concurrency"),
    [
        ("parallel", RunStrategyRule.PARALLEL, 20),
        ("sequential", RunStrategyRule.SEQUENTIAL, 1),
        ("serial-latest-only", RunStrategyRule.SERIAL_LATEST_ONLY, 1),
    ],
)
def test_run_strategies(name: str, rule: RunStrategyRule, concurrency: int) -> None:
    version = load(f"workflows/definition/sample-minimal-wf-run-strategy-{name}")
    strategy = version.properties_snapshot.run_strategy
    assert (strategy.rule, strategy.workflow_concurrency) == (rule, concurrency)


def test_properties_can_be_reset() -> None:
    update = load("api/sample-workflow-properties-update-request-reset")
    assert update.reset_run_strategy_rule
    assert update.reset_step_concurrency
    assert not update.reset_workflow_concurrency


def test_initiators() -> None:
    initiators = load("initiator/sample-initiators")
    assert {name: each.depth for name, each in initiators.items() if each.depth} == {
        "subworkflow": 2,
        "foreach": 3,
        "whileLoop": 3,
        "template": 2,
    }
    assert [name for name, each in initiators.items() if each.inline] == ["foreach", "whileLoop", "template"]
    assert initiators["subworkflow"].parent.sync is False
    assert initiators["manual2"].user.name == "tester"


def test_a_signal_announcement() -> None:
    signal = load("api/sample-signal-create-request")
    assert (signal.name, signal.request_id) == ("signal_a", "test-request-id")
    assert signal.payload == {"extra": {"source": {"id": "test-id"}}}


def test_a_job_template() -> None:
    template = load("stepruntime/job_template").definition
    assert list(template.params) == ["kubernetes", "notebook", "script"]
    assert [tag.name for tag in template.tags] == ["notebook", "shell", "example"]


def test_a_step_with_signals() -> None:
    step = load("typedsteps/sample-typed-step")
    assert [each.name for each in step.signal_dependencies] == ["signal_a", "signal_b"]
    assert [each.name for each in step.signal_outputs] == ["table_0"]


def test_signal_dependencies_are_ready_when_all_are_matched_or_skipped() -> None:
    dependencies = load("signal/sample-signal-multiple-dependencies")
    assert not dependencies.is_satisfied
    del dependencies.dependencies[0]
    assert dependencies.is_satisfied
