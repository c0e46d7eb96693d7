"""What `@step(...)` and `@workflow(...)` take, and how they refuse what they do not."""

from datetime import timedelta
from typing import Any

import pytest

from stretto import StepContext
from stretto.definition import parse
from stretto.flow import Cron, Flow, TraceError, foreach, step, workflow
from stretto.model.properties import AT_ONCE, Properties, RunStrategy, RunStrategyRule
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.step import FailureMode
from stretto.model.tag import Tag
from stretto.model.trigger import (
    CatchUp,
    CronTrigger,
    PredefinedSchedule,
    PredefinedTrigger,
    SignalTrigger,
    SignalTriggerEntry,
)
from stretto.model.user import User


def work(n: int) -> int:
    """Work hard."""
    return n


def long_work(n: int, ctx: StepContext) -> int:
    ctx.heartbeat()
    return n


def undo(n: int) -> None:
    assert n


def told(change: object) -> None:
    assert change


# ----------------------------------------------------------------------------------------------------- steps
def made(**options: Any) -> Any:
    """The fields of a step with these options."""
    return step(**options)(work).options.fields()


def test_a_step_without_options_has_none() -> None:
    assert made() == {}


def test_the_options_of_a_step() -> None:
    assert made(
        timeout=timedelta(minutes=2),
        tags=["a", Tag(name="b", permit=2)],
        failure_mode="fail_immediately",
        waits_for="ready",
        announces=[SignalOutputDefinition(name="done")],
        description="It works.",
    ) == {
        "timeout": 120,
        "tags": (Tag(name="a"), Tag(name="b", permit=2)),
        "failure_mode": FailureMode.FAIL_IMMEDIATELY,
        "signal_dependencies": (SignalDependencyDefinition(name="ready"),),
        "signal_outputs": (SignalOutputDefinition(name="done"),),
        "description": "It works.",
    }
    assert made(
        failure_mode=FailureMode.IGNORE_FAILURE,
        waits_for=[SignalDependencyDefinition(name="x")],
        announces="y",
    ) == {
        "failure_mode": FailureMode.IGNORE_FAILURE,
        "signal_dependencies": (SignalDependencyDefinition(name="x"),),
        "signal_outputs": (SignalOutputDefinition(name="y"),),
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("${x}", "${x}"),
        (5, 5),
        (5.0, 5),
        (0.25, "250 ms"),
        ("5 minutes", "5 minutes"),
        ("${limit}", "${limit}"),
        (None, None),
    ],
)
def test_times_are_written_as_people_do(given: Any, kept: Any) -> None:
    assert made(timeout=given).get("timeout") == kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"timeout": 0},
            "`timeout` is 0, which is not a valid duration; write seconds above 0 and up to 120 days, or",
        ),
        ({"timeout": 1e9}, "`timeout` is 1000000000.0, which is not a valid duration"),
        ({"timeout": True}, "`timeout` is True, which is not a valid duration"),
        ({"retry_delay": 0.1}, "`retry_delay` is 0.1; write whole seconds, from 1 to 86,400 (a day)"),
        ({"retry_delay": "100 ms"}, "`retry_delay` is '100 ms'; write whole seconds"),
        ({"retry_limit": 86_401}, "`retry_limit` is 86401; write whole seconds"),
        ({"retries": -1}, "`retries` is -1; write a whole number from 0 to 99"),
        ({"retries": 100}, "`retries` is 100; write a whole number from 0 to 99"),
        ({"timeout_retries": 1.5}, "`timeout_retries` is 1.5; write a whole number from 0 to 99"),
        (
            {"backoff": 1.5},
            "`backoff` is 1.5; write `fixed`, `exponential`, or a whole number to multiply by",
        ),
        ({"backoff": "linear"}, "`backoff` is 'linear'; write `fixed`"),
        ({"backoff": 0}, "`backoff` is 0; write `fixed`"),
        ({"tolerance": 2}, "tolerance is a part of the whole, from 0 to 1, not 2"),
        (
            {"timeout": "soon"},
            "`timeout` is `soon`, which is not a valid duration; write seconds, or `5 minutes`",
        ),
        ({"failure_mode": "ignore"}, "`ignore` is not a failure mode; did you mean `IGNORE_FAILURE`?"),
        ({"failure_mode": "x"}, "`x` is not a failure mode; write one of FAIL_AFTER_RUNNING, FAIL_IMMED"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TraceError) as caught:
        made(**options)
    assert message in str(caught.value)


def test_the_options_of_the_function() -> None:
    function = step(
        name="hard work",
        on_success=told,
        on_failure=[told, told],
        on_timeout=(told,),
        cache="1 hour",
        cache_key="n",
        pool="cpu",
        isolation="process",
        heartbeat=30,
        tolerance=0.5,
        required="n",
    )(long_work).function
    options = function.options
    assert function.name == "hard work"
    assert (options.on_success, len(options.on_failure), options.on_timeout) == ((told,), 2, (told,))
    assert (options.cache_ttl_s, options.cache_key, options.heartbeat_within) == (3600.0, "n", 30.0)
    assert (options.pool, options.isolation, options.tolerance) == ("cpu", "process", 0.5)
    assert options.required == ("n",)


def test_options_of_the_function_are_not_changed_for_one_step() -> None:
    with pytest.raises(
        TraceError, match="`pool` belongs to the function wherever it is used, not to one step"
    ):
        step(work).with_options(pool="cpu")  # type: ignore[call-arg]
    with pytest.raises(TraceError, match="the step `work` has no option `zzz`; write one of id, retries"):
        step(work).with_options(zzz=1)  # type: ignore[call-arg]


def test_a_step_is_one_once() -> None:
    with pytest.raises(TraceError, match="`work` is a step already; write one `@step`"):
        step(step(work))


def test_a_step_has_named_values() -> None:
    def gather(*values: int) -> int:
        return len(values)

    with pytest.raises(TraceError, match=r"`gather` takes `\*values`, and the values of a step have names"):
        step(name="gather")(gather)


def test_a_step_says_what_it_is() -> None:
    made = step(compensate=undo)(work)
    assert repr(made) == f"<step {__name__}:work>"
    assert (made.__doc__, made.fn) == ("Work hard.", work)
    assert repr(made.compensate) == f"<step {__name__}:undo>"


def test_a_step_with_known_arguments_can_be_added_to_a_run() -> None:
    added = step(retries=3)(work).as_step("more", {"n": 4})
    assert (added.id, added.type, added.description) == ("more", "Python", "Work hard.")
    assert {name: param.value for name, param in (added.params or {}).items()} == {
        "function": f"{__name__}:work",
        "n": 4,
        "result": 0,
    }
    assert added.retry_policy is not None
    assert added.retry_policy.error_retry_limit == 3


# ------------------------------------------------------------------------------------------------- workflows
def flow(**options: Any) -> Flow[..., Any]:
    def described(n: int = 1) -> int:
        """Describe it.

        At length.
        """
        return step(work)(n)

    return workflow(**options)(described)


def test_a_workflow_without_options_runs_at_once() -> None:
    made = flow()
    assert (made.id, repr(made), made.__doc__ and made.__doc__[:9]) == (
        "described",
        "<workflow described>",
        "Describe ",
    )
    assert made.definition.properties == Properties(run_strategy=AT_ONCE)
    assert made.definition.workflow.description == "Describe it."


def test_the_options_of_a_workflow() -> None:
    definition = flow(
        id="daily",
        owner="ann",
        description="Every day.",
        schedule=[
            "@daily",
            Cron("0 6 * * *", timezone="Europe/Berlin", within=60),
            CronTrigger(cron="1 * * * *"),
        ],
        signals=["ready", SignalTrigger(definitions={"other": SignalTriggerEntry(join_keys=("k",))})],
        run_strategy="parallel",
        timeout="1 day",
        tags=["t"],
        concurrency=5,
    ).definition
    properties, made = definition.properties, definition.workflow
    assert properties is not None
    assert properties.owner == User(name="ann")
    assert properties.run_strategy == RunStrategy(rule=RunStrategyRule.PARALLEL)
    assert (made.id, made.description, made.timeout, made.tags) == (
        "daily",
        "Every day.",
        "1 day",
        (Tag(name="t"),),
    )
    assert made.instance_step_concurrency == 5
    assert made.time_triggers == (
        PredefinedTrigger(expression=PredefinedSchedule.DAILY, catch_up=CatchUp.LATEST),
        CronTrigger(cron="0 6 * * *", timezone="Europe/Berlin", fuzzy_max_delay=60, catch_up=CatchUp.LATEST),
        CronTrigger(cron="1 * * * *"),
    )
    assert made.signal_triggers == (
        SignalTrigger(definitions={"ready": SignalTriggerEntry()}),
        SignalTrigger(definitions={"other": SignalTriggerEntry(join_keys=("k",))}),
    )


@pytest.mark.parametrize(
    ("given", "rule", "count"),
    [
        (3, RunStrategyRule.PARALLEL, 3),
        ({"rule": "FIRST_ONLY"}, RunStrategyRule.FIRST_ONLY, 1),
        (RunStrategy(rule=RunStrategyRule.LAST_ONLY), RunStrategyRule.LAST_ONLY, 1),
    ],
)
def test_run_strategies(given: Any, rule: RunStrategyRule, count: int) -> None:
    properties = flow(run_strategy=given).definition.properties
    assert properties is not None
    assert properties.run_strategy == RunStrategy(rule=rule, workflow_concurrency=count)
    assert properties.owner is None


def test_a_run_strategy_that_is_none() -> None:
    with pytest.raises(
        TraceError, match=r"`run_strategy` is 'sometimes': .*; write a rule such as `parallel`"
    ):
        flow(run_strategy="sometimes")


def test_missed_fires_of_a_schedule() -> None:
    """One run makes up for all that was missed, unless somebody asks for something else; YAML keeps it."""
    made = flow(
        schedule=[
            "0 6 * * *",
            Cron("@hourly", catch_up="ALL", catch_up_limit=500),
            Cron("1 * * * *", catch_up="none"),
        ]
    )
    triggers = made.definition.workflow.time_triggers
    assert triggers is not None
    assert [(each.catch_up, each.catch_up_limit) for each in triggers] == [
        (CatchUp.LATEST, None),
        (CatchUp.ALL, 500),
        (CatchUp.NONE, None),
    ]
    assert parse(made.to_yaml()).workflow.time_triggers == triggers
    with pytest.raises(TraceError, match="`catch_up` is `lates`; did you mean `latest`"):
        flow(schedule=Cron("0 6 * * *", catch_up="lates"))
    with pytest.raises(TraceError, match="`catch_up` is `42`; write one of all, latest, none"):
        flow(schedule=Cron("0 6 * * *", catch_up="42"))


def test_a_schedule_that_nobody_can_guess() -> None:
    with pytest.raises(TraceError, match="`@x` is not a schedule; write one of @hourly, @daily"):
        flow(schedule="@x")


@pytest.mark.parametrize(
    "schedule",
    ["0 0 30 2 *", Cron("0 0 31 4,6 *", timezone="Europe/Berlin"), CronTrigger(cron="0 0 0 30 2 ?")],
)
def test_a_schedule_that_never_fires(schedule: Any) -> None:
    with pytest.raises(TraceError, match="never fires; no month that it names has such a day"):
        flow(schedule=["0 0 29 2 *", schedule])


def test_a_schedule_of_a_workflow_that_needs_a_value() -> None:
    def needs(day: str, table: str, count: int = 1) -> None: ...

    with pytest.raises(TraceError, match="gives no value for `day` and `table`; give each of them a default"):
        _ = workflow(schedule="@daily")(needs).definition
    assert workflow(schedule="@daily")(with_default).definition.workflow.time_triggers


def with_default(day: str = "monday") -> None: ...


def test_handlers_are_called_for_a_status_or_for_all() -> None:
    assert flow().handlers == {}
    assert flow(on_status={"failed": told, "RESUMED": [told, told]}).handlers == {
        "FAILED": (told,),
        "RESUMED": (told, told),
    }
    every = flow(on_status=told).handlers
    assert set(every) == {
        "CREATED", "IN_PROGRESS", "PAUSED", "TIMED_OUT", "STOPPED", "FAILED", "SUCCEEDED", "RESUMED",
    }  # fmt: skip
    assert set(every.values()) == {(told,)}


@pytest.mark.parametrize(
    ("name", "hint"), [("faild", "did you mean `FAILED`?"), ("x", "write one of CREATED")]
)
def test_a_status_that_does_not_exist(name: str, hint: str) -> None:
    with pytest.raises(TraceError) as caught:
        flow(on_status={name: told})
    assert f"`on_status` names `{name}`, which is not the status of a run; {hint}" in str(caught.value)


def test_a_workflow_is_a_function_and_one_once() -> None:
    with pytest.raises(TraceError, match="`described` is a workflow already"):
        workflow(flow())
    with pytest.raises(TraceError, match="a type is not a function; write `@workflow` above a `def`"):
        workflow(int)
    with pytest.raises(TraceError, match="`@workflow` has no option `schedul`"):
        workflow(schedul="x")  # type: ignore[call-overload]


def test_rules_of_definitions_are_checked_with_the_line_of_the_step() -> None:
    @workflow
    def wrong() -> None:
        step(work).with_options(tags=["a", "a"])(1)

    with pytest.raises(TraceError, match=r"test_options\.py:\d+: the tag `a` is given twice") as caught:
        _ = wrong.definition
    assert caught.value.place.line == wrong.place.line + 2


def test_rules_are_checked_inside_of_loops() -> None:
    @workflow
    def wrong() -> None:
        with foreach([1]) as n:
            step(work).with_options(tags=["a", "a"])(n)

    with pytest.raises(TraceError, match="the tag `a` is given twice") as caught:
        _ = wrong.definition
    assert caught.value.place.line == wrong.place.line + 3


def test_rules_of_definitions_are_checked_with_the_line_of_the_workflow() -> None:
    made = flow(schedule="* * * *")
    with pytest.raises(TraceError) as caught:
        _ = made.definition
    assert caught.value.place == made.place


def test_what_can_be_undone_has_no_cache() -> None:
    with pytest.raises(TraceError) as caught:
        step(cache=60, compensate=told)(long_work)
    assert "`long_work` has `cache` and `compensate`: a result that is undone must not be handed" in str(
        caught.value
    )
    assert "remove `cache`, or the compensation" in str(caught.value)


def test_what_undoes_has_no_cache() -> None:
    undo = step(cache=60)(told)
    with pytest.raises(TraceError) as caught:
        step(compensate=undo)(long_work)
    assert "`told` undoes `long_work` and has `cache`: taken from it, it undoes nothing" in str(caught.value)


@pytest.mark.parametrize("option", [{"cache": 60}, {"compensate": long_work}])
def test_neither_is_added_for_one_step(option: dict[str, Any]) -> None:
    with pytest.raises(TraceError, match="belongs to the function wherever it is used"):
        step(compensate=told)(long_work).with_options(**option)
