"""Stop, kill, time out, pause and resume of whole runs, in every state that a run can be in."""

from copy import copy

import pytest
from simulation.flows import records_of
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import (
    ITEMS,
    UNIQUE,
    computed,
    foreach,
    noop,
    number,
    step,
    subworkflow,
    tag,
    while_,
    workflow,
)

from stretto.engine.events import CalledBack, Launched, RunActed, RunAction, RunTimeDue, StepActed
from stretto.engine.records import AttemptKey
from stretto.model.actions import StepAction
from stretto.model.errors import WrongState
from stretto.model.retry import RetryPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode

A, S = RunAction, StepStatus
ENDS = [(A.STOP, "STOPPED"), (A.KILL, "FAILED"), (A.TIME_OUT, "TIMED_OUT")]


def busy() -> Driver:
    """Everything at once: work, back-off, loops, a child, waits, a held step, what has not begun."""
    steps = (
        step("work", "later"),
        noop("later"),
        step("failed", retry_policy=RetryPolicy(error_retry_limit=3)),
        foreach("loop", ITEMS, step("inner"), foreach("deep", ITEMS, step("deepest")), concurrency=2),
        while_("again", "true", {"n": number(1)}, step("round")),
        subworkflow("child", "kid"),
        step("sleep", type="Sleep", params={"sleep_seconds": number(600)}),
        step("person", type="Wait"),
        step("permit", tags=(tag("none"),)),
        step("value", params={"v": UNIQUE}),
        noop("gate", "held"),
        noop("held"),
    )
    script = scripted(
        work=[FOREVER],
        failed=["USER_ERROR"],
        inner=[FOREVER],
        deepest=[FOREVER],
        round=[FOREVER],
        toil=[FOREVER],
    )
    library = {"kid": workflow(step("toil"), id="kid")}
    driver = Driver(workflow(*steps), runtime=script, library=library, limits={"none": 0})
    driver.fetching = False
    driver.act(A.PAUSE, "held")
    return driver.start().run(0)


@pytest.mark.parametrize(("action", "outcome"), ENDS)
def test_everything_is_ended_and_then_the_run(action: RunAction, outcome: str) -> None:
    driver = busy().act(action).run(0)
    assert driver.status == outcome
    ended = {A.STOP: "STOPPED", A.KILL: "FATALLY_FAILED", A.TIME_OUT: "TIMED_OUT"}[action]
    others = {"later": "NOT_CREATED", "held": "NOT_CREATED", "gate": "SUCCEEDED"}
    assert driver.statuses() == {name: others.get(name, ended) for name in driver.statuses()}
    assert driver.world.children[driver.attempt("child").child].status == "STOPPED"  # type: ignore[index]
    below = "TIMED_OUT" if action is A.TIME_OUT else "STOPPED"
    runs = [run for name in ("loop", "again", "deep") for run in driver.iterations(name)]
    assert {run.status.value for run in runs} == {below}
    assert driver.world.no_permit_is_left


@pytest.mark.parametrize(("action", "outcome"), ENDS)
def test_a_paused_run_is_ended_too(action: RunAction, outcome: str) -> None:
    driver = busy().act(A.PAUSE).act(action).run(0)
    assert driver.status == outcome
    assert not driver.flow.run.paused


def test_a_run_that_waits_for_the_end_of_work_says_so_and_can_be_asked_once() -> None:
    driver = busy()
    driver.stubborn = True
    driver.act(A.STOP).act(A.STOP)
    assert driver.flow.run.ended_by == "stop by ann"
    assert "the run is being ended (stop by ann)" in str(driver.why("later"))
    for action in (A.KILL, A.PAUSE, A.RESUME):
        with pytest.raises(WrongState, match="being ended"):
            driver.act(action)
    with pytest.raises(WrongState, match="being ended"):
        driver.act(A.STOP, "work")


def test_the_timeout_of_a_workflow_ends_what_runs() -> None:
    driver = Driver(workflow(step("a", "b"), noop("b"), timeout="1 min"), runtime=scripted(a=[FOREVER]))
    driver.finish()
    assert driver.status == "TIMED_OUT"
    assert driver.statuses() == {"a": "TIMED_OUT", "b": "NOT_CREATED"}
    assert driver.flow.run.end_time == driver.flow.run.start_time + 60_000  # type: ignore[operator]
    driver = Driver(
        workflow(step("a"), step("b"), timeout=60), runtime=scripted(a=[FOREVER], b=["FATAL_ERROR"])
    )
    assert driver.finish().status == "FAILED"


def test_a_timer_of_another_time_does_not_count() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    driver.send(RunTimeDue(run=driver.flow.run.key, due=1))
    assert driver.status == "IN_PROGRESS"


# ------------------------------------------------------------------------------------------- before it starts
@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize(("action", "outcome"), ENDS[:2])
def test_a_queued_run_is_ended_at_once(action: RunAction, outcome: str, paused: bool) -> None:
    driver = Driver(workflow(step("a")))
    if paused:
        driver.act(A.PAUSE)
        assert driver.status == "PAUSED"
    driver.act(action)
    assert driver.status == outcome
    driver.start()
    assert driver.statuses() == {"a": "NOT_CREATED"}
    assert "ended" in str(driver.why("a"))


def test_a_queued_run_can_not_time_out() -> None:
    driver = Driver(workflow(step("a")))
    with pytest.raises(WrongState, match="has not started"):
        driver.act(A.TIME_OUT)
    assert "has not started" in str(driver.why("a"))


def test_paused_before_its_start_it_starts_held() -> None:
    driver = Driver(workflow(step("a", "b"), step("b"))).act(A.PAUSE).start().start().run(0)
    assert driver.status == "PAUSED"
    assert driver.statuses() == {"a": "NOT_CREATED", "b": "NOT_CREATED"}
    assert "the run is paused" in str(driver.why("a"))
    assert driver.act(A.RESUME).run().status == "SUCCEEDED"


def test_resumed_before_its_start_it_is_queued_again() -> None:
    driver = Driver(workflow(step("a"))).act(A.PAUSE).act(A.RESUME)
    assert driver.status == "CREATED"
    assert driver.finish().status == "SUCCEEDED"


def test_a_run_that_was_paused_as_a_mere_row_is_resumed_before_its_start() -> None:
    """Nobody decides about a run in a queue: whoever pauses it there sets the mark, and not the status."""
    driver = Driver(workflow(step("a")), run={"paused": True})
    assert not driver.act(A.RESUME).flow.run.paused
    assert driver.status == "CREATED"
    assert driver.finish().status == "SUCCEEDED"


# ------------------------------------------------------------------------------------------ pause and resume
def test_while_paused_nothing_begins_and_what_runs_ends() -> None:
    script = scripted(a=[Work("DONE", 1_000)], c=["DONE"])
    driver = Driver(workflow(step("a", "b"), step("b", "c"), step("c")), runtime=script).start().run(500)
    driver.act(A.PAUSE).run(60_000)
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "NOT_CREATED", "c": "NOT_CREATED"}
    assert driver.status == "PAUSED"
    assert driver.act(A.RESUME).run().status == "SUCCEEDED"
    assert {each.key.number for each in driver.flow.attempts if each} == {1}


def test_a_paused_run_in_which_nothing_is_left_to_begin_ends() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[Work("DONE", 1_000)])).start().run(0)
    assert driver.act(A.PAUSE).run(1_000).status == "SUCCEEDED"


def test_a_back_off_that_runs_out_in_a_pause_is_continued_afterwards() -> None:
    script = scripted(a=["USER_ERROR", "USER_ERROR", "DONE"])
    driver = Driver(workflow(step("a")), runtime=script).start().run(0).act(A.PAUSE).run(3_600_000)
    assert driver.attempt("a").key.number == 1
    driver.act(A.RESUME).run()
    assert driver.status == "SUCCEEDED"
    assert driver.attempt("a").error_retries == 2
    assert driver.attempt("a").sequence == 3


def test_a_pause_shorter_than_a_back_off_changes_nothing() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=["USER_ERROR", "DONE"])).start().run(0)
    driver.act(A.PAUSE).run(10_000).act(A.RESUME).run(49_999)
    assert driver.attempt("a").key.number == 1
    assert driver.run(1).status == "SUCCEEDED"


@pytest.mark.parametrize("loop", ["foreach", "while"])
def test_a_pause_holds_loops_and_what_is_in_them(loop: str) -> None:
    body = (step("a", "b"), step("b"))
    made = (
        foreach("l", ITEMS, *body, concurrency=2)
        if loop == "foreach"
        else while_(
            "l",
            "loop_n < 3",
            {"loop_n": number(0)},
            *body,
            step(
                "c",
                params={"loop_n": computed("loop_n + 1")},
            ),
        )
    )
    driver = Driver(workflow(made), runtime=scripted(a=[Work("DONE", 1_000)])).start().run(500)
    driver.act(A.PAUSE).run(60_000)
    live = driver.live("l")
    assert {driver.child("l", index).run.status for index in live} == {RunStatus.PAUSED}
    assert driver.statuses(driver.child("l"))["b"] == "NOT_CREATED"
    assert driver.run(60_000).live("l") == live
    assert driver.act(A.RESUME).run().status == "SUCCEEDED"
    assert len(driver.iterations("l")) == (5 if loop == "foreach" else 3)


def test_a_loop_whose_iterations_all_end_in_a_pause_goes_on_afterwards() -> None:
    driver = Driver(
        workflow(foreach("l", ITEMS, step("a"), concurrency=2)), runtime=scripted(a=[Work("DONE", 1_000)])
    )
    driver.start().run(500).act(A.PAUSE).run(60_000)
    assert driver.live("l") == []
    assert driver.status == "PAUSED"
    assert driver.act(A.RESUME).run().status == "SUCCEEDED"
    driver = Driver(
        workflow(while_("l", "true", {"n": number(1)}, step("a"), max_iterations=3)),
        runtime=scripted(a=[Work("DONE", 1_000)]),
    )
    driver.start().run(500).act(A.PAUSE).run(60_000)
    assert len(driver.iterations("l")) == 1
    assert driver.act(A.STOP).run().status == "STOPPED"


@pytest.mark.parametrize("action", [A.PAUSE, A.RESUME])
def test_a_pause_of_a_paused_run_and_a_resume_of_a_running_one_are_refused(action: RunAction) -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    if action is A.PAUSE:
        driver.act(A.PAUSE)
    before = {key: copy(record) for key, record in records_of(driver.flow).items()}
    with pytest.raises(WrongState, match="paused"):
        driver.act(action)
    assert records_of(driver.flow) == before


def test_one_iteration_can_be_stopped_and_the_others_go_on() -> None:
    driver = Driver(
        workflow(foreach("l", ITEMS, step("a"), concurrency=2)), runtime=scripted(a=[Work("DONE", 1_000)])
    )
    driver.start().run(500)
    driver.act(A.STOP, run=driver.child("l", 2).run.key).run()
    assert [run.status.value for run in driver.iterations("l")] == [
        "SUCCEEDED",
        "STOPPED",
        *["SUCCEEDED"] * 3,
    ]
    assert driver.status == "STOPPED"


def test_a_stopped_run_is_stopped_even_if_its_last_work_ended_well() -> None:
    driver = Driver(workflow(noop("a")))
    driver.act(A.PAUSE, "a").start().act(A.STOP)
    assert driver.status == "STOPPED"


# ------------------------------------------------------------------------------------------------- too late
def test_nothing_can_be_asked_of_a_run_that_has_ended_and_events_for_it_are_dropped() -> None:
    driver = Driver(workflow(step("a", type="Wait"), step("b", failure_mode=FailureMode.FAIL_IMMEDIATELY)))
    driver.start().run(0).act(A.STOP).run()
    key = driver.flow.run.key
    attempt = AttemptKey(key, "a", 1)
    before = {name: copy(record) for name, record in records_of(driver.flow).items()}
    for command in (
        RunActed(run=key, action=A.PAUSE, user="ann"),
        StepActed(attempt=attempt, action=StepAction.RESTART, user="ann"),
        CalledBack(attempt=attempt, approved=True),
        RunActed(run=key._replace(run_id=9), action=A.STOP, user="ann"),
    ):
        with pytest.raises(WrongState, match="has ended"):
            driver.send(command)
    with pytest.raises(WrongState, match="Cannot terminate a workflow instance w from status"):
        driver.act(A.KILL)
    assert not driver.act(A.STOP).flow.run.paused  # it is so already
    assert not driver.send(Launched(run=key)).changes
    assert not driver.send(RunTimeDue(run=key, due=1)).changes
    assert records_of(driver.flow) == before
