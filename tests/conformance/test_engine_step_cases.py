"""Behaviour cases about single steps that need the whole machine."""

from typing import Any

import pytest
from tests.conformance.behaviour import Then
from tests.conformance.machine_cases import Machine
from tests.engine.driver import FOREVER, Driver, attempts_of, scripted
from tests.engine.shapes import foreach, noop, number, numbers, step, tag, workflow
from tests.engine.situations import in_status

from stretto.engine.effects import Fetch, StartWork
from stretto.engine.events import (
    BreakpointGone,
    Granted,
    Reported,
    ResultState,
    RunAction,
)
from stretto.engine.permits import Waiter, granted
from stretto.model.actions import StepAction
from stretto.model.artifact import DefaultArtifact
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogEvent

pytestmark = pytest.mark.conformance
S = StepStatus
MACHINE = Machine()
case = MACHINE.case


# --------------------------------------------------------------------------------------------------- steps
@case("restart-running-instance-new-attempt")
def _(given: Any, then: Then) -> None:
    driver = in_status(S.FATALLY_FAILED)
    assert driver.status == given["workflow"]
    driver.step("job1", StepAction.RESTART)
    assert then.take("response") == "STEP_ATTEMPT_CREATED"
    assert driver.attempt("job1").key.number == 2
    assert "in the same run" in then.take("via")
    assert driver.attempt("job1").key.run.run_id == 1


@case("job-template-cache")
def _(given: Any, then: Then) -> None:
    assert given["cache_ttl_ms"] == 60_000
    steps = [step(f"s{n}", sub_type="shell") for n in range(3)]
    driver = Driver(workflow(step("first", "s0", sub_type="shell"), *steps)).finish()
    asked = [effect for effect in driver.effects if isinstance(effect, Fetch)]
    assert driver.status == "SUCCEEDED"
    # All that began before the answer came have asked; nobody asks afterwards.
    late = Driver(
        workflow(
            step("a", "b", sub_type="shell"), step("b", "c", sub_type="shell"), step("c", sub_type="shell")
        )
    )
    asked = [effect for effect in late.finish().effects if isinstance(effect, Fetch)]
    assert len(asked) == then.take("db_reads")


@case("tag-acquire")
def _(given: Any, then: Then) -> None:
    (queued,) = given["queued"]
    waiter = Waiter("x", tuple(queued["tags"]), None, 0, queued["seq"])
    limits = {"tag1": given["tag1_limit"]}
    passes = [granted([waiter], {}, limits), granted([waiter], {}, limits)]  # the first was not recorded
    assert len([each for each in passes if each == [waiter]]) == then.take("mark_attempts")
    driver = Driver(workflow(step("a", tags=(tag("tag1", 2),))), runtime=scripted(a=[FOREVER])).start().run(0)
    driver.send(Granted(attempt=driver.attempt("a").key))
    woken = [effect for effect in driver.effects if isinstance(effect, StartWork)]
    assert len(woken) == then.take("step_wakeups")


def paused(count: int = 1) -> Driver:
    loop = foreach("l", {"i": numbers(*range(count))}, noop("job.4"))
    return Driver(workflow(loop), breakpoints=frozenset({"job.4"})).start().run(0)


def delete_breakpoint(driver: Driver, *, resume: bool = True) -> int:
    """How many held attempts go on."""
    driver.standing.clear()
    held = [each for each in attempts_of(driver, "job.4") if each.status is S.PAUSED]
    for each in held if resume else []:
        driver.send(BreakpointGone(attempt=each.key))
    return sum(each.status is not S.PAUSED for each in held)


@case("breakpoint-pause-match")
def _(given: Any, then: Then) -> None:
    assert given["breakpoint"] == [0, 0, 0, 0]
    driver = paused()
    assert bool(attempts_of(driver, "job.4")[0].pause_time) is then.take("pauses")
    driver.run(60_000)
    assert (driver.live("l") == []) is then.take("should_resume_while_paused")
    assert (delete_breakpoint(driver) == 1) is then.take("should_resume_after_delete")
    again = Driver(driver.workflow).finish()
    assert bool(attempts_of(again, "job.4")[0].pause_time) is then.take("pauses_after_delete")


@case("breakpoint-delete-resume-flag")
def _(given: Any, then: Then) -> None:
    driver = paused(given["paused_attempts"])
    counts = [delete_breakpoint(driver, resume=False)]
    driver.standing.add("job.4")
    counts.append(delete_breakpoint(driver))
    assert counts == then.take("resumed_counts")


@case("breakpoint-foreach-delete", "breakpoint-delete-batches")
def _(given: Any, then: Then) -> None:
    driver = paused(given.get("paused_iterations") or given["paused"])
    assert delete_breakpoint(driver) == then.take("resumed")
    assert driver.run().status == "SUCCEEDED"


@case("sleep-polling")
def _(given: Any, then: Then) -> None:
    states, delays = [], []
    for variant in given["variants"]:
        params = {"sleep_seconds": number(variant["sleep_seconds"])}
        driver = Driver(workflow(step("a", type="Sleep", params=params))).start().run(variant["elapsed_ms"])
        due = driver.attempt("a").wake_at
        states.append("CONTINUE" if due is not None else "DONE")
        delays.append(None if due is None else due - driver.now)
    assert states == then.take("states")
    wanted = then.take("next_polling_delay")
    assert wanted[0] == "0 < delay < 7000 ms"
    assert 0 < (delays[0] or 0) <= 7_000
    assert delays[1:] == [None if each == "null" else each for each in wanted[1:]]


@case("runtime-result-persist")
def _(given: Any, then: Then) -> None:
    artifacts = {"x": DefaultArtifact(data={"n": 1})}
    timeline = (LogEvent(timestamp=1, message="hello"),)
    variants: dict[str, dict[str, Any]] = {
        "no artifacts and no timeline": {},
        "artifacts": {"artifacts": artifacts},
        "timeline": {"timeline": timeline},
        "both": {"artifacts": artifacts, "timeline": timeline},
    }
    found = []
    for name in given["variants"]:
        driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start()
        driver.report("a", ResultState.CONTINUE)
        event = Reported(
            attempt=driver.attempt("a").key, launch=1, state=ResultState.CONTINUE, **variants[name]
        )
        found.append(bool(driver.send(event).changes))
    assert found == then.take("persist")


@case("runtime-start-done")
def _(given: Any, then: Then) -> None:
    assert given["start_result"] == "DONE with artifact test-artifact, polling delay 5000"
    driver = Driver(workflow(step("a", params={"p": number(1)})), runtime=lambda _effect: None).start()
    (effect,) = [each for each in driver.effects if isinstance(each, StartWork)]
    with pytest.raises(TypeError):
        effect.params["p"] = 5  # type: ignore[index]
    assert then.take("runtime_summary_mutations_by_runtime").startswith("discarded")
    artifacts = {"test-artifact": DefaultArtifact(data={"n": 1})}
    driver.report("a", ResultState.CONTINUE, artifacts=artifacts, again_after=5_000)
    attempt = driver.attempt("a")
    assert attempt.status == then.take("status")
    assert attempt.wake_at == driver.now + then.take("next_polling_delay_ms")
    assert "test-artifact" in attempt.artifacts
    assert then.take("pending_records") == [["NOT_CREATED", "RUNNING"]]
    assert attempt.execute_time == driver.now
    assert then.take("pending_action") == "cleared"
    assert attempt.ending is None


@case("runtime-execute-done")
def _(given: Any, then: Then) -> None:
    assert given["execute_result"] == "DONE"
    driver = in_status(S.FINISHING)
    assert driver.attempt("job1").status == then.take("status")


@case("runtime-terminate")
def _(given: Any, then: Then) -> None:
    assert given["terminate_result"] == "STOPPED with timeline"
    driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start()
    driver.stubborn = True
    driver.act(RunAction.STOP)
    driver.report("a", ResultState.STOPPED, timeline=(LogEvent(timestamp=1, message="gone"),))
    assert driver.attempt("a").status == then.take("status")
    assert len(driver.attempt("a").timeline) == then.take("timeline_count")


@case("kill-ignore-failure-mode")
def _(given: Any, then: Then) -> None:
    def ended(action: str) -> tuple[bool, StepStatus]:
        """Whether the failure mode was passed over, by the step or the loop around it; and how it ended."""
        inner = step("a", failure_mode=FailureMode.IGNORE_FAILURE)
        nested = "upstream" in action
        driver = Driver(
            workflow(foreach("l", {"i": numbers(1)}, inner) if nested else inner),
            runtime=scripted(a=[FOREVER]),
        )
        driver.start().run(0)
        if action == "KILL on the workflow" or nested:
            driver.act(RunAction.KILL)
        else:
            driver.step("a", StepAction(action.split(maxsplit=1)[0]))
        driver.run()
        heedless = driver.attempt("l" if nested else "a").heedless
        return heedless, attempts_of(driver, "a")[0].status

    found = [ended(action) for action in given["actions"]]
    assert [heedless for heedless, _ in found] == then.take("ignore")
    assert [status.value for _, status in found] == [
        "FATALLY_FAILED",
        "STOPPED",
        "COMPLETED_WITH_ERROR",
        "STOPPED",
        "SKIPPED",
    ]


@case("gate-waits-for-complete")
def _(given: Any, then: Then) -> None:
    found = []
    for status in given["job1_status"]:
        mode = FailureMode.IGNORE_FAILURE if status == "COMPLETED_WITH_ERROR" else None
        steps = (step(given["join_on"][0], "after", failure_mode=mode), noop("after"))
        driver = Driver(workflow(*steps), runtime=scripted(job1=["FATAL_ERROR"])).finish()
        assert driver.statuses()["job1"] == status
        found.append(driver.statuses()["after"] == "SUCCEEDED")
    assert found == then.take("gate_done")


@case("workflow-marked-started")
def _(given: Any, then: Then) -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER]))
    assert driver.status == given["instance_status"]
    driver.start()
    assert driver.status == then.take("instance_status")
    assert driver.lines() == then.take("timeline")
    assert driver.decisions == then.take("db_updates")


@pytest.mark.parametrize("case_id", MACHINE.checks)
def test_case(case_id: str) -> None:
    MACHINE.run(case_id)
