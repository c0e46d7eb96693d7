"""Rows of the union table with several clauses: each test shows all that the engine has to do with them."""

from itertools import pairwise
from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.restarting import node_of, restarted
from tests.engine.shapes import (
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    text,
    while_,
    workflow,
)

from stretto.definition.graph import Graph, runtime_dag
from stretto.engine.aggregate import aggregated_status, aggregated_views, statuses_at_end
from stretto.engine.effects import StartWork, TerminateWork
from stretto.engine.live_rollup import rollup_of
from stretto.engine.records import AttemptRecord, RunKey
from stretto.engine.rollup import rollup_of_earlier_runs
from stretto.model.actions import StepAction
from stretto.model.aggregated import StepAggregatedView
from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

S = StepStatus
P = RunPolicy
KID = workflow(*(step(f"k{n}") for n in range(5)), id="kid")


# ---------------------------------------------------------------------------------------------------- row 98
def test_row_98_a_restart_goes_up_through_loops_and_subworkflows_and_down_again() -> None:
    """A step of a subworkflow in an iteration failed, and all around it ended. It is restarted: everything
    above it is in progress again, and nothing beside it runs.
    """
    loop = foreach("l", {"i": numbers(1, 2)}, step("before", "s"), subworkflow("s", "kid"), concurrency=2)

    def fail(effect: StartWork) -> Work:
        bad = (*effect.attempt.run[:2], effect.attempt.step_id) == ("kid", 2, "k3")
        return Work("FATAL_ERROR" if bad else "DONE")

    first = Driver(workflow(loop, step("other")), library={"kid": KID}, runtime=fail).finish()
    assert first.status == "FAILED"
    path = (
        RestartNode(workflow_id="kid", instance_id=2, step_id="k3"),
        node_of(first, "l", 2, "s"),
    )
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "l", path=path)
    again.runtime = scripted(k3=[FOREVER])
    again.start().run(0)
    child = again.world.children[RunKey("kid", 2, 2)]
    assert again.status == "IN_PROGRESS"  # the root
    assert again.attempt("l").status is S.RUNNING
    iteration = again.child("l", 2)
    assert again.live("l") == [2]
    assert (iteration.run.status, iteration.run.key.run_id) == (RunStatus.IN_PROGRESS, 3)
    assert again.statuses(iteration) == {"s": "RUNNING"}
    assert (child.status, child.statuses()) == ("IN_PROGRESS", {"k3": "STARTING"})
    effects = [*again.effects, *child.effects]
    assert [each.attempt.step_id for each in effects if isinstance(each, StartWork)] == ["k3"]
    child.report("k3")
    again.run(0)
    assert (again.status, again.statuses()) == ("SUCCEEDED", {"l": "SUCCEEDED"})


def test_row_98_in_a_run_that_goes_on_the_step_gets_an_attempt() -> None:
    steps = (subworkflow("s", "kid"), step("open", type="Wait"))
    driver = Driver(workflow(*steps), library={"kid": KID}, runtime=scripted(k1=["FATAL_ERROR"]))
    driver.start().run(0)
    assert driver.statuses()["s"] == "FATALLY_FAILED"
    driver.runtime = scripted(k1=[FOREVER])
    path = (
        RestartNode(workflow_id="kid", instance_id=1, step_id="k1"),
        RestartNode(workflow_id="w", instance_id=1, step_id="s"),
    )
    config = RestartConfig(restart_path=path, restart_policy=P.RESTART_FROM_SPECIFIC)
    driver.step("s", StepAction.RESTART, restart=config).run(0)
    assert (driver.status, driver.statuses()["s"]) == ("IN_PROGRESS", "RUNNING")
    assert driver.world.children[RunKey("kid", 1, 2)].statuses() == {"k1": "STARTING"}


# --------------------------------------------------------------------------------------------------- row 101
def delays(driver: Driver) -> list[int]:
    made = attempts_of(driver, "a")
    return [((b.create_time or 0) - (a.end_time or 0)) // 1_000 for a, b in pairwise(made)]


def test_row_101_each_class_of_errors_has_its_own_limit_and_its_own_delays() -> None:
    backoff = ExponentialBackoff(
        error_retry_backoff_in_secs=10,
        error_retry_exponent=3,
        platform_retry_backoff_in_secs=100,
        timeout_retry_backoff_in_secs=7,
    )
    policy = RetryPolicy(error_retry_limit=2, platform_retry_limit=2, timeout_retry_limit=1, backoff=backoff)
    works: list[Work | str] = [
        "USER_ERROR",
        "PLATFORM_ERROR",
        FOREVER,
        "USER_ERROR",
        "PLATFORM_ERROR",
        "DONE",
    ]
    driver = Driver(workflow(step("a", retry_policy=policy, timeout=5)), runtime=scripted(a=works)).finish()
    made = attempts_of(driver, "a")
    assert [each.status.value for each in made] == [
        "USER_FAILED",
        "PLATFORM_FAILED",
        "TIMEOUT_FAILED",
        "USER_FAILED",
        "PLATFORM_FAILED",
        "SUCCEEDED",
    ]
    assert delays(driver) == [10, 100, 7, 30, 200]  # each grows with the failures of its own kind
    last = made[-1]
    assert (last.error_retries, last.platform_retries, last.timeout_retries) == (2, 2, 1)
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("state", "limits", "tries", "end"),
    [
        ("USER_ERROR", {"error_retry_limit": 1, "platform_retry_limit": 9}, 2, "FATALLY_FAILED"),
        ("PLATFORM_ERROR", {"error_retry_limit": 9, "platform_retry_limit": 1}, 2, "FATALLY_FAILED"),
        (None, {"error_retry_limit": 9, "timeout_retry_limit": 1}, 2, "TIMED_OUT"),
        ("FATAL_ERROR", {"error_retry_limit": 9, "platform_retry_limit": 9}, 1, "FATALLY_FAILED"),
    ],
)
def test_row_101_what_one_class_has_left_is_of_no_use_to_another(
    state: str | None, limits: dict[str, int], tries: int, end: str
) -> None:
    a = step("a", retry_policy=RetryPolicy(**limits), timeout=5)  # type: ignore[arg-type]
    driver = Driver(workflow(a), runtime=scripted(a=[FOREVER if state is None else state])).finish()
    assert len(attempts_of(driver, "a")) == tries
    assert driver.statuses() == {"a": end}


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [
        (FixedBackoff(error_retry_backoff_in_secs=7), [7, 7, 7]),
        (ExponentialBackoff(error_retry_backoff_in_secs=100, error_retry_limit_in_secs=250), [100, 200, 250]),
        (None, [60, 120, 240]),
    ],
)
def test_row_101_the_delay_is_fixed_or_grows_up_to_a_cap(backoff: Any, waits: list[int]) -> None:
    policy = RetryPolicy(error_retry_limit=3, backoff=backoff)
    driver = Driver(workflow(step("a", retry_policy=policy)), runtime=scripted(a=["USER_ERROR"])).finish()
    assert delays(driver) == waits


def test_row_101_attempts_are_kept_and_success_on_a_retry_is_success() -> None:
    works = [Work("USER_ERROR", 10, "one"), Work("USER_ERROR", 10, "two"), Work("DONE", 10)]
    driver = Driver(workflow(step("a", "b"), noop("b")), runtime=scripted(a=works)).finish()
    made = attempts_of(driver, "a")
    assert [each.key.number for each in made] == [1, 2, 3]
    assert [each.reason for each in made] == ["one", "two", None]
    assert len({each.sequence for each in made}) == 1  # of one step instance
    assert all(each.start_time and each.end_time and each.end_time - each.start_time == 10 for each in made)
    assert [getattr(each.timeline[-1], "message", "") for each in made[:2]] == [
        "Retrying task in [1m]",
        "Retrying task in [2m]",
    ]
    assert (driver.status, driver.statuses()["b"]) == ("SUCCEEDED", "SUCCEEDED")


# --------------------------------------------------------------------------------------------------- row 103
SLEEP = step("a", type="Sleep", params={"sleep_seconds": number(5)}, timeout=1)


@pytest.mark.parametrize(
    "limited",
    [
        SLEEP,
        step("a", timeout=1),
        step("a", type="Wait", timeout="1 s"),
        foreach("a", {"i": numbers(1, 2)}, step("x"), timeout=1),
        while_("a", "true", {"n": number(0)}, step("x"), timeout=1),
        subworkflow("a", "kid", timeout="${most} seconds"),
    ],
    ids=lambda limited: type(limited).__name__ + str(getattr(limited, "type", "")),
)
def test_row_103_a_step_of_whatever_kind_times_out(limited: Any) -> None:
    """After a second, not before, and the work below it has ended by then."""
    driver = Driver(
        workflow(limited, params={"most": number(1)}),
        library={"kid": KID},
        runtime=lambda _effect: FOREVER,
    ).finish()
    attempt = driver.attempt("a")
    assert attempt.status is S.TIMED_OUT
    assert 1_000 <= (attempt.end_time or 0) - (attempt.start_time or 0) <= 3_000
    assert attempt.reason == "timed out"
    assert driver.status == "TIMED_OUT"
    below = [each for each in driver.of(AttemptRecord) if each.key.step_id == "x"]
    assert {each.status.value for each in below} <= {"TIMED_OUT"}
    children = [child.status for child in driver.world.children.values()]
    assert children == (["STOPPED"] if limited.id == "a" and hasattr(limited, "sync") else [])


def test_row_103_work_is_ended_before_it_is_tried_again() -> None:
    policy = RetryPolicy(timeout_retry_limit=1, backoff=FixedBackoff(timeout_retry_backoff_in_secs=2))
    a = step("a", retry_policy=policy, timeout=1)
    driver = Driver(workflow(a), runtime=scripted(a=[FOREVER, "DONE"])).finish()
    assert [each.status.value for each in attempts_of(driver, "a")] == ["TIMEOUT_FAILED", "SUCCEEDED"]
    kinds = [type(each) for each in driver.effects if isinstance(each, StartWork | TerminateWork)]
    assert kinds == [StartWork, TerminateWork, StartWork]
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize(("timeout", "run"), [(1, "TIMED_OUT"), ("${most} s", "TIMED_OUT")])
def test_row_103_a_workflow_times_out_with_all_that_runs_in_it(timeout: Any, run: str) -> None:
    steps = (
        step("a", "z"),
        step("b", type="Wait"),
        foreach("l", {"i": numbers(1, 2)}, step("x")),
        subworkflow("s", "kid"),
        noop("z"),
    )
    made = workflow(*steps, timeout=timeout, params={"most": number(1)})
    driver = Driver(made, library={"kid": KID}, runtime=lambda _effect: FOREVER).finish()
    assert driver.status == run
    assert (driver.flow.run.end_time or 0) - (driver.flow.run.start_time or 0) == 1_000
    ended = {name: status for name, status in driver.statuses().items() if name != "z"}
    assert set(ended.values()) == {"TIMED_OUT"}
    assert driver.statuses()["z"] == "NOT_CREATED"
    assert {each.status.value for each in driver.iterations("l")} == {"TIMED_OUT"}
    failed = Driver(
        workflow(step("a"), step("b"), timeout=1), runtime=scripted(a=["FATAL_ERROR"], b=[FOREVER])
    )
    assert failed.finish().status == "FAILED"  # a failure is the worse news


def test_row_103_a_timeout_that_is_none_fails_with_the_reason() -> None:
    driver = Driver(workflow(step("a", timeout="${nobody} s"))).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    assert "nobody" in str(driver.attempt("a").reason)
    run = Driver(workflow(step("a"), timeout="soon")).start()
    assert run.status == "FAILED"
    assert "cannot be non-positive" in run.lines()[-1]


# --------------------------------------------------------------------------------------------------- row 117
def test_row_117_the_newest_status_of_each_step_over_all_runs() -> None:
    """In the first run 1 and 2 succeeded, 3 failed, 4 and 5 never began; the second begins at 3."""
    names = [f"step{n}" for n in range(1, 6)]
    steps = [step(name, *names[at + 1 : at + 2]) for at, name in enumerate(names)]
    first = Driver(workflow(*steps), runtime=scripted(step3=["FATAL_ERROR"])).finish()
    views = _views(first, names)
    assert _statuses(views) == ["SUCCEEDED", "SUCCEEDED", "FATALLY_FAILED", "NOT_CREATED", "NOT_CREATED"]
    assert aggregated_status(first.flow.run.status, views, None) is InstanceStatus.FAILED

    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted(step3=[FOREVER])
    again.start().run(0)
    between = _views(again, names, views)  # what the run covers begins anew, what it leaves alone stays
    assert _statuses(between) == ["SUCCEEDED", "SUCCEEDED", "STARTING", "NOT_CREATED", "NOT_CREATED"]
    again.report("step3")
    again.run()
    after = _views(again, names, views)
    assert _statuses(after) == ["SUCCEEDED"] * 5
    assert [view.workflow_run_id for view in after.values()] == [1, 1, 2, 2, 2]
    ended = statuses_at_end(again.flow.run.status, after, InstanceStatus.FAILED)
    assert (ended.instance, ended.run) == (InstanceStatus.SUCCEEDED, None)

    third = restarted(again, P.RESTART_FROM_SPECIFIC, "step5")
    third.runtime = scripted(step5=["FATAL_ERROR"])
    last = _views(third.finish(), names, after)
    assert _statuses(last) == [*["SUCCEEDED"] * 4, "FATALLY_FAILED"]
    assert [view.workflow_run_id for view in last.values()] == [1, 1, 2, 2, 3]


def _views(driver: Driver, names: list[str], before: Any = None) -> dict[str, StepAggregatedView]:
    dag = runtime_dag(driver.workflow.steps, driver.flow.plan.numbers)
    graph = Graph({name: edges.successors for name, edges in dag.items()})
    run = {
        record.key.step_id: StepAggregatedView(
            workflow_run_id=record.key.run.run_id, status=record.status, end_time=record.end_time
        )
        for record in driver.flow.attempts
        if record is not None
    }
    return aggregated_views(names, run, graph, before=before)


def _statuses(views: dict[str, StepAggregatedView]) -> list[str]:
    return [view.status.value for view in views.values()]


# --------------------------------------------------------------------------------------------------- row 118
def counts(driver: Driver) -> dict[str, int]:
    return {status.value: each.cnt for status, each in rollup_of(driver.flow).overview.items()}


def names(driver: Driver, status: StepStatus) -> dict[str, list[str]]:
    return rollup_of(driver.flow).overview[status].ref


def test_row_118_three_steps_one_of_them_a_subworkflow_of_five_are_seven() -> None:
    steps = (step("a"), step("b"), subworkflow("s", "kid"))
    driver = Driver(workflow(*steps), library={"kid": KID}).finish()
    assert rollup_of(driver.flow).total_leaf_count == 7
    assert counts(driver) == {"SUCCEEDED": 7}


def test_row_118_leaves_of_all_that_is_nested_are_counted_and_bad_ones_named() -> None:
    inner = foreach("in", {"j": numbers(1, 2)}, step("x"), subworkflow("s", "kid"), concurrency=2)
    loop = foreach("l", {"i": numbers(1, 2)}, inner, step("y"), concurrency=2)
    rounds = while_("w", "n < 2", {"n": number(0)}, step("z", params={"n": computed("n + 1")}))

    def play(effect: StartWork) -> Work:
        bad = effect.attempt.run[:2] == ("kid", 3) and effect.attempt.step_id == "k4"
        return Work("FATAL_ERROR" if bad else "DONE")

    driver = Driver(workflow(loop, rounds, step("a")), library={"kid": KID}, runtime=play).finish()
    # 4 inner iterations of x and 5 steps of kid, 2 of y, 2 rounds of z, and a
    assert rollup_of(driver.flow).total_leaf_count == 4 * 6 + 2 + 2 + 1
    assert counts(driver) == {"SUCCEEDED": 28, "FATALLY_FAILED": 1}
    assert names(driver, S.FATALLY_FAILED) == {"kid:1": ["3:k4:1"]}


def test_row_118_while_it_runs_a_step_counts_as_itself_until_something_is_under_it() -> None:
    loop = foreach("l", {"i": numbers(1, 2, 3)}, step("x"), concurrency=2)
    driver = Driver(workflow(step("a", "l"), loop), runtime=scripted(a=[Work("DONE", 500)], x=[FOREVER]))
    driver.start().run(0)
    assert counts(driver) == {"RUNNING": 1}
    driver.run(500)
    assert counts(driver) == {"SUCCEEDED": 1, "STARTING": 2}


def test_row_118_steps_that_a_restart_leaves_alone_are_still_counted() -> None:
    steps = (step("a", "b"), step("b"), step("c"))
    first = Driver(workflow(*steps), runtime=scripted(b=["FATAL_ERROR"])).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    views = _views(first, ["a", "b", "c"])
    base = rollup_of_earlier_runs("w", 1, views, again.flow.plan.numbers, {})
    assert base.record().total_leaf_count + rollup_of(again.flow).total_leaf_count == 3
    assert {status.value for status in base.counts} == {"SUCCEEDED"}


# --------------------------------------------------------------------------------------------------- row 119
def test_row_119_the_error_text_is_kept_on_the_attempt_the_step_and_the_run() -> None:
    works = {
        "a": [Work("USER_ERROR", message="boom"), Work("USER_ERROR", 10, message="later")],
        "b": [Work("FATAL_ERROR", 10**7, message="bang")],
    }
    policy = RetryPolicy(error_retry_limit=1)
    driver = Driver(workflow(step("a", retry_policy=policy), step("b")), runtime=scripted(**works))
    driver.finish()
    first, second = attempts_of(driver, "a")
    assert (first.reason, second.reason) == ("boom", "later")  # each attempt has its own
    assert driver.attempt("b").reason == "bang"
    errors = [line for line in driver.lines() if "failed" in line]
    assert errors == ["Step [a] failed: later"]  # the first that failed for good, and no other


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (step("a", params={"p": computed("1 / 0")}), "zero"),
        (step("a", ("b", "nobody > 1")), "nobody"),
        (foreach("a", {"i": number(3)}, step("x")), "must be an array"),
        (subworkflow("a", "missing"), "no workflow missing"),
        (while_("a", "1 / 0 > 0", {"n": number(0)}, step("x")), "zero"),
        (step("a", params={"p": text("${nobody}")}), "nobody"),
    ],
    ids=["params", "edge", "foreach", "subworkflow", "while", "text"],
)
def test_row_119_what_can_not_be_decided_says_why_on_step_and_run(broken: Any, reason: str) -> None:
    driver = Driver(workflow(broken, noop("b"))).finish()
    assert driver.status == "FAILED"
    assert reason in str(driver.attempt("a").reason)
    assert reason in " ".join(line for line in driver.lines() if "Step [a] failed" in line)


def test_row_119_the_run_of_a_child_keeps_its_own_and_the_parent_says_which() -> None:
    driver = Driver(
        workflow(subworkflow("s", "kid")),
        library={"kid": KID},
        runtime=scripted(k1=[Work("FATAL_ERROR", message="boom")]),
    ).finish()
    child = driver.world.children[RunKey("kid", 1, 1)]
    assert [line for line in child.lines() if "failed" in line] == ["Step [k1] failed: boom"]
    assert driver.attempt("s").reason == "the subworkflow run [kid][1][1] ended FAILED"
