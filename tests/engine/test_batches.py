"""Steps inside a step: those that its work adds, and those of a template."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import computed, foreach, noop, number, numbers, result, step, tag, workflow

from stretto.engine.effects import StartWork
from stretto.engine.events import Reported, ResultState, RunAction
from stretto.engine.job_templates import TemplateKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TemplateStep, Transition
from stretto.model.timeline import LogEvent
from stretto.model.workflow import Semantics

S = StepStatus


def adding(
    *subs: AnyStep, tolerance: float = 0.0, script: dict[str, list[Work | str]] | None = None, **more: object
) -> Driver:
    steps = (step("a", "b", params={"p": number(1)}), noop("b"))
    work = Work(added=subs, tolerance=tolerance)
    return Driver(workflow(*steps), runtime=scripted(a=[work], **(script or {})), **more)  # type: ignore[arg-type]


def test_what_follows_waits_for_all_that_was_added() -> None:
    driver = (
        adding(step("x", "y"), step("y"), step("z"), script={"z": [Work("DONE", 5_000)]}).start().run(1_000)
    )
    assert driver.attempt("a").status is S.RUNNING
    assert driver.lines("a") == ["Added 3 sub-steps: x, y, z"]
    assert "its work goes on" in str(driver.why("a"))
    assert driver.run().statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED"}
    assert driver.attempt("b").create_time - driver.attempt("a").start_time == 5_000  # type: ignore[operator]
    summary = driver.attempt("a").artifacts["maestro_substeps"].data  # type: ignore[union-attr]
    assert {key: summary[key] for key in ("total", "succeeded", "failed")} == {
        "total": 3,
        "succeeded": 3,
        "failed": 0,
    }
    assert [each["step_id"] for each in summary["results"]] == ["x", "y", "z"]


def test_the_results_are_kept_with_the_step_and_its_params_go_down() -> None:
    x = step("x", params={"v": computed("p + 1"), "w": number(0)})
    driver = adding(x, script={"x": [Work(outputs={"w": result(8)})]}).finish()
    (found,) = driver.attempt("a").artifacts["maestro_substeps"].data["results"]  # type: ignore[union-attr]
    assert found == {"step_id": "x", "status": "SUCCEEDED", "params": {"v": 2, "w": 8}}


@pytest.mark.parametrize(
    ("tolerance", "status"), [(0.2, "SUCCEEDED"), (0.1, "FATALLY_FAILED"), (0.0, "FATALLY_FAILED")]
)
def test_a_share_of_them_may_fail(tolerance: float, status: str) -> None:
    subs = [step(f"s{n}") for n in range(10)]
    driver = adding(
        *subs, tolerance=tolerance, script={"s3": ["FATAL_ERROR"], "s7": ["FATAL_ERROR"]}
    ).finish()
    assert driver.statuses()["a"] == status
    if status != "SUCCEEDED":
        assert driver.attempt("a").reason == f"2 of 10 sub-steps failed, {tolerance:.0%} may"


def test_what_never_began_behind_a_failed_one_has_not_succeeded() -> None:
    driver = adding(step("x", "y"), step("y"), tolerance=0.5, script={"x": ["FATAL_ERROR"]}).finish()
    assert driver.statuses()["a"] == "FATALLY_FAILED"


@pytest.mark.parametrize(
    ("subs", "reason"),
    [
        ((step("x"), step("b")), "sub-step ids must be new in the run: b"),
        ((step("x"), step("x")), "sub-step ids must be new in the run: x"),
        ((step("x", "y"), step("y", "x")), "the sub-steps form a cycle: x -> y -> x"),
    ],
)
def test_all_are_added_or_none(subs: tuple[AnyStep, ...], reason: str) -> None:
    driver = adding(*subs).finish()
    assert driver.statuses()["a"] == "FATALLY_FAILED"
    assert driver.attempt("a").reason == f"{reason}; none was added"
    assert not driver.flow.children.get(0)


def test_a_sub_step_can_not_add_sub_steps_at_any_depth() -> None:
    more = Work(added=(step("z"),))
    driver = adding(step("x"), script={"x": [more]}).finish()
    assert driver.statuses()["a"] == "FATALLY_FAILED"
    driver = adding(foreach("x", {"i": numbers(1)}, step("y")), script={"y": [more]}).finish()
    assert driver.statuses()["a"] == "FATALLY_FAILED"
    assert adding(step("x"), settings=EngineSettings(depth=1)).finish().status == "FAILED"


@pytest.mark.parametrize(
    ("action", "status"),
    [(StepAction.STOP, "STOPPED"), (StepAction.KILL, "FATALLY_FAILED"), (StepAction.SKIP, "SKIPPED")],
)
def test_ending_the_step_ends_what_it_added(action: StepAction, status: str) -> None:
    driver = adding(step("x"), script={"x": [FOREVER]}).start().run(0)
    child = driver.child("a")
    driver.step("a", action).run()
    assert driver.statuses()["a"] == status
    assert driver.attempt("x", child).status is S.STOPPED


@pytest.mark.parametrize("semantics", [Semantics.STRETTO, Semantics.MAESTRO])
def test_a_step_that_times_out_says_what_failed_inside(semantics: Semantics) -> None:
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=1_000))
    subs = (step("x"), step("y"), step("z", retry_policy=again))
    work = {
        "x": [Work("FATAL_ERROR", message="no disk")],
        "y": [FOREVER],
        "z": [Work("USER_ERROR", message="no net")],
        "a": [Work(added=subs)],
    }
    policy = RetryPolicy(timeout_retry_limit=0)
    around = workflow(step("a", timeout=10, retry_policy=policy), semantics=semantics)
    driver = Driver(around, runtime=scripted(**work)).finish()
    failure = "timed out; before its retry it had failed: no net"
    results = driver.attempt("a").artifacts["maestro_substeps"].data["results"]  # type: ignore[union-attr]
    assert {each["step_id"]: each["error"] for each in results} == {
        "x": "no disk",
        "y": "timed out",
        "z": failure,
    }
    assert driver.attempt("a").status is S.TIMED_OUT
    assert driver.attempt("a").reason == f"timed out: x: no disk; z: {failure}"


@pytest.mark.parametrize("retries", [1, 2])
def test_a_sub_step_that_is_tried_again_when_its_parent_times_out_keeps_its_error(retries: int) -> None:
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=1))
    failures = [Work("USER_ERROR", message=f"no net {each}") for each in range(retries)]
    work: dict[str, list[Work | str]] = {
        "x": [*failures, FOREVER],
        "a": [Work(added=(step("x", retry_policy=again),))],
    }
    policy = RetryPolicy(timeout_retry_limit=0)
    around = workflow(step("a", timeout=100, retry_policy=policy), semantics=Semantics.STRETTO)
    driver = Driver(around, runtime=scripted(**work)).finish()
    (result,) = driver.attempt("a").artifacts["maestro_substeps"].data["results"]  # type: ignore[union-attr]
    assert result["error"] == f"timed out; before its retry it had failed: no net {retries - 1}"
    assert driver.attempt("a").reason == f"timed out: x: {result['error']}"


@pytest.mark.parametrize("action", [RunAction.STOP, RunAction.KILL])
def test_a_step_that_is_tried_again_keeps_its_error_when_its_run_is_ended(action: RunAction) -> None:
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=1))
    failing = {"a": [Work("USER_ERROR", message="no net"), FOREVER]}
    driver = Driver(workflow(step("a", retry_policy=again)), runtime=scripted(**failing)).start().run(10_000)
    assert driver.attempt("a").key.number == 2
    driver.act(action).run()
    assert (driver.attempt("a").reason or "").endswith("; before its retry it had failed: no net")


def test_a_retry_that_succeeds_has_no_error() -> None:
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=1))
    work: dict[str, list[Work | str]] = {
        "x": [Work("USER_ERROR", message="no net"), "DONE"],
        "a": [Work(added=(step("x", retry_policy=again),))],
    }
    driver = Driver(workflow(step("a")), runtime=scripted(**work)).finish()
    (result,) = driver.attempt("a").artifacts["maestro_substeps"].data["results"]  # type: ignore[union-attr]
    assert "error" not in result
    assert driver.attempt("a").reason is None


@pytest.mark.parametrize("action", [RunAction.STOP, RunAction.KILL])
def test_a_step_that_waits_for_its_retry_keeps_its_error_when_its_run_is_ended(action: RunAction) -> None:
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=1_000))
    failing = {"a": [Work("USER_ERROR", message="no net")]}
    driver = Driver(workflow(step("a", retry_policy=again)), runtime=scripted(**failing)).start().run(0)
    driver.act(action).run()
    assert (driver.attempt("a").reason or "").endswith("; before its retry it had failed: no net")


def test_sub_steps_that_were_stopped_stop_the_step() -> None:
    driver = adding(step("x"), script={"x": ["STOPPED"]}).finish()
    assert driver.statuses()["a"] == "STOPPED"


def test_an_answer_after_the_one_that_counted_changes_nothing() -> None:
    driver = adding(step("x"), script={"x": [FOREVER]}).start().run(0)
    for state in ResultState:
        assert not driver.send(Reported(attempt=driver.attempt("a").key, launch=1, state=state)).changes


def test_a_restart_adds_them_again_under_new_ids() -> None:
    steps = (step("a"), step("open", type="Wait"))
    driver = (
        Driver(workflow(*steps), runtime=scripted(a=[Work(added=(step("x"),))], x=["FATAL_ERROR"]))
        .start()
        .run(0)
    )
    driver.step("a", StepAction.RESTART).run(0)
    assert [run.key.run_id for run in driver.iterations("a")] == [1, 2]


def test_sub_steps_do_not_wait_for_what_their_step_holds() -> None:
    settings = EngineSettings(step_concurrency=1)
    assert adding(step("x", tags=(tag("t", 1),)), settings=settings).finish().status == "SUCCEEDED"


def test_a_batch_that_is_added_in_a_pause_is_held() -> None:
    driver = (
        Driver(workflow(step("a")), runtime=scripted(a=[Work(after=1_000, added=(step("x"),))]))
        .start()
        .run(0)
    )
    driver.act(RunAction.PAUSE).run(5_000)
    assert driver.statuses(driver.child("a")) == {"x": "NOT_CREATED"}
    assert driver.act(RunAction.RESUME).run().status == "SUCCEEDED"


# ---------------------------------------------------------------------------------------------- templates
def template(**fields: object) -> TemplateStep:
    return TemplateStep(id="t", sub_type="kit", transition=Transition(successors={"b": "true"}), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "status"), [("DONE", "SUCCEEDED"), ("FATAL_ERROR", "FATALLY_FAILED"), ("STOPPED", "STOPPED")]
)
def test_the_steps_of_a_template_run_in_its_place(state: str, status: str) -> None:
    kit = workflow(step("x", "y"), foreach("y", {"i": numbers(1, 2)}, step("z")), id="kit")
    library = {"kit": kit}
    driver = Driver(workflow(template(), noop("b")), library=library, runtime=scripted(x=[state])).finish()
    assert driver.statuses()["t"] == status
    assert driver.fetches == [("workflow", "kit", "default")]
    assert len([each for each in driver.effects if isinstance(each, StartWork)]) == (
        3 if state == "DONE" else 1
    )


def test_a_template_says_what_runs_in_it_and_ends_with_it() -> None:
    library = {"kit": workflow(step("x"), id="kit")}
    driver = (
        Driver(workflow(template(), noop("b")), library=library, runtime=scripted(x=[FOREVER])).start().run(0)
    )
    assert "1 is under way" in str(driver.why("t"))
    assert driver.act(RunAction.STOP).run().status == "STOPPED"


def test_a_template_without_steps_is_done_at_once() -> None:
    driver = Driver(workflow(template(), noop("b")), library={"kit": workflow(id="kit")}).finish()
    assert driver.statuses() == {"t": "SUCCEEDED", "b": "SUCCEEDED"}


def test_a_template_that_is_not_there_fails_the_step() -> None:
    driver = Driver(workflow(template(), noop("b"))).finish()
    assert driver.attempt("t").reason == "there is no workflow kit to be the template of step t"
    deep = Driver(
        workflow(template(), noop("b")), library={"kit": workflow()}, settings=EngineSettings(depth=1)
    )
    assert "depth limit" in str(deep.finish().attempt("t").reason)
    driver = Driver(workflow(template(), noop("b")))
    driver.fetching = False
    assert driver.start().attempt("t").status is S.STARTING
    assert driver.act(RunAction.STOP).status == "STOPPED"


# ------------------------------------------------------------------------------------------ job templates
def shell(**params: ParamDefinition) -> JobTemplateDefinition:
    return JobTemplateDefinition(
        job_type="shell",
        version="v1",
        step_type="Python",
        params=params,
        tags=(tag("heavy", 1),),
        inherit_from={"base": "default"},
    )


def test_a_job_template_brings_params_and_tags_along() -> None:
    base = JobTemplateDefinition(
        job_type="base", version="default", step_type="Python", params={"q": number(2), "p": number(1)}
    )
    driver = Driver(
        workflow(
            step("a", sub_type="shell", params={"own": computed("p + q")}),
            params={
                "job_template_version": ParamDefinition(type=ParamType.STRING, value="v1"),
                "q": number(30),
            },
        )
    )
    driver.templates = {TemplateKey("shell", "v1"): shell(p=number(10)), TemplateKey("base", "default"): base}
    driver.finish()
    assert driver.value("a", "own") == 40
    assert driver.world.most_held["heavy"] == 1
    assert driver.fetches == [
        ("template", TemplateKey("shell", "v1")),
        ("template", TemplateKey("base", "default")),
    ]


def test_templates_that_there_are_not_stand_on_the_timeline() -> None:
    """One that a step names, or that another one inherits from; the step goes on without them."""
    driver = Driver(workflow(step("a", "b", sub_type="gone"), step("b", sub_type="shell")))
    driver.templates = {TemplateKey("shell", "default"): shell(p=number(10))}
    assert driver.finish().status == "SUCCEEDED"
    said = {
        step_id: [each.message for each in driver.attempt(step_id).timeline if isinstance(each, LogEvent)]
        for step_id in "ab"
    }
    assert said == {
        "a": ["There is no job template [gone][default]: nothing is taken from it"],
        "b": ["There is no job template [base][default]: nothing is taken from it"],
    }


@pytest.mark.parametrize("kind", ["NoOp", "Join", "Python"])
def test_a_job_template_brings_params_and_tags_to_a_step_without_params(kind: str) -> None:
    given = JobTemplateDefinition(
        job_type="kit", version="default", step_type=kind, params={"p": number(10)}, tags=(tag("heavy", 1),)
    )
    steps = [step(name, sub_type="kit", type=kind) for name in "ab"]
    driver = Driver(
        workflow(*steps, foreach("l", {"i": numbers(1, 2)}, step("x", sub_type="kit", type=kind)))
    )
    driver.templates = {TemplateKey("kit", "default"): given}
    assert driver.finish().status == "SUCCEEDED"
    assert [driver.value(name, "p") for name in "ab"] == [10, 10]
    assert driver.world.most_held == {"heavy": 1}


def test_a_job_template_that_is_not_there_brings_nothing() -> None:
    assert Driver(workflow(step("a", sub_type="nobody"))).finish().status == "SUCCEEDED"


def test_a_job_template_for_another_type_fails_the_step() -> None:
    driver = Driver(workflow(step("a", sub_type="shell", sub_type_version="v1", type="Http")))
    driver.templates = {TemplateKey("shell", "v1"): shell(), TemplateKey("base", "default"): None}
    assert "does not match" in str(driver.finish().attempt("a").reason)
