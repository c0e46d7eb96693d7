"""Behaviour cases about retries, timeouts and the status of runs, one test for each."""

from typing import Any

import pytest
from tests.conformance import (
    test_engine_loop_rule_cases,
    test_engine_request_rule_cases,
    test_engine_template_rule_cases,
)
from tests.conformance.behaviour import Then
from tests.conformance.rule_cases import CASES, NEEDS_MACHINE, OTHER_RUNTIMES, Rules, fixture, like

from stretto.definition.graph import Graph
from stretto.engine.aggregate import aggregated_status, aggregated_views, statuses_at_end
from stretto.engine.outcome import outcome_of
from stretto.engine.overview import runtime_overview, views_of
from stretto.engine.retry import (
    DEFAULT_RETRIES,
    KIND_OF,
    BadRetryPolicy,
    Failure,
    Interpolate,
    Retries,
    backoff_of,
    delay_seconds,
    read_retries,
    retries_of,
    retry_message,
)
from stretto.engine.rollup import Leaf, Rollup, rollup_of_children
from stretto.engine.timeouts import BadTimeout, timeout_millis
from stretto.model.aggregated import StepAggregatedView
from stretto.model.artifact import WhileArtifact
from stretto.model.errors import Internal, NotFound, WrongState
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.step import Step
from stretto.model.wire import decode, encode
from stretto.sel import compile_template

pytestmark = pytest.mark.conformance
RULES = Rules()
DEFAULT_TEXT = "EXPONENTIAL_BACKOFF base 60 exponent 2, caps error 600 / platform 3600 / timeout 3600"
PARAM_RETRIES = CASES["retry-parse-params"]["given"]["data_file"]


def params(**values: Any) -> Interpolate:
    """Replaces variables by these workflow parameters."""

    def value_of(name: str) -> Any:
        if name not in values:
            raise NotFound(f"no parameter {name}")
        return values[name]

    return lambda text: compile_template(text).render(value_of)


def policy(**fields: Any) -> RetryPolicy:
    record, problems = decode(RetryPolicy, fields)
    assert not problems
    return record


def policy_of(path: str) -> RetryPolicy:
    policy: RetryPolicy = fixture(path, Step).retry_policy
    return policy


# --------------------------------------------------------------------------------------------------- retry
@RULES.case("retry-defaults")
def check_defaults(given: Any, then: Then) -> None:
    retries = read_retries(policy(**given["retry_policy"]), params())
    check_limits(retries, then)
    assert then.take("backoff") == DEFAULT_TEXT
    assert {(each.base, each.exponent) for each in budgets(retries).values()} == {(60, 2)}
    assert [each.cap for each in budgets(retries).values()] == [600, 3600, 3600]
    assert not retries.fixed


def budgets(retries: Retries) -> Any:
    return {kind: retries.budget(kind) for kind in Failure}


def check_limits(retries: Retries, then: Then) -> None:
    for kind, budget in budgets(retries).items():
        assert budget.limit == then.take(f"{kind}_retry_limit")


@RULES.case("retry-partial-backoff-merged-with-defaults")
def check_partial(given: Any, then: Then) -> None:
    backoff = encode(backoff_of(read_retries(policy(backoff=given["backoff"]), params())))
    assert backoff["type"] == given["backoff"]["type"]
    for name, value in then.rest().items():
        assert backoff[name] == value


@RULES.case("retry-delay-exponential-platform", "retry-delay-exponential-user", "retry-delay-fixed")
def check_delays(given: Any, then: Then) -> None:
    [(counter, failures)] = [item for item in given.items() if item[0].startswith("previous_")]
    fixed = "FIXED" in given["backoff"]
    retries = read_retries(RetryPolicy(backoff=FixedBackoff() if fixed else None), params())
    delays = then.take("delays")
    for status in (StepStatus.USER_FAILED, StepStatus.PLATFORM_FAILED):
        if fixed or status.name.lower().removesuffix("_failed") in counter:
            assert [delay_seconds(retries, status, count) for count in failures] == delays


@RULES.case("retry-delay-non-retryable-status")
def check_no_delay(given: Any, then: Then) -> None:
    with pytest.raises(WrongState) as caught:
        delay_seconds(DEFAULT_RETRIES, StepStatus(given["status"]), 0)
    assert then.take("error") in caught.value.message


@RULES.case("retry-parse-mixed-strings")
def check_mixed(given: Any, then: Then) -> None:
    retries = read_retries(policy_of(given["data_file"]), params())
    check_limits(retries, then)
    for name, status in (
        ("user", StepStatus.USER_FAILED),
        ("platform", StepStatus.PLATFORM_FAILED),
        ("timeout", StepStatus.TIMEOUT_FAILED),
    ):
        for after, delay in then.take(f"{name}_delay").items():
            assert delay_seconds(retries, status, int(after.removeprefix("after_"))) == delay


@RULES.case("retry-parse-params")
def check_params(given: Any, then: Then) -> None:
    retries = read_retries(policy_of(given["data_file"]), params(**given["workflow_params"]))
    check_limits(retries, then)
    for after, delay in then.take("delay_after").items():
        for status in KIND_OF:
            assert delay_seconds(retries, status, int(after)) == delay


@RULES.case(*like("retry-parse-fallback-"))
def check_fallback(given: Any, then: Then) -> None:
    assert given["data_file"] == "same as retry-parse-params"
    policy, interpolate = policy_of(PARAM_RETRIES), params(**given["workflow_params"])
    why = then.take("why")
    with pytest.raises((BadRetryPolicy, NotFound)) as caught:
        read_retries(policy, interpolate)
    assert ("params not found" in why) == isinstance(caught.value, NotFound)
    retries = retries_of(policy, interpolate)
    check_limits(retries, then)
    assert then.take("backoff") == "default exponential"
    assert retries == DEFAULT_RETRIES


@RULES.case("retry-timeline-message")
def check_message(given: Any, then: Then) -> None:
    fixed, exponential, timeout = given["cases"]
    assert exponential == {"exponential": "base 100 exp 2 cap 600, 6 retries"}
    growing = {
        "type": "EXPONENTIAL_BACKOFF",
        "error_retry_backoff_in_secs": 100,
        "error_retry_limit_in_secs": 600,
    }
    waits = [
        ({"type": "FIXED_BACKOFF", "error_retry_backoff_in_secs": fixed["fixed_secs"]}, given["status"], 0),
        (growing, given["status"], 6),
        (
            {"type": "FIXED_BACKOFF", "timeout_retry_backoff_in_secs": timeout["timeout fixed_secs"]},
            "TIMEOUT_FAILED",
            0,
        ),
    ]
    said = [
        retry_message(delay_seconds(read_retries(policy(backoff=backoff), params()), StepStatus(status), n))
        for backoff, status, n in waits
    ]
    assert said == then.take("messages")
    assert then.take("non_retryable_status") == "no event"
    assert KIND_OF.keys() == {status for status in StepStatus if status.is_retryable}


@RULES.case("retry-limit-range")
def check_range(given: Any, then: Then) -> None:
    for value, error in zip(given["error_retry_limit"], then.take("errors"), strict=True):
        with pytest.raises(BadRetryPolicy) as caught:
            read_retries(RetryPolicy(error_retry_limit=value), params())
        assert error in caught.value.message


@RULES.case("retry-backoff-durations")
def check_durations(given: Any, then: Then) -> None:
    fixed = {f"{kind}_retry_backoff_in_secs": value for kind, value in given["fixed"].items()}
    retries = read_retries(policy(backoff={"type": "FIXED_BACKOFF", **fixed}), params())
    assert {kind.value: each.base for kind, each in budgets(retries).items()} == then.take("fixed_secs")
    caps = {f"{kind}_retry_limit_in_secs": value for kind, value in given["exponential_limits"].items()}
    retries = read_retries(policy(backoff={"type": "EXPONENTIAL_BACKOFF", **caps}), params())
    for kind, seconds in then.take("exponential_limits_secs").items():
        assert retries.budget(Failure(kind)).cap == seconds


# ------------------------------------------------------------------------------------------------- timeout
@RULES.case("duration-parse")
def check_timeouts(given: Any, then: Then) -> None:
    assert [timeout_millis(text, params()) for text in given["inputs"]] == then.take("millis")


@RULES.case("timeout-parse-field")
def check_timeout_field(given: Any, then: Then) -> None:
    assert [timeout_millis(value, params()) for value in given["timeouts"]] == then.take("millis")


@RULES.case("duration-invalid")
def check_no_timeout(given: Any, then: Then) -> None:
    error = then.take("error")
    for text in given["inputs"]:
        with pytest.raises(BadTimeout) as caught:
            timeout_millis(text, params())
        assert error in caught.value.message


@RULES.case("duration-from-param")
def check_timeout_param(given: Any, then: Then) -> None:
    found = [timeout_millis(given["attribute"], params(foo=value)) for value in given["foo"]]
    assert found == then.take("millis")


# -------------------------------------------------------------------------------- progress of a run
@RULES.case(*like("progress-"))
def check_progress(given: Any, then: Then) -> None:
    graph = Graph(given["dag"])
    statuses = {step: StepStatus(text.split()[0]) for step, text in given["steps"].items()}
    # A failure waits for its retry until the last check of all finds that its attempt has been called off.
    called_off = not any("still IN_PROGRESS" in text for text in given["steps"].values())

    def progress(*, final: bool) -> RunStatus | None:
        restarted = given.get("restart_step")
        return outcome_of(graph, statuses, restarted=restarted, retries_over=final and called_off)

    def expected(word: str) -> RunStatus | None:
        return None if word == "not finished" else RunStatus(word)

    if "error" in then:
        with pytest.raises(Internal) as caught:
            progress(final=True)
        assert then.take("error") in caught.value.message
    elif "final_true" in then:
        assert progress(final=True) is expected(then.take("final_true"))
        assert progress(final=False) is expected(then.take("final_false"))
    else:
        assert progress(final=given.get("final", True)) is expected(then.take("result"))
    if "why" in then:
        assert then.take("why")


# --------------------------------------------------------------------------------------------------- overview
@RULES.case("overview-single-step")
def check_overview(given: Any, then: Then) -> None:
    [(step, text)] = given["steps"].items()
    status = StepStatus(text.split()[0])
    rollup = Rollup()
    rollup.add(Leaf.of("wf", 1, 1, step, 1), status)
    order = given["dag_key_order"]
    overview = runtime_overview(order, {step: StepAggregatedView(status=status)}, rollup)
    assert overview.total_step_count == then.take("total_step_count")
    assert encode(overview)["step_overview"] == then.take("step_overview")
    assert encode(overview)["rollup_overview"] == then.take("rollup")
    assert "1-based position" in then.take("note")
    assert views_of(overview, order, 1)[step].status is status


@RULES.case("overview-while-step-not-leaf")
def check_while_overview(given: Any, then: Then) -> None:
    assert given["steps"] == {"job1": "SUCCEEDED (WHILE with empty artifact)"}
    children = rollup_of_children({"maestro_while": WhileArtifact(loop_workflow_id="")})
    assert children is not None
    overview = runtime_overview(given["dag_key_order"], {}, children)
    assert overview.total_step_count == then.take("total_step_count")
    assert encode(overview)["rollup_overview"] == then.take("rollup")


# -------------------------------------------------------------------------------------------------- aggregate
def views(run_id: int, statuses: dict[str, str]) -> dict[str, StepAggregatedView]:
    return {
        step: StepAggregatedView(workflow_run_id=run_id, status=StepStatus(word))
        for step, word in statuses.items()
        if step.startswith("step") and word != "NOT_CREATED"
    }


def graph_of(run: dict[str, Any]) -> Graph:
    """The steps of a restart, each after the one before; with a named step they are roots of their own."""
    steps = run["dag"]
    if "restart_step" in run:
        return Graph(dict.fromkeys(steps, ()))
    return Graph({step: steps[at + 1 : at + 2] for at, step in enumerate(steps)})


@RULES.case(
    "aggregate-restart-incomplete-recovers",
    "aggregate-restart-specific-fails-later",
    "aggregate-two-failed-branches-one-restarted",
)
def check_aggregate(given: Any, then: Then) -> None:
    first, second = views(1, given["run1"]), given["run2"]
    restarted = second.get("restart_step")
    found = aggregated_views(
        given["run1"], views(2, second), graph_of(second), before=first, restarted=restarted
    )
    status = aggregated_status(RunStatus(second["run_status"]), found, InstanceStatus.FAILED)
    assert status.value == then.take("workflow_instance_status")
    for step, text in then.rest().items():
        word, _, run = text.partition(" (run ")
        assert found[step].status.value == word
        if run:
            assert found[step].workflow_run_id == int(run.removesuffix(")"))


@RULES.case("aggregate-no-overview")
def check_no_overview(given: Any, then: Then) -> None:
    run, steps = given["run"], given["steps"]
    created = views_of(run["overview"], steps, run["run_id"])
    found = aggregated_views(steps, created, Graph(dict.fromkeys(steps, ())))
    assert aggregated_status(RunStatus(run["status"]), found, None).value == then.take(
        "workflow_instance_status"
    )
    assert {step: view.status.value for step, view in found.items()} == then.rest()


@RULES.case(*like("aggregate-status-"))
def check_aggregated_status(given: Any, then: Then) -> None:
    words = given.get("step_statuses") or given["aggregated_step_statuses"]
    found = views(1, {f"step{at}": word for at, word in enumerate(words)})
    before = None if RunPolicy(given["policy"]).is_fresh else InstanceStatus.FAILED
    assert aggregated_status(RunStatus(given["run_status"]), found, before).value == then.take("status")


@RULES.case("aggregate-derive-final-status")
def check_final_status(given: Any, then: Then) -> None:
    baseline, run = dict(given["baseline"]), given["this_run"]
    before = InstanceStatus(baseline.pop("status"))
    found = aggregated_views(baseline, views(2, run), graph_of(run), before=views(1, baseline))
    for name, expected in then.rest().items():
        ended = statuses_at_end(RunStatus(name.removeprefix("run_")), found, before)
        assert ended.instance.value == expected["instance_status"]
        assert (ended.run.value if ended.run else "unset") == expected["overview.run_status"]


# -------------------------------------------------------------------------------- tests
@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)


def test_every_case_is_tested_or_listed() -> None:
    modules = (
        test_engine_loop_rule_cases,
        test_engine_request_rule_cases,
        test_engine_template_rule_cases,
    )
    tested = [*RULES.checks, *(case_id for module in modules for case_id in module.RULES.checks)]
    others = [case_id for case_id in CASES if case_id.startswith(OTHER_RUNTIMES)]
    assert sorted([*tested, *NEEDS_MACHINE, *others]) == sorted(CASES)
