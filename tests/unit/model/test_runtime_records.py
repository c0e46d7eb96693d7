"""Records of runs: what annotations alone do not say."""

from typing import Any

import pytest
from tests.conformance.records.job_event import JobEvent, NotificationJob

from stretto.model import wire
from stretto.model.artifact import Artifact, Artifacts, DefaultArtifact, RetryArtifact
from stretto.model.errors import Internal
from stretto.model.foreach import ForeachOverview
from stretto.model.initiator import ForeachInitiator, Initiator, ManualInitiator, SubworkflowInitiator
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.problem import Code
from stretto.model.request import SignalRequest, StartRequest
from stretto.model.response import StartStatus, StepRestartResponse
from stretto.model.rollup import RollupOverview, RuntimeOverview, StepInfo
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.signal_instance import SignalDependencies, SignalDependencyStatus
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.step_instance import StepInstance
from stretto.model.timeline import DetailsEvent, LogEvent, Timeline, TimelineEvent


def read(tp: Any, value: Any) -> Any:
    record, problems = wire.decode(tp, value)
    assert problems == []
    return record


def problems_of(tp: Any, value: Any) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in wire.decode(tp, value)[1]]


def instance(**fields: Any) -> WorkflowInstance:
    return WorkflowInstance(
        workflow_id="w", workflow_instance_id=1, workflow_run_id=2, status=InstanceStatus.FAILED, **fields
    )


def test_the_status_of_a_run() -> None:
    assert instance().run_status is RunStatus.FAILED
    assert instance(runtime_overview=RuntimeOverview()).run_status is RunStatus.FAILED
    overview = RuntimeOverview(run_status=RunStatus.SUCCEEDED)
    assert instance(runtime_overview=overview).run_status is RunStatus.SUCCEEDED


def test_an_instance_leaves_out_what_is_not_there() -> None:
    assert wire.encode(instance()) == {
        "workflow_id": "w",
        "workflow_instance_id": 1,
        "workflow_run_id": 2,
        "status": "FAILED",
    }


def test_runtime_records_do_not_share_their_defaults() -> None:
    one, other = instance(), instance()
    one.timeline.append(LogEvent(timestamp=1, message="a"))
    one.artifacts["x"] = read(Artifact, {})
    assert (other.timeline, other.artifacts) == ([], {})
    ids: dict[str, Any] = {"workflow_id": "w", "workflow_instance_id": 1, "workflow_run_id": 1}
    step, second = (StepInstance(**ids, step_id="s", step_attempt_id=n) for n in (1, 2))
    step.runtime_state.status = StepStatus.RUNNING
    assert second.runtime_state.status is StepStatus.NOT_CREATED


def test_the_order_of_the_graph_is_kept() -> None:
    dag: dict[str, Any] = {"b": {}, "a": {"predecessors": ["b"]}, "c": {"successors": {"d": "true"}}}
    given = {**wire.encode(instance()), "runtime_dag": dag}
    assert list(wire.encode(read(WorkflowInstance, given))["runtime_dag"].items()) == list(dag.items())


def test_a_count_may_be_a_bare_number() -> None:
    overview = read(RuntimeOverview, {"total_step_count": 3, "step_overview": {"RUNNING": 2}})
    assert wire.encode(overview) == {"total_step_count": 3, "step_overview": {"RUNNING": {"cnt": 2}}}


def test_steps_of_an_overview() -> None:
    given = {"total_step_count": 2, "step_overview": {"RUNNING": {"cnt": 1, "steps": [[2, 5, None]]}}}
    overview = read(RuntimeOverview, given)
    assert wire.encode(overview) == given
    assert overview.steps_of({"a": 1, "b": 2}) == {"b": (StepStatus.RUNNING, StepInfo(2, 5))}
    with pytest.raises(Internal, match="ordinal 2 in a graph of 1 steps"):
        overview.steps_of(["a"])


@pytest.mark.parametrize(
    ("wrong", "path"),
    [("x", ""), ([1, 2], ""), ([None, 1, 2], ""), ([1, "2", None], "[1]"), ([True, 1, 1], "[0]"), ({}, "")],
)
def test_no_step_info(wrong: Any, path: str) -> None:
    assert problems_of(StepInfo, wrong) == [(Code.WRONG_TYPE, path)]


def test_an_empty_rollup_is_short() -> None:
    assert wire.encode(RollupOverview()) == {"total_leaf_count": 0}


def test_ranges_of_iterations() -> None:
    given = {"checkpoint": 9, "details": {"FAILED": [[8, 9], 11], "SUCCEEDED": [1]}}
    overview = read(ForeachOverview, given)
    assert overview.details[InstanceStatus.FAILED] == [(8, 9), (11, 11)]
    assert wire.encode(overview) == given


@pytest.mark.parametrize("wrong", ["1", [1], [1, 2, 3], [1, "2"], True, None])
def test_no_range(wrong: Any) -> None:
    assert problems_of(ForeachOverview, {"details": {"FAILED": [1, wrong]}}) == [
        (Code.WRONG_TYPE, "details.FAILED[1]")
    ]
    assert problems_of(ForeachOverview, {"details": {"FAILED": 1}}) == [(Code.WRONG_TYPE, "details.FAILED")]


@pytest.mark.parametrize("given", [{"a": 1}, {"type": "DEFAULT", "a": 1}, {"type": "mine"}, {"type": 7}, {}])
def test_other_artifacts_are_free_objects(given: Any) -> None:
    artifact = read(Artifact, given)
    assert artifact == DefaultArtifact(data=given)
    assert wire.encode(artifact, Artifact) == given


def test_known_artifacts_have_a_shape() -> None:
    artifacts = read(Artifacts, {"r": {"type": "retry", "retryable": False}})
    assert artifacts == {"r": RetryArtifact(retryable=False)}
    assert wire.encode(artifacts, Artifacts) == {"r": {"type": "RETRY", "retryable": False}}
    assert problems_of(Artifacts, {"r": {"type": "RETRY", "retryable": "no"}, "x": 1}) == [
        (Code.WRONG_TYPE, "r.retryable"),
        (Code.WRONG_TYPE, "x"),
    ]
    assert problems_of(DefaultArtifact, []) == [(Code.WRONG_TYPE, "")]


ANCESTOR = {"workflow_id": "w", "instance_id": 1, "run_id": 1, "step_id": "s", "step_attempt_id": 1}


def test_initiators_write_their_depth_and_forget_a_given_one() -> None:
    manual = read(Initiator, {"type": "manual", "user": "me", "depth": 5})
    assert wire.encode(manual, Initiator) == {"type": "MANUAL", "user": "me", "depth": 0}
    nested = read(Initiator, {"type": "FOREACH", "ancestors": [ANCESTOR, {**ANCESTOR, "sync": False}]})
    assert wire.encode(nested, Initiator)["depth"] == nested.depth == 2
    assert nested.parent.sync is False


def test_what_initiators_mean() -> None:
    assert (ManualInitiator.inline, ManualInitiator.restartable) == (False, True)
    assert (SubworkflowInitiator.inline, SubworkflowInitiator.restartable) == (False, False)
    assert (ForeachInitiator.inline, ForeachInitiator.restartable) == (True, False)


def test_a_restart_path_writes_a_missing_step_as_null() -> None:
    given = {"restart_path": [{"workflow_id": "w", "instance_id": 1, "step_id": None}]}
    assert wire.encode(read(RestartConfig, given)) == given


def test_run_policies() -> None:
    assert [each for each in RunPolicy if each.is_fresh] == [
        RunPolicy.START_FRESH_NEW_RUN,
        RunPolicy.START_CUSTOMIZED_RUN,
    ]


def test_details_leave_out_what_says_nothing() -> None:
    event = DetailsEvent(timestamp=0, status=read(DetailsEvent, ERROR).status, message="")
    assert wire.encode(event) == {
        "type": "DETAILS",
        "timestamp": 0,
        "status": "BAD_REQUEST",
        "message": "",
    }
    assert wire.encode(read(TimelineEvent, ERROR), TimelineEvent) == ERROR


ERROR = {
    "type": "DETAILS",
    "timestamp": 1,
    "status": "BAD_REQUEST",
    "message": "m",
    "errors": ["e"],
    "retryable": True,
}


def test_a_timeline_is_a_list_of_events() -> None:
    given = [ERROR, {"type": "STATUS", "timestamp": 2, "status": "RUNNING"}]
    assert wire.encode(read(Timeline, given), Timeline) == given
    assert problems_of(Timeline, [{"type": "LGO"}]) == [(Code.UNKNOWN_VALUE, "[0].type")]


def test_signal_dependencies() -> None:
    waiting = read(SignalDependencies, {"dependencies": [{"name": "a"}, {"name": "b", "status": "SKIPPED"}]})
    assert not waiting.is_satisfied
    waiting.dependencies[0].status = SignalDependencyStatus.MATCHED
    assert waiting.is_satisfied
    assert wire.encode(SignalDependencies()) == {}


def test_the_payload_of_a_signal() -> None:
    for given in ({"name": "s", "a": 1, "b": {}}, {"name": "s", "payload": {"a": 1}, "b": {}}):
        assert read(SignalRequest, given).payload == {"a": 1, "b": {}}
    assert read(SignalRequest, {"name": "s", "payload": 7}).payload == {"payload": 7}
    assert problems_of(SignalRequest, {"name": "s", "params": {"a": 1.5}}) == [(Code.WRONG_TYPE, "params.a")]


def test_a_start_needs_an_initiator() -> None:
    assert problems_of(StartRequest, {}) == [(Code.MISSING_FIELD, "initiator")]
    assert problems_of(StartRequest, {"initiator": {"type": "cron"}}) == [
        (Code.UNKNOWN_VALUE, "initiator.type")
    ]


def test_a_response_that_leaves_out_defaults_can_be_read_again() -> None:
    response = StepRestartResponse(workflow_id="w", status=StartStatus.CREATED)
    written = wire.encode(response)
    assert written == {"workflow_id": "w", "status": "CREATED"}
    assert read(StepRestartResponse, written) == response


def test_a_notification_holds_another_message() -> None:
    given = {
        "type": "NOTIFICATION",
        "event": {"type": "DELETE_WORKFLOW", "workflow_id": "w", "internal_id": 1},
    }
    job = read(JobEvent, given)
    assert isinstance(job, NotificationJob)
    assert wire.encode(job, JobEvent) == given


def test_a_page_of_instances() -> None:
    value = {"page_info": {}, "total_count": 1, "elements": [wire.encode(instance())]}
    assert read(Page[WorkflowInstance], value).elements == (instance(),)


def test_the_parameters_in_the_payload_of_an_output_signal() -> None:
    """What can not be read as a parameter is a plain value."""
    payload = {"n": {"type": "LONG", "value": 1}, "odd": {"type": "csv", "value": 3}, "plain": 7}
    output = read(SignalOutputDefinition, {"name": "s", "payload": payload})
    assert output.payload_params() == {"n": ParamDefinition(type=ParamType.LONG, value=1)}
    assert read(SignalOutputDefinition, {"name": "s"}).payload_params() == {}
