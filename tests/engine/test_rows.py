"""The rows of the union table that the engine alone can show, one test each."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, definition_of, scripted
from tests.engine.shapes import (
    computed,
    foreach,
    noop,
    number,
    numbers,
    result,
    step,
    subworkflow,
    tag,
    text,
    while_,
    workflow,
)

from stretto.engine.effects import StartWork
from stretto.engine.events import RunAction
from stretto.engine.job_templates import TemplateKey
from stretto.engine.records import Compensation, LoopRecord
from stretto.model.actions import StepAction
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.param import ParamType
from stretto.model.status import StepStatus

S = StepStatus
A, R = StepAction, RunAction


def started(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


def test_row_22_the_child_of_the_quick_arm_does_not_wait_for_the_slow_arm() -> None:
    steps = (
        step("a", "quick", "slow"),
        step("quick", "next"),
        step("slow", "end"),
        step("next", "end"),
        step("end"),
    )
    driver = Driver(workflow(*steps), runtime=scripted(slow=[Work("DONE", 60_000)])).finish()
    assert driver.attempt("next").start_time < driver.attempt("slow").end_time  # type: ignore[operator]
    assert driver.attempt("end").create_time == driver.attempt("slow").end_time


STAGES = """
workflow:
  id: release
  stages:
    - {id: build, jobs: [{job: {id: compile, type: Python}}, {job: {id: lint, type: Python}}]}
    - {id: rollout, jobs: [{job: {id: europe, type: Python}}, {job: {id: america, type: Python}}]}
"""


def test_row_23_a_stage_begins_after_the_last_step_of_the_one_before() -> None:
    driver = Driver(definition_of(STAGES), runtime=scripted(lint=[Work("DONE", 9_000)])).finish()
    last = max(driver.attempt(name).end_time or 0 for name in ("compile", "lint"))
    assert all((driver.attempt(name).create_time or 0) >= last for name in ("europe", "america"))


def test_row_29_only_the_branch_that_is_met_runs_and_the_workflow_succeeds() -> None:
    steps = (
        noop("a", ("b", "x > 1"), ("c", "x <= 1"), params={"x": number(5)}),
        noop("b", "d"),
        noop("c", "d"),
        noop("d"),
    )
    driver = Driver(workflow(*steps)).finish()
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "UNSATISFIED", "d": "SUCCEEDED"}
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize("value", [1, 2, 3])
def test_row_30_a_switch_runs_exactly_the_matching_branch(value: int) -> None:
    cases = tuple((f"case{n}", f"x == {n}") for n in (1, 2, 3))
    steps = (noop("switch", *cases), *(noop(name) for name, _ in cases))
    driver = Driver(workflow(*steps, params={"x": number(value)})).finish()
    ran = [name for name, status in driver.statuses().items() if status == "SUCCEEDED"]
    assert ran == ["switch", f"case{value}"]


HANDLED = """
workflow:
  id: deploy
  steps:
    - step: {id: apply, type: Python, on_success: announce%s}
    - step: {id: announce, type: NoOp}
    - step: {id: roll_back, type: NoOp}
"""


def test_row_31_a_failure_that_is_handled_does_not_fail_the_workflow() -> None:
    driver = Driver(
        definition_of(HANDLED % ", on_failure: roll_back"), runtime=scripted(apply=["FATAL_ERROR"])
    ).finish()
    assert driver.statuses() == {
        "apply": "COMPLETED_WITH_ERROR",
        "announce": "UNSATISFIED",
        "roll_back": "SUCCEEDED",
    }
    assert driver.status == "SUCCEEDED"
    driver = Driver(definition_of(HANDLED % ""), runtime=scripted(apply=["FATAL_ERROR"])).finish()
    assert driver.status == "FAILED"


def test_row_32_what_does_not_run_says_why() -> None:
    chain = (step("a", "b"), step("b", "c"), step("c"), step("open"))
    driver = Driver(workflow(*chain), runtime=scripted(a=["FATAL_ERROR"], open=[FOREVER])).start().run(0)
    assert [driver.why(name).reasons[0].cause for name in "bc"] == ["NEVER", "NEVER"]
    assert "FATALLY_FAILED" in str(driver.why("b"))
    driver = (
        Driver(workflow(*chain), runtime=scripted(a=[FOREVER], open=[FOREVER]))
        .start()
        .step("a", A.STOP)
        .run(0)
    )
    assert "its predecessor a ended STOPPED" in str(driver.why("b"))
    driver = Driver(workflow(*chain), runtime=scripted(a=[FOREVER])).start().run(0).step("a", A.SKIP).run()
    assert driver.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED", "c": "SUCCEEDED", "open": "SUCCEEDED"}


def test_row_33_a_task_that_redirects_twice_runs_its_target_three_times() -> None:
    back = Work(redirect="a")
    driver = Driver(workflow(step("a", "b"), step("b")), runtime=scripted(b=[back, back, "DONE"])).finish()
    assert [len(attempts_of(driver, name)) for name in "ab"] == [3, 3]
    assert driver.status == "SUCCEEDED"


def test_row_34_a_join_starts_once_and_last() -> None:
    steps = (*(step(name, "j") for name in "abc"), step("j", type="Join"))
    script = scripted(a=[Work("DONE", 100)], b=[Work("DONE", 300)], c=[Work("DONE", 200)])
    driver = Driver(workflow(*steps), runtime=script).finish()
    assert driver.attempt("j").create_time == driver.attempt("b").end_time
    assert len(attempts_of(driver, "j")) == 1


def test_row_35_pre_runs_before_and_post_after_the_main_steps() -> None:
    steps = (step("pre", "m1", "m2"), step("m1", "post"), step("m2", "post"), step("post"))
    assert started(Driver(workflow(*steps)).finish()) == ["pre", "m1", "m2", "post"]


def test_row_36_an_empty_workflow_succeeds() -> None:
    assert Driver(workflow()).finish().status == "SUCCEEDED"


def test_row_37_sleep_lasts_as_long_as_it_says() -> None:
    driver = Driver(workflow(step("a", type="Sleep", params={"sleep_seconds": number(2)}))).finish()
    assert 2_000 <= driver.now - (driver.flow.run.start_time or 0) <= 3_000
    until = number(driver.now + 7_000)
    driver = Driver(workflow(step("a", type="Sleep", params={"sleep_until": until})), now=driver.now).finish()
    assert driver.flow.run.end_time == until.value


def test_row_45_foreach_never_runs_more_at_once_than_it_may() -> None:
    a = step("a", params={"v": computed("i * 10")})
    driver = Driver(
        workflow(foreach("l", {"i": numbers(1, 2, 3, 4, 5)}, a, concurrency=3)),
        runtime=lambda _e: Work("DONE", 1_000),
    )
    driver.start()
    most = 0
    while not driver.flow.is_over:
        most = max(most, len(driver.live("l")))
        driver.run(250)
    assert most == 3
    assert [each.params["v"].evaluated_result for each in attempts_of(driver, "a") if each.params] == [
        10,
        20,
        30,
        40,
        50,
    ]


def test_row_46_a_while_counts_to_ten_and_obeys_its_limit() -> None:
    def rounds(condition: str, most: int | None = None) -> tuple[int, str]:
        count = noop("count", params={"n": computed("n + 1")})
        driver = Driver(
            workflow(while_("l", condition, {"n": number(0)}, count, max_iterations=most))
        ).finish()
        return len(driver.iterations("l")), driver.status

    assert rounds("n < 10") == (10, "SUCCEEDED")
    assert rounds("n > 10") == (0, "SUCCEEDED")
    assert rounds("n < 10", 4) == (4, "FAILED")


def test_row_47_a_subworkflow_fails_its_parent_and_is_stopped_with_it() -> None:
    library = {"kid": workflow(step("toil"), id="kid")}
    assert (
        Driver(workflow(subworkflow("s", "kid")), library=library, runtime=scripted(toil=["FATAL_ERROR"]))
        .finish()
        .status
        == "FAILED"
    )
    driver = (
        Driver(workflow(subworkflow("s", "kid")), library=library, runtime=scripted(toil=[FOREVER]))
        .start()
        .run(0)
    )
    driver.act(R.STOP).run()
    (child,) = driver.world.children.values()
    assert (driver.status, child.status) == ("STOPPED", "STOPPED")


def test_row_48_a_new_run_uses_the_template_as_it_is_now() -> None:
    def value(p: int) -> int:
        driver = Driver(workflow(step("a", sub_type="shell")))
        made = JobTemplateDefinition(
            job_type="shell", version="default", step_type="Python", params={"p": number(p)}
        )
        driver.templates = {TemplateKey("shell", "default"): made}
        return int(driver.finish().value("a", "p"))

    assert (value(1), value(2)) == (1, 2)


def test_row_49_sub_steps_are_listed_and_run() -> None:
    work = Work(added=(step("x"), step("y"), step("z")))
    driver = Driver(workflow(step("a")), runtime=scripted(a=[work])).finish()
    assert started(driver) == ["a", "x", "y", "z"]
    assert [each.id for each in driver.of(LoopRecord)[0].steps] == ["x", "y", "z"]


def test_row_50_one_invalid_sub_step_and_none_is_added() -> None:
    work = Work(added=(step("x"), step("y"), step("a")))
    driver = Driver(workflow(step("a")), runtime=scripted(a=[work])).finish()
    assert started(driver) == ["a"]
    assert driver.statuses() == {"a": "FATALLY_FAILED"}


@pytest.mark.parametrize(("tolerance", "status"), [(0.2, "SUCCEEDED"), (0.1, "FAILED")])
def test_row_51_a_share_of_the_sub_steps_may_fail(tolerance: float, status: str) -> None:
    subs = tuple(step(f"s{n}") for n in range(10))
    script = scripted(a=[Work(added=subs, tolerance=tolerance)], s1=["FATAL_ERROR"], s2=["FATAL_ERROR"])
    assert Driver(workflow(step("a")), runtime=script).finish().status == status


def test_row_52_completed_steps_are_compensated_in_reverse() -> None:
    steps = (
        step("a", "b", compensation=step("comp_a")),
        step("b", "c", compensation=step("comp_b")),
        step("c"),
    )
    driver = Driver(workflow(*steps), runtime=scripted(c=["FATAL_ERROR"])).finish()
    assert started(driver)[3:] == ["comp_b", "comp_a"]
    assert driver.flow.run.compensation is Compensation.COMPENSATED


def test_row_70_a_result_that_is_too_large_is_refused_cleanly() -> None:
    huge = Work(outputs={"p": result("x" * 11_000_000, ParamType.STRING)})
    driver = Driver(
        workflow(step("a", params={"p": text("")}), step("b")), runtime=scripted(a=[huge])
    ).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "SUCCEEDED"}
    assert "size" in str(driver.attempt("a").reason)


def test_row_72_a_step_takes_permits_for_its_own_tags_only() -> None:
    loop = foreach("l", {"i": numbers(1, 2)}, step("x", tags=(tag("inner"),)), tags=(tag("loop"),))
    steps = (step("a", "l", tags=(tag("mine"),)), loop)
    driver = Driver(
        workflow(*steps, tags=(tag("workflow", 0),)), run={"tags": (tag("workflow", 0), tag("runs", 0))}
    ).finish()
    assert driver.status == "SUCCEEDED"
    assert driver.world.most_held == {"mine": 1, "loop": 1, "inner": 2}
