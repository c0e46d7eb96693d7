"""Answers that arrive before their step asks: kept with the run, taken when it asks, dropped at its end."""

from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import computed, foreach, noop, number, result, step, workflow

from stretto.engine.events import CalledBack, Reported, ResultState, RunAction
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.errors import WrongState
from stretto.model.param import ParamDefinition, ParamMode, ParamType
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep

A = StepAction


def asks(step_id: str = "ask", *after: str, **more: Any) -> AnyStep:
    return step(step_id, *after, type="Wait", **more)


def started(*steps: AnyStep, **more: Any) -> Driver:
    """A run whose step `work` goes on until somebody ends it."""
    return Driver(workflow(*steps), runtime=scripted(work=[FOREVER]), **more).start()


def answer(
    driver: Driver, step_id: str = "ask", number: int = 1, run: RunKey | None = None, **more: Any
) -> Any:
    key = AttemptKey(run or driver.flow.run.key, step_id, number)
    return driver.send(CalledBack(**{"attempt": key, "approved": True, "user": "bob", **more}))


def test_an_early_approval_is_taken_when_the_step_asks() -> None:
    driver = started(step("work", "ask"), asks("ask", "after", params={"p": number(1)}), noop("after"))
    answer(driver, outputs={"p": result(9)}, message="fine", request_id="r")
    assert driver.statuses() == {"work": "STARTING", "ask": "NOT_CREATED", "after": "NOT_CREATED"}
    assert "User [bob] approved step [ask] before it asks" in driver.lines()
    driver.report("work")
    assert driver.run().status == "SUCCEEDED"
    assert driver.value("ask", "p") == 9
    assert driver.lines("ask") == ["User [bob] approved the step before it asked"]
    given = driver.attempt("ask").answer
    assert given is not None
    assert (given.user, given.note, given.request_id) == ("bob", "fine", "r")
    assert driver.flow.run.early == ()


def test_an_early_refusal_fails_the_step_when_it_asks() -> None:
    driver = started(step("work", "ask"), asks("ask", "after"), noop("after"))
    answer(driver, approved=False, message="not today")
    driver.report("work").run(0)
    assert driver.statuses()["ask"] == "FATALLY_FAILED"
    assert driver.attempt("ask").reason == "not today"


def test_an_answer_to_an_attempt_on_its_way_is_early() -> None:
    driver = Driver(workflow(asks()), breakpoints=frozenset({"ask"})).start().run(0)
    assert driver.statuses() == {"ask": "PAUSED"}
    answer(driver)
    driver.step("ask", A.RESUME)
    assert driver.run().status == "SUCCEEDED"


def test_an_answer_to_a_run_that_has_not_begun_is_early() -> None:
    driver = Driver(workflow(asks()))
    answer(driver)
    assert driver.start().run().status == "SUCCEEDED"


def test_an_answer_during_the_back_off_is_for_the_next_attempt() -> None:
    backoff = FixedBackoff(timeout_retry_backoff_in_secs=30)
    ask = asks(timeout="1 minute", retry_policy=RetryPolicy(timeout_retry_limit=1, backoff=backoff))
    driver = Driver(workflow(ask)).start().run(61_000)
    assert driver.attempt("ask").status == "TIMEOUT_FAILED"
    with pytest.raises(WrongState, match="does not wait for an answer"):
        answer(driver, number=1)
    answer(driver, number=2)
    assert driver.run().status == "SUCCEEDED"
    assert driver.attempt("ask").key.number == 2


def test_an_iteration_keeps_answers_of_its_own() -> None:
    items = {"i": computed("return new long[]{1, 2};", ParamType.LONG_ARRAY)}
    driver = started(foreach("l", items, step("work", "ask"), asks()))
    first, second = (driver.child("l", index) for index in (1, 2))
    answer(driver, run=first.run.key)
    with pytest.raises(WrongState):
        answer(driver)  # the run around the loop has no such step
    for each in (first, second):
        work = driver.attempt("work", each)
        driver.send(Reported(attempt=work.key, launch=work.launch or 0, state=ResultState.DONE))
    driver.run(0)
    assert driver.live("l") == [2]
    answer(driver, run=second.run.key)
    assert driver.run().status == "SUCCEEDED"


def test_the_same_request_counts_once_and_another_is_refused() -> None:
    driver = started(step("work", "ask"), asks())
    answer(driver, request_id="r")
    assert not answer(driver, request_id="r", approved=False).changes
    for other in ("s", None):
        with pytest.raises(WrongState, match=r"answered already, user \[bob\] has approved it"):
            answer(driver, request_id=other)
    driver.report("work")
    assert driver.run().status == "SUCCEEDED"


def test_a_run_keeps_a_limited_number_of_answers_and_refuses_more() -> None:
    driver = started(
        step("work", "a", "b", "c"),
        *(asks(name) for name in "abc"),
        settings=EngineSettings(early_answers=2),
    )
    for name in "ab":
        answer(driver, name, user=None)
    with pytest.raises(WrongState, match="keeps 2 answers to steps that do not ask yet, and takes no more"):
        answer(driver, "c", user=None)
    assert [each.step_id for each in driver.flow.run.early] == ["a", "b"]
    driver.report("work").run(0)
    assert driver.statuses() == {"work": "SUCCEEDED", "a": "SUCCEEDED", "b": "SUCCEEDED", "c": "RUNNING"}


def test_the_second_of_two_answers_to_a_step_that_asks_is_refused_by_name() -> None:
    driver = Driver(workflow(asks("ask"), step("more", "last"), asks("last"))).start()
    answer(driver, "ask", request_id="r")
    assert not answer(driver, "ask", request_id="r").changes
    for other in ("s", None):
        with pytest.raises(WrongState, match=r"answered already, user \[bob\] has approved it"):
            answer(driver, "ask", request_id=other, approved=False)


@pytest.mark.parametrize("begun", [True, False])
def test_the_end_of_a_run_drops_answers_that_nobody_asked_for(begun: bool) -> None:
    driver = Driver(workflow(step("work", "ask"), asks()), runtime=scripted(work=[FOREVER]))
    if begun:
        driver.start()
    answer(driver)
    driver.act(RunAction.STOP).run()
    assert driver.status == "STOPPED"
    assert driver.flow.run.early == ()
    assert driver.lines()[-1] == "Dropped answers to steps that never asked: [ask] of user [bob]"


def test_a_run_that_is_being_ended_keeps_no_answers() -> None:
    driver = started(step("work", "ask"), asks())
    driver.flow.run.ending = RunStatus.STOPPED
    with pytest.raises(WrongState, match="does not wait for an answer"):
        answer(driver)


def names(*values: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING_ARRAY, value=list(values))


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ({"names": ("bob", "role:RUNNER")}, False),
        ({"names": ("cid",)}, True),
        ({"names": ("bob", "role:AUTHOR")}, True),
        ({"names": ("bob",), "trusted": True}, True),
    ],
)
def test_only_who_is_asked_has_answered(said: dict[str, Any], counts: bool) -> None:
    driver = started(step("work", "ask"), asks(params={"assignees": names("cid", "role:author")}))
    answer(driver, **said)
    driver.report("work").run(0)
    assert driver.attempt("ask").status == ("SUCCEEDED" if counts else "RUNNING")
    if not counts:
        expected = "Dropped the early answer of user [bob]: the question is for [cid], [role:author]"
        assert driver.lines("ask") == [expected]


def test_values_that_the_step_can_not_take_are_dropped_and_it_waits() -> None:
    driver = started(
        step("work", "ask"),
        asks(params={"p": ParamDefinition(type=ParamType.STRING, value="x", mode=ParamMode.CONSTANT)}),
    )
    answer(driver, outputs={"p": result("y", ParamType.STRING)})
    driver.report("work").run(0)
    assert driver.attempt("ask").status == "RUNNING"
    assert "Dropped the early answer of user [bob]: " in driver.lines("ask")[0]
    answer(driver)
    assert driver.run().status == "SUCCEEDED"


def test_an_answer_to_a_step_that_has_ended_is_late() -> None:
    driver = started(step("work"), asks())
    answer(driver)
    for attempt in (1, 2):
        with pytest.raises(WrongState, match="does not wait for an answer"):
            answer(driver, number=attempt)
