"""Behaviour cases about what users ask for: restarts, skips, permits, breakpoints; one test for each."""

from typing import Any

import pytest
from tests.conformance.behaviour import Then
from tests.conformance.rule_cases import Rules

from stretto.engine.breakpoints import (
    Where,
    find_breakpoints,
    find_paused,
    holds,
    key_of,
    no_such_breakpoint,
    not_paused,
    stored_id,
    unknown_step,
)
from stretto.engine.inline_ids import Loop, hash_key, inline_workflow_id
from stretto.engine.permits import (
    MAESTRO_DEFAULTS,
    Concurrency,
    Waiter,
    granted,
    runtime_permits,
    with_limit,
)
from stretto.engine.restart_path import (
    check_identity,
    climb,
    current_node,
    descend,
    from_inline_root,
    identity,
)
from stretto.engine.skips import SKIPPED_MESSAGE, SkipRoute, is_skipped, route_skip
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.initiator import Ancestor
from stretto.model.permit import TagPermit, TagPermitRequest
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.model.wire import encode

pytestmark = pytest.mark.conformance
RULES = Rules()


# ------------------------------------------------------------------------------------------------- restarts
def node(text: str) -> RestartNode:
    workflow_id, instance_id, step_id = text.split("/")
    return RestartNode(workflow_id=workflow_id, instance_id=int(instance_id), step_id=step_id)


def config_of(given: Any) -> RestartConfig:
    path = tuple(
        node(each) if isinstance(each, str) else RestartNode(**each) for each in given["restart_path"]
    )
    return RestartConfig(
        restart_path=path,
        restart_policy=RunPolicy(
            given.get("restart_policy") or given.get("policy") or "RESTART_FROM_INCOMPLETE"
        ),
        downstream_policy=RunPolicy(given.get("downstream_policy", "RESTART_FROM_INCOMPLETE")),
    )


def parent(workflow_id: str, instance_id: int, step_id: str) -> Ancestor:
    return Ancestor(
        workflow_id=workflow_id, instance_id=instance_id, run_id=1, step_id=step_id, step_attempt_id=1
    )


@RULES.case("restart-path-upstream")
def check_upstream(given: Any, then: Then) -> None:
    policy, config = climb(config_of(given), parent("parent", 2, "sub-step"))
    check_level(policy, config, then)


@RULES.case("restart-path-downstream-match")
def check_downstream(given: Any, then: Then) -> None:
    check_level(*descend(config_of(given), "sub-step", "foo", 1), then)


def check_level(policy: RunPolicy, config: RestartConfig | None, then: Then) -> None:
    assert config is not None
    assert policy.value == then.take("policy")
    assert identity(config) == then.take("identity")
    assert current_node(config).step_id == then.take("restart_step")


@RULES.case("restart-path-downstream-no-match")
def check_no_match(given: Any, then: Then) -> None:
    check_aside(given, "not-match", then)


@RULES.case("restart-path-downstream-end")
def check_end(given: Any, then: Then) -> None:
    check_aside(given, "bar", then)


def check_aside(given: Any, step_id: str, then: Then) -> None:
    policy, config = descend(config_of(given), step_id, "child", 1)
    assert config is then.take("restart_config")
    assert then.take("policy").split()[0] == policy.value


@RULES.case("restart-identity-check")
def check_identities(given: Any, then: Then) -> None:
    config = config_of(given)
    for name, text in then.rest().items():
        kind, place = name.split()
        workflow_id, instance_id = place.split("/")
        loop = Loop.FOREACH if kind == "foreach" else None
        if text.startswith("ok"):
            check_identity(config, workflow_id, int(instance_id), loop)
            continue
        with pytest.raises(InvalidRequest) as caught:
            check_identity(config, workflow_id, int(instance_id), loop)
        assert text.removeprefix("error: ").removesuffix(" ...") in caught.value.message


@RULES.case("restart-from-inline-root")
def check_inline_root(given: Any, then: Then) -> None:
    instance = given["inline_instance"]
    assert instance["initiator"] == "FOREACH, parent root-wf/123 step foreach-step"
    step_id, status = given["step"].split()
    inline = RestartNode(workflow_id="maestro_foreach_x", instance_id=4, step_id=step_id)
    config = from_inline_root(
        RestartConfig(restart_path=(inline,), restart_policy=RunPolicy(given["policy"])),
        [parent("root-wf", 123, "foreach-step")],
        InstanceStatus(instance["status"]),
        StepStatus(status),
    )
    assert encode(config)["restart_path"] == then.take("restart_path")
    # With a node that names no step, the whole instance gets a new run.
    assert then.take("response") == "WORKFLOW_RUN_CREATED"


# ---------------------------------------------------------------------------------------------------- skips
@RULES.case("skip-by-restart-config")
def check_skipped(given: Any, then: Then) -> None:
    one, two = (node(f"wf/{number}/s") for number in (1, 2))
    configs = {
        "no restart config": None,
        "empty restart path": RestartConfig(skip_steps=("step1",)),
        "restart path of length 2": RestartConfig(restart_path=(one, two), skip_steps=("step1",)),
        "path length 1 without skip_steps": RestartConfig(restart_path=(one,)),
        "skip_steps [step2]": RestartConfig(restart_path=(one,), skip_steps=("step2",)),
        "path length 1 and skip_steps [step1]": RestartConfig(restart_path=(one,), skip_steps=("step1",)),
    }
    found = [is_skipped(given["step"], configs[variant]) for variant in given["variants"]]
    assert found == then.take("skipped")
    assert then.take("status") == StepStatus.SKIPPED
    assert then.take("timeline") == SKIPPED_MESSAGE
    assert then.take("db_operation") == "UPSERT"  # how Maestro stores it


@RULES.case("skip-action-routing")
def check_routing(given: Any, then: Then) -> None:
    words = {
        SkipRoute.ACTION: "SKIP action on the running attempt",
        SkipRoute.ATTEMPT: "restart of the step in the same run with skip_steps",
        SkipRoute.RUN: "new run RESTART_FROM_SPECIFIC with skip_steps",
    }
    routes = [
        route_skip(InstanceStatus(each["workflow"]), StepStatus(each["step"]), "wf", 1, "job1")
        for each in given["variants"]
    ]
    assert [words[route] for route in routes] == then.take("handled_by")


@RULES.case("skip-action-invalid")
def check_no_skip(given: Any, then: Then) -> None:
    for status, error in zip(given["step_status"], then.take("errors"), strict=True):
        with pytest.raises(WrongState) as caught:
            route_skip(InstanceStatus.IN_PROGRESS, StepStatus(status), "sample-minimal-wf", 1, "job1")
        assert error in caught.value.message


# ---------------------------------------------------------------------------------------------------- permits
@RULES.case("tag-derive")
def check_tags(given: Any, then: Then) -> None:
    found = [
        runtime_permits(
            given["workflow_id"],
            given["step_id"],
            given["correlation_id"],
            Concurrency(
                workflow=each.get("step_concurrency"), instance=each.get("instance_step_concurrency")
            ),
            leaf=each["type"] == "NOOP",
            defaults=MAESTRO_DEFAULTS,
        )
        for each in given["variants"]
    ]
    assert found == then.take("tags")


def waiter(row: Any) -> Waiter:
    return Waiter(f"uuid{row['seq']}", tuple(row["tags"]), None, 0, row["seq"])


@RULES.case("tag-limit-reached")
def check_limit(given: Any, then: Then) -> None:
    held = {tag: 1 for row in given["acquired"] for tag in row["tags"]}
    waiters = [waiter(row) for row in given["queued"]]
    assert len(granted(waiters, held, {"tag1": given["tag1_limit"]})) == then.take("acquired_new")


@RULES.case("tag-seq-order")
def check_order(given: Any, then: Then) -> None:
    waiters = [
        Waiter(uuid, ("tag",), None, 0, given["seq_base"] + at)
        for at, uuid in enumerate(given["inserted_in_order"], 1)
    ]
    first_come = granted(reversed(waiters), {}, {})
    assert {each.attempt: each.ticket for each in first_come} == then.take("seq")
    assert [each.attempt for each in first_come] == given["inserted_in_order"]


@RULES.case("tag-upsert-timeline")
def check_upsert(given: Any, then: Then) -> None:
    permit: TagPermit | None = None
    for at, limit in enumerate(given["upserts"]):
        request = TagPermitRequest(tag="tag1", max_allowed=limit, extra={} if at else {"note": "x"})
        permit = with_limit(permit, request, User(name=given["user"]), at)
    assert permit is not None
    assert permit.max_allowed == then.take("max_allowed")
    lines = [event.message for event in permit.timeline or [] if isinstance(event, LogEvent)]
    assert lines == then.take("timeline")
    assert then.take("extra_info") == "overwritten by the last upsert; null becomes {}"
    assert permit.extra == {}


# -------------------------------------------------------------------------------- where attempts are held
def breakpoints(step_id: str, rows: list[list[int]], workflow_id: str = "wf1") -> list[StepBreakpoint]:
    return [
        StepBreakpoint(
            workflow_id=workflow_id,
            step_id=step_id,
            workflow_version_id=version,
            workflow_instance_id=instance,
            workflow_run_id=run,
            step_attempt_id=attempt,
        )
        for version, instance, run, attempt in rows
    ]


def attempt_at(place: tuple[int, ...], step_id: str = "job.1", workflow_id: str = "wf1") -> PausedStepAttempt:
    version, instance, run, number = place
    return PausedStepAttempt(
        workflow_id=workflow_id,
        workflow_version_id=version,
        workflow_instance_id=instance,
        workflow_run_id=run,
        step_id=step_id,
        step_attempt_id=number,
    )


def place(text: str) -> Where:
    return Where(*map(int, text.strip("[]").split(",")))


def steps_of(given: Any) -> dict[str, list[list[int]]]:
    return {name: rows for name, rows in given.items() if name.startswith("job")}


@RULES.case("breakpoint-list")
def check_list(given: Any, then: Then) -> None:
    stored = [each for step_id, rows in steps_of(given).items() for each in breakpoints(step_id, rows)]
    for step_id, counts in then.rest().items():
        for text, count in counts.items():
            assert len(find_breakpoints(stored, "wf1", step_id, place(text))) == count


@RULES.case("breakpoint-paused-list")
def check_paused_list(given: Any, then: Then) -> None:
    paused = [attempt_at(tuple(row), step_id) for step_id, rows in steps_of(given).items() for row in rows]
    for step_id, counts in then.rest().items():
        for text, count in counts.items():
            assert len(find_paused(paused, "wf1", step_id, place(text))) == count


@RULES.case("breakpoint-upsert")
def check_same_breakpoint(given: Any, then: Then) -> None:
    assert len({key_of(each) for each in breakpoints("job.1", given["added"])}) == then.take("count")


@RULES.case("breakpoint-version-scope")
def check_scope(given: Any, then: Then) -> None:
    [each] = breakpoints("job.1", [given["breakpoint"]])
    assert holds(each, attempt_at((2, 1, 1, 1))) is then.take("version_2_pauses")
    assert holds(each, attempt_at((1, 1, 1, 1))) is then.take("version_1_pauses")


@RULES.case("breakpoint-delete-missing")
def check_missing(given: Any, then: Then) -> None:
    assert given["breakpoints"] == []
    assert find_breakpoints([], "wf1", "job.2", Where(1, 1, 1, 1)) == []
    assert then.take("error") in no_such_breakpoint("wf1", "job.2", Where(1, 1, 1, 1)).message


@RULES.case("breakpoint-unknown-step")
def check_unknown_step(given: Any, then: Then) -> None:
    assert then.take("error") in unknown_step(given["workflow"], "non-exist").message


@RULES.case("breakpoint-resume-one")
def check_resume(given: Any, then: Then) -> None:
    assert given["paused"] == ["job.2 1/1/1 attempt 1"]
    workflow_id = "sample-active-wf-with-props"
    paused = [attempt_at((1, 1, 1, 1), "job.2", workflow_id)]
    assert then.take("first") == "ok"
    assert find_paused(paused, workflow_id, "job.2", Where(1, 1, 1, 1)) == paused
    assert find_paused([], workflow_id, "job.2", Where(1, 1, 1, 1)) == []
    assert then.take("second_error") in not_paused(workflow_id, "job.2", Where(1, 1, 1, 1)).message


@RULES.case("breakpoint-foreach-step")
def check_nested(given: Any, then: Then) -> None:
    internal_id, step_id = given["internal_id"], given["nested_step"]
    stored = stored_id("outer", internal_id, Loop.FOREACH)
    written = then.take("stored_workflow_id").replace("<hashKey(54321)>", hash_key(internal_id))
    assert written == f"{stored} (prefix)"
    [each] = breakpoints(step_id, [[0, 0, 0, 0]], stored)
    assert then.take("matches") == "any inline workflow id starting with that prefix"
    for instance in (1, 2):
        inline = inline_workflow_id(Loop.FOREACH, internal_id, "outer", instance, "loop", instance)
        assert holds(each, attempt_at((1, 3, 1, 1), step_id, inline))
    assert then.take("list_returns_workflow_id") == "the outer workflow id"
    found = find_breakpoints([each], "outer", step_id, Where(), kept_as=stored)
    assert [one.workflow_id for one in found] == ["outer"]


@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)
