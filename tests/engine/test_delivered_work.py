"""Work that was done is undone, also if what is behind it goes wrong: edges, signals, outputs."""

from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import (
    computed,
    foreach,
    noop,
    number,
    numbers,
    result,
    step,
    subworkflow,
    while_,
    workflow,
)

from stretto.engine.effects import AnnounceSignals, StartWork
from stretto.engine.events import RunAction
from stretto.engine.records import Compensation
from stretto.model.actions import StepAction
from stretto.model.param import ParamType
from stretto.model.run_config import RunPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode, TypedStep
from stretto.model.workflow import Semantics, Workflow
from stretto.store.sql.codec.documents import ATTEMPT

BROKEN_EDGE = ("b", "1 / 0 > 0")
SIGNAL = (SignalOutputDefinition(name="s", params={"q": computed("1 / 0")}),)
GOOD_SIGNAL = (SignalOutputDefinition(name="s", params={"q": number(1)}),)
IGNORE = {"failure_mode": FailureMode.IGNORE_FAILURE}
SEVEN = Work("DONE", 1_000, outputs={"v": result(7)})


class Unheard(Driver):
    """What it announces is never answered."""

    def _AnnounceSignals(self, _effect: AnnounceSignals) -> None:  # noqa: N802 - named like the effect
        pass


def paid(*after: Any, **fields: Any) -> TypedStep:
    """A step whose undo reads what it left."""
    back = step("undo", params={"v": computed("return params.getFromStep('pay', 'v');")})
    return step("pay", *after, compensation=back, params={"v": number(0)}, **fields)


def ours(*steps: Any) -> Workflow:
    return workflow(*steps, semantics=Semantics.STRETTO)


def undone(driver: Driver) -> list[Any]:
    """What each undo was given."""
    return [
        each.params["v"].evaluated_result
        for each in driver.effects
        if isinstance(each, StartWork) and each.attempt.step_id == "undo"
    ]


def played(*steps: Any, **more: Any) -> Driver:
    return Driver(ours(*steps), runtime=scripted(pay=[SEVEN], **more)).finish()


@pytest.mark.parametrize(
    "made",
    [
        paid(BROKEN_EDGE),
        paid("b", signal_outputs=SIGNAL),
        paid(("b", "params.getFromStep('nobody', 'x') > 0")),
        paid(BROKEN_EDGE, failure_mode=FailureMode.FAIL_IMMEDIATELY),
    ],
)
def test_a_step_whose_end_can_not_be_decided_is_undone(made: TypedStep) -> None:
    driver = played(made, noop("b"))
    assert driver.statuses()["pay"] == "FATALLY_FAILED"
    assert (driver.status, driver.flow.run.compensation) == ("FAILED", Compensation.COMPENSATED)
    assert undone(driver) == [7]
    assert driver.flow.run.undone == {"pay": 0}


def test_an_output_that_can_not_be_kept_does_not_take_the_work_back() -> None:
    wrong = Work(outputs={"v": result("x", ParamType.STRING)})
    driver = Driver(ours(paid("b"), noop("b")), runtime=scripted(pay=[wrong])).finish()
    assert driver.statuses()["pay"] == "FATALLY_FAILED"
    assert driver.flow.run.compensation is Compensation.COMPENSATED


def test_an_ignored_failure_behind_the_work_is_undone_when_the_run_fails_later() -> None:
    driver = played(paid(BROKEN_EDGE, "c", **IGNORE), noop("b"), step("c"))
    assert driver.statuses()["pay"] == "FATALLY_FAILED"  # its edges can not be decided at all
    driver = played(paid("c", signal_outputs=SIGNAL, **IGNORE), step("c"), c=["FATAL_ERROR"])
    assert driver.statuses()["pay"] == "COMPLETED_WITH_ERROR"
    assert undone(driver) == [7]
    driver = played(paid("c", signal_outputs=SIGNAL, **IGNORE), step("c"))
    assert (driver.status, undone(driver)) == ("SUCCEEDED", [])


def test_work_that_failed_is_not_undone() -> None:
    driver = Driver(
        ours(paid("b", **IGNORE), step("b")), runtime=scripted(pay=["FATAL_ERROR"], b=["FATAL_ERROR"])
    )
    assert driver.finish().flow.run.compensation is None


@pytest.mark.parametrize("action", [StepAction.KILL, StepAction.SKIP])
def test_a_step_that_is_ended_while_it_announces_is_undone(action: StepAction) -> None:
    steps = (paid("b", signal_outputs=GOOD_SIGNAL), step("b"))
    driver = Unheard(ours(*steps), runtime=scripted(pay=[SEVEN], b=["FATAL_ERROR"]))
    driver.start().run(2_000)
    assert isinstance(driver.effects[-1], AnnounceSignals)
    driver.step("pay", action).run()
    assert (driver.status, driver.flow.run.compensation) == ("FAILED", Compensation.COMPENSATED)
    assert undone(driver) == [7]


def test_a_run_that_is_killed_while_a_step_announces_is_undone() -> None:
    driver = Unheard(ours(paid(signal_outputs=GOOD_SIGNAL)), runtime=scripted(pay=[SEVEN]))
    driver.start().run(2_000)
    driver.act(RunAction.KILL).run()
    assert undone(driver) == [7]


def test_a_restart_that_fails_does_not_hide_the_work_of_the_attempt_before() -> None:
    steps = (paid(BROKEN_EDGE), noop("b"), step("long"))
    slow = Work("DONE", 9_000)
    driver = (
        Driver(ours(*steps), runtime=scripted(pay=[SEVEN, "FATAL_ERROR"], long=[slow])).start().run(2_000)
    )
    assert driver.attempt("pay").status is StepStatus.FATALLY_FAILED
    driver.step("pay", StepAction.RESTART).run()
    assert driver.attempt("pay").status is StepStatus.FATALLY_FAILED
    assert driver.flow.run.compensation is Compensation.COMPENSATED
    assert len(undone(driver)) == 1


def test_iterations_are_undone() -> None:
    inner = paid(("b", "1 / (i - 1) > 0"))
    loop = foreach("l", {"i": numbers(1, 2)}, inner, noop("b"), concurrency=1)
    driver = Driver(ours(loop), runtime=scripted(pay=[SEVEN])).finish()
    assert (driver.status, undone(driver)) == ("FAILED", [7])
    rounds = while_(
        "l", "k < 2", {"k": number(0)}, paid(BROKEN_EDGE), noop("b", params={"k": computed("k + 1")})
    )
    driver = Driver(ours(rounds), runtime=scripted(pay=[SEVEN])).finish()
    assert (driver.status, undone(driver)) == ("FAILED", [7])


def test_a_child_undoes_itself_and_a_child_that_ignored_it_is_undone_with_its_parent() -> None:
    child = workflow(paid(BROKEN_EDGE), noop("b"), id="c", semantics=Semantics.STRETTO)
    parent = Driver(ours(subworkflow("s", "c")), library={"c": child}, runtime=scripted(pay=[SEVEN])).finish()
    (inner,) = parent.world.children.values()
    assert (parent.status, inner.flow.run.compensation) == ("FAILED", Compensation.COMPENSATED)
    child = workflow(
        paid("b", signal_outputs=SIGNAL, **IGNORE), noop("b"), id="c", semantics=Semantics.STRETTO
    )
    script = scripted(pay=[SEVEN], end=["FATAL_ERROR"])
    parent = Driver(ours(subworkflow("s", "c", "end"), step("end")), library={"c": child}, runtime=script)
    parent.finish()
    assert parent.flow.run.compensation is Compensation.COMPENSATED
    assert [each for inner in parent.world.children.values() for each in undone(inner)] == [7]


def test_what_an_earlier_run_delivered_is_undone_by_the_run_that_fails() -> None:
    steps = (paid("long", signal_outputs=SIGNAL, **IGNORE), step("long"))
    first = Driver(ours(*steps), runtime=scripted(pay=[SEVEN], long=[FOREVER])).start().run(2_000)
    first.act(RunAction.STOP).run()
    assert (first.status, undone(first)) == ("STOPPED", [])
    first.runtime = scripted(long=["FATAL_ERROR"])
    again = restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE).finish()
    assert (again.status, undone(again)) == ("FAILED", [7])


def test_attempts_that_an_older_release_wrote_say_it_too() -> None:
    driver = played(paid(BROKEN_EDGE), noop("b"))
    old = ATTEMPT.write(driver.attempt("pay"))
    assert "delivered" not in old  # what the field says, the times of the same attempt say, too
    assert ATTEMPT.read(old).has_delivered
