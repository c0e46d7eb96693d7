"""A paused run holds everything that belongs to it: its iterations, its subworkflows, and what is below."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import ITEMS, foreach, noop, step, subworkflow, tag, workflow

from stretto.engine.effects import HoldChild, StartChild, StartWork
from stretto.engine.events import ChildStarted, Launched, RunAction, RunHeld
from stretto.engine.records import RunKey
from stretto.engine.recovery import recovery_of
from stretto.model.errors import WrongState
from stretto.model.status import RunStatus, StepStatus

A, S = RunAction, StepStatus
KID = RunKey("kid", 1, 1)
LATE = [Work("DONE", 1_000)]


def family(**more: object) -> Driver:
    """A run, whose child has a loop and a child of its own; each first step takes a second."""
    library = {
        "kid": workflow(
            step("a", "b"),
            step("b"),
            foreach("loop", ITEMS, step("each", "then"), step("then"), concurrency=1),
            subworkflow("down", "grandkid"),
            id="kid",
        ),
        "grandkid": workflow(step("x", "y"), step("y"), id="grandkid"),
    }
    return Driver(
        workflow(subworkflow("s", "kid", "after"), noop("after")),
        library=library,
        runtime=scripted(a=LATE, each=LATE, x=LATE, b=LATE),
        **more,  # type: ignore[arg-type]
    )


def begun(driver: Driver) -> int:
    """How much work was started, in the whole tree."""
    drivers = [driver, *driver.world.children.values()]
    return sum(isinstance(effect, StartWork) for each in drivers for effect in each.effects)


def test_nothing_begins_below_a_paused_run_and_all_of_it_goes_on() -> None:
    driver = family().start().run(0)
    driver.act(A.PAUSE).run(0)
    tree = [driver, *driver.world.children.values()]
    assert len(tree) == 3
    assert {each.status for each in tree} == {"PAUSED"}
    before = begun(driver)
    driver.run(60_000)
    assert begun(driver) == before
    assert {each.status for each in tree} == {"PAUSED"}
    driver.act(A.RESUME)
    assert {each.status for each in driver.run().world.children.values()} == {"SUCCEEDED"}
    assert driver.status == "SUCCEEDED"


def test_a_child_that_is_not_known_yet_is_held_when_it_is() -> None:
    driver = family()
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.start().act(A.PAUSE)
    assert not any(isinstance(each, HoldChild) for each in driver.effects)
    key = driver.attempt("s").key
    driver.send(ChildStarted(attempt=key, child=KID, version_id=1, uuid="u"))
    assert driver.effects[-1] == HoldChild(attempt=key, child=KID, held=True)


def test_a_child_that_was_born_held_is_let_go_if_its_parent_went_on_meanwhile() -> None:
    driver = family()
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.start()
    key = driver.attempt("s").key
    driver.send(ChildStarted(attempt=key, child=KID, version_id=1, uuid="u", held=True))
    assert driver.effects[-1] == HoldChild(attempt=key, child=KID, held=False)


def test_whoever_takes_over_a_paused_run_starts_its_child_held() -> None:
    driver = family()
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.start()
    assert [each.held for each in driver.effects if isinstance(each, StartChild)] == [False]
    driver.act(A.PAUSE)
    assert [each.held for each in recovery_of(driver.flow).effects if isinstance(each, StartChild)] == [True]


def test_a_held_child_begins_when_it_is_let_go() -> None:
    child = Driver(workflow(step("a"), id="kid"))
    child.flow.run.held, child.flow.run.status = True, RunStatus.PAUSED
    child.start().run(0)
    assert (child.status, child.statuses()) == ("PAUSED", {"a": "NOT_CREATED"})
    child.send(RunHeld(run=child.flow.run.key, held=False, parent=KID))
    assert child.run().status == "SUCCEEDED"
    assert "Run [kid][1][1] goes on" in [each.message for each in child.flow.run.timeline]  # type: ignore[union-attr]


@pytest.mark.parametrize("first", ["user", "parent"])
def test_a_run_goes_on_when_nobody_holds_it_any_more(first: str) -> None:
    child = Driver(workflow(step("a", "b"), step("b"), id="kid"), runtime=scripted(a=LATE)).start().run(0)
    key = child.flow.run.key
    child.send(RunHeld(run=key, held=True, parent=RunKey("w", 1, 1)))
    child.act(A.PAUSE)
    child.run(5_000)
    if first == "user":
        child.act(A.RESUME)
        with pytest.raises(WrongState, match="resume"):
            child.act(A.RESUME)
        assert child.status == "PAUSED"
        child.send(RunHeld(run=key, held=False, parent=RunKey("w", 1, 1)))
    else:
        child.send(RunHeld(run=key, held=False, parent=RunKey("w", 1, 1)))
        assert child.status == "PAUSED"
        child.act(A.RESUME)
    assert child.run().status == "SUCCEEDED"


def test_told_twice_or_too_late_it_changes_nothing() -> None:
    child = Driver(workflow(step("a"), id="kid"), runtime=scripted(a=[FOREVER])).start().run(0)
    child.stubborn = True
    held = RunHeld(run=child.flow.run.key, held=True, parent=KID)
    assert child.send(held).changes
    assert not child.send(held).changes
    child.act(A.STOP)
    assert not child.send(RunHeld(run=child.flow.run.key, held=False, parent=KID)).changes
    child.report("a")
    assert child.status == "STOPPED"
    assert not child.send(held).changes


def test_a_child_that_nobody_waits_for_is_left_alone() -> None:
    library = {"kid": workflow(step("a"), id="kid")}
    steps = (subworkflow("s", "kid", sync=False), step("b"))
    driver = Driver(workflow(*steps), library=library, runtime=scripted(a=[FOREVER], b=[FOREVER]))
    driver.start().run(0).act(A.PAUSE).run(0)
    assert driver.world.children[KID].status == "IN_PROGRESS"


def test_a_child_whose_step_is_being_ended_is_not_held() -> None:
    library = {"kid": workflow(step("a"), id="kid")}
    driver = Driver(
        workflow(subworkflow("s", "kid"), step("b")), library=library, runtime=scripted(b=[FOREVER])
    )
    driver._HoldChild = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver._StopChild = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.world.soon = lambda *_events: None  # type: ignore[method-assign]
    driver.send(Launched(run=driver.flow.run.key))
    key = driver.attempt("s").key
    driver.send(ChildStarted(attempt=key, child=KID, version_id=1, uuid="u"))
    driver.act(A.STOP, "s")
    driver.act(A.PAUSE)
    assert not any(isinstance(each, HoldChild) for each in driver.effects)


# ------------------------------------------------------------------------------------------------ before work
def test_a_step_that_is_granted_its_permits_waits_with_its_work() -> None:
    driver = Driver(workflow(step("a", tags=(tag("t"),))), limits={"t": 0}).start().run(0)
    driver.act(A.PAUSE)
    driver.world.limits["t"] = 1
    driver.world.grant()
    driver.run(0)
    assert driver.attempt("a").status is S.WAITING_FOR_PERMITS
    assert "the run is paused" in str(driver.why("a"))
    assert driver.act(A.RESUME).run().status == "SUCCEEDED"


def test_a_suspended_step_is_held_before_its_work_as_well() -> None:
    driver = Driver(workflow(step("a", tags=(tag("t"),)), step("b")), limits={"t": 0}).start().run(0)
    driver.act(A.PAUSE, "a")
    driver.world.limits["t"] = 1
    driver.world.grant()
    driver.run(0)
    assert driver.attempt("a").status is S.WAITING_FOR_PERMITS
    assert "the step is suspended" in str(driver.why("a"))
    assert driver.act(A.RESUME, "a").run().status == "SUCCEEDED"


# -------------------------------------------------------------------------------------------------- last step
@pytest.mark.parametrize(
    ("state", "end"), [("DONE", "SUCCEEDED"), ("FATAL_ERROR", "FAILED"), ("STOPPED", "STOPPED")]
)
def test_a_paused_run_ends_with_its_last_step(state: str, end: str) -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[Work(state, 1_000)])).start().run(0)
    assert driver.act(A.PAUSE).run().status == end
    assert not driver.flow.run.is_paused


@pytest.mark.parametrize("next_action", [A.RESUME, A.STOP])
def test_a_paused_run_that_must_be_undone_waits_with_that(next_action: RunAction) -> None:
    steps = (step("a", "b", compensation=step("undo")), step("b"))
    driver = Driver(workflow(*steps), runtime=scripted(b=[Work("FATAL_ERROR", 1_000)])).start().run(0)
    driver.act(A.PAUSE).run(5_000)
    assert (driver.status, driver.flow.run.compensation) == ("PAUSED", None)
    driver.act(next_action).run()
    assert (driver.status, driver.flow.run.compensation) == ("FAILED", "COMPENSATED")


def test_a_run_that_an_earlier_release_paused_in_its_queue_is_paused_when_it_is_launched() -> None:
    driver = Driver(workflow(step("a")), run={"paused": True})
    driver.send(Launched(run=driver.flow.run.key))
    assert driver.flow.run.status is RunStatus.PAUSED
    assert not [each for each in driver.effects if isinstance(each, StartWork)]
