"""A definition within all limits does not take the node: iterations wait, and ends come in slices."""

from typing import Any

import pytest
from simulation.flows import caches_of, loaded
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import foreach, noop, numbers, step, workflow

from stretto.engine.decide import Decision
from stretto.engine.effects import ResumeLoop, StartWork, TerminateWork
from stretto.engine.events import (
    CalledBack,
    Event,
    Launched,
    Reported,
    ResultState,
    Resumed,
    RunActed,
    RunAction,
)
from stretto.engine.flow import SharedRoom
from stretto.engine.machine.ask_run import end_from_above, end_iterations
from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunRecord
from stretto.engine.recovery import recovery_of
from stretto.engine.settings import EngineSettings
from stretto.engine.turn import Turn
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode

WIDE = {"i": numbers(*range(30))}


def nested(outer: int, inner: int, concurrency: int = 50, **fields: Any) -> Any:
    body = foreach("in", {"j": numbers(*range(inner))}, step("x"), concurrency=concurrency)
    return workflow(foreach("out", {"i": numbers(*range(outer))}, body, concurrency=concurrency, **fields))


def driven(definition: Any, runtime: Any = None, **settings: Any) -> "Observed":
    return Observed(definition, runtime=runtime or scripted(), settings=EngineSettings(**settings))


class Observed(Driver):
    """Notes the most leaves that were in memory, and how many records each decision changed."""

    def __init__(self, *given: Any, **more: Any) -> None:
        self.most = 0
        self.sizes: list[int] = []
        self.later: list[ResumeLoop] | None = None  # what goes on after the commit, once somebody lets it
        super().__init__(*given, **more)

    def send(self, event: Event) -> Decision:
        decision = super().send(event)
        self.most = max(self.most, self.tree.live_leaves)
        self.sizes.append(len(decision.changes))
        return decision

    def _ResumeLoop(self, effect: ResumeLoop) -> None:  # noqa: N802 - named like the effect
        if self.later is None:
            super()._ResumeLoop(effect)
        else:
            self.later.append(effect)


# ---------------------------------------------------------------------------------------------------- room
def test_iterations_beyond_the_budget_wait_and_all_of_them_run() -> None:
    definition = workflow(foreach("l", WIDE, step("x"), concurrency=30))
    driver = Observed(definition, runtime=scripted(x=[Work(after=5)]), settings=EngineSettings(live_leaves=7))
    driver.finish()
    assert driver.status == "SUCCEEDED"
    assert driver.most == 7
    assert len(driver.iterations("l")) == 30


def test_an_iteration_counts_with_all_leaf_steps_of_its_body() -> None:
    body = (step("a", "b"), step("b", "c"), noop("c"))
    definition = workflow(foreach("l", WIDE, *body, concurrency=30))
    driver = Observed(definition, runtime=scripted(a=[Work(after=5)]), settings=EngineSettings(live_leaves=7))
    driver.finish()
    assert driver.most == 6  # a third iteration would make it nine


def test_a_body_that_is_larger_than_the_budget_runs_one_iteration_after_the_other() -> None:
    body = (step("a", "b"), step("b", "c"), step("c"))
    driver = Observed(workflow(foreach("l", WIDE, *body)), settings=EngineSettings(live_leaves=2))
    driver.finish()
    assert driver.status == "SUCCEEDED"
    assert driver.most == 3


def test_loops_inside_loops_do_not_wait_for_each_other() -> None:
    driver = Observed(
        nested(6, 6), runtime=scripted(x=[Work(after=5)]), settings=EngineSettings(live_leaves=4)
    )
    driver.finish()
    assert driver.status == "SUCCEEDED"
    assert driver.most <= 4 + 4  # each of the four outer ones has one inside
    assert len([key for kind, key in driver.records if kind is AttemptRecord and key.step_id == "x"]) == 36


def test_room_that_one_loop_leaves_is_used_by_others() -> None:
    """The long loop has few iterations for long; when the other one has ended, it gets all the room."""
    short = foreach("short", {"i": numbers(*range(8))}, step("s"), concurrency=8)
    long = foreach("long", {"j": numbers(*range(6))}, step("t"), concurrency=6)
    runtime = scripted(s=[Work(after=10)], t=[FOREVER])
    driver = driven(workflow(short, long), runtime, live_leaves=8).start().run(5)
    (first,) = [flow for index, flow in enumerate(driver.flow.children.values()) if index == 1]
    assert len(first) < 6
    driver.run(50)
    assert driver.attempt("short").status is StepStatus.SUCCEEDED
    assert len(driver.flow.children[driver.flow.plan.numbers["long"]]) == 6


def test_the_room_of_a_process_counts_over_its_runs() -> None:
    room = SharedRoom(5)
    runs = [
        driven(workflow(foreach("l", WIDE, step("x"), concurrency=30)), scripted(x=[FOREVER])) for _ in "ab"
    ]
    for driver in runs:
        driver.tree.share(room)
        driver.start()
    assert [driver.tree.live_leaves for driver in runs] == [5, 1]  # nobody gets none
    assert room.leaves == 6
    assert list(runs[1].tree.waiting_loops) == [runs[1].attempt("l").key]
    runs[0].tree.share(SharedRoom(5))  # it leaves memory
    runs[1].send(Resumed(attempt=runs[1].attempt("l").key))
    assert runs[1].tree.live_leaves == room.leaves == 5


def test_a_run_that_is_loaded_counts_its_leaves_again() -> None:
    driver = driven(nested(3, 3), scripted(x=[FOREVER]), live_leaves=5).start()
    again = loaded(driver.flow)
    assert caches_of(again) == caches_of(driver.flow)
    assert again.tree.live_leaves == driver.tree.live_leaves > 0


def test_a_decision_that_is_undone_leaves_no_trace_in_the_room() -> None:
    driver = driven(
        workflow(foreach("l", WIDE, step("x"), concurrency=30)), scripted(x=[FOREVER]), live_leaves=5
    )
    driver.start()
    before, waiting = driver.tree.live_leaves, dict(driver.tree.waiting_loops)
    child = next(iter(driver.flow.children[0].values()))
    with pytest.raises(Exception, match="no step"):
        driver.step("nothing", StepStatus.SKIPPED, child.run.key)  # type: ignore[arg-type]
    assert (driver.tree.live_leaves, dict(driver.tree.waiting_loops)) == (before, waiting)


# ----------------------------------------------------------------------------------------------- parameters
def test_large_parameters_count_as_much_as_many_records() -> None:
    """500 iterations, each of which evaluates and stores a large list, are no single decision."""
    inner = foreach("in", {"j": numbers(*range(3_000))}, noop("x"), concurrency=1)
    definition = workflow(foreach("out", {"i": numbers(*range(500))}, inner, concurrency=500))
    driver = Driver(definition, settings=EngineSettings(records_per_decision=100), check=False)
    decision = driver.send(Launched(run=driver.flow.run.key))
    assert decision.weight > 50
    begun = [each for each in decision.changes if isinstance(each, AttemptRecord) and each.params]
    assert len(begun) < 30


# ------------------------------------------------------------------------------------------------------ ends
def wide(**settings: Any) -> Observed:
    runtime = scripted(x=[FOREVER])
    driver = Observed(nested(12, 12), runtime=runtime, settings=EngineSettings(**settings))
    driver.start().run(1)
    return driver


@pytest.mark.parametrize("action", [RunAction.KILL, RunAction.STOP])
def test_a_large_run_ends_in_slices(action: RunAction) -> None:
    driver = wide(records_per_decision=10)
    driver.sizes = []
    driver.act(action)
    assert driver.flow.run.ending is not None  # with the first commit
    assert driver.sizes[0] < 30
    driver.run()
    assert driver.flow.is_over
    assert max(driver.sizes) < 40
    assert len(driver.sizes) > 10
    assert driver.tree.live_leaves == 0
    ended = [key for kind, key in driver.records if kind is AttemptRecord and key.step_id == "x"]
    asked = {each.attempt for each in driver.effects if isinstance(each, TerminateWork)}
    assert asked == set(ended)


def test_a_run_that_times_out_tells_its_iterations_so() -> None:
    driver = Observed(
        nested(4, 4), runtime=scripted(x=[FOREVER]), settings=EngineSettings(records_per_decision=2)
    ).start()
    driver.run(1)
    driver.send(RunActed(run=driver.flow.run.key, action=RunAction.TIME_OUT, user="clock"))
    driver.run()
    ends = {record.status for (kind, _), record in driver.records.items() if kind is RunRecord}
    assert ends == {RunStatus.TIMED_OUT}


def test_nothing_begins_between_the_slices() -> None:
    """Work that ends meanwhile frees nothing: neither the next step, nor the next iteration."""
    body = foreach("in", {"j": numbers(*range(9))}, step("x", "y"), step("y"), concurrency=2)
    definition = workflow(foreach("out", {"i": numbers(*range(9))}, body, concurrency=9))
    driver = driven(definition, scripted(x=[FOREVER], y=[FOREVER]), records_per_decision=1)
    driver.start().run(1)
    driver.later = []
    driver.stubborn = True
    driver.act(RunAction.KILL)
    assert driver.later
    runs = {key for kind, key in driver.records if kind is RunRecord}
    started = len([each for each in driver.effects if isinstance(each, StartWork)])
    for flow in list(driver.tree.live.values()):
        attempt = flow.attempts[0]
        if attempt is not None and attempt.launch is not None:
            driver.send(_done(attempt))
    assert {key for kind, key in driver.records if kind is RunRecord} == runs
    assert len([each for each in driver.effects if isinstance(each, StartWork)]) == started
    waiting, driver.later = driver.later, None
    for effect in waiting:
        driver.send(Resumed(attempt=effect.attempt))
    driver.run()
    assert driver.flow.is_over


def _done(attempt: AttemptRecord) -> Reported:
    return Reported(attempt=attempt.key, launch=attempt.launch or 0, state=ResultState.DONE)


def test_a_crash_between_the_slices_changes_nothing() -> None:
    driver = wide(records_per_decision=5)
    driver.later = []  # and the node dies
    driver.act(RunAction.KILL)
    driver.later = None
    assert driver.flow.run.end_time is None
    for event in recovery_of(driver.flow).events:  # what the next owner does
        driver.send(event)
    driver.run()
    assert driver.flow.is_over
    assert driver.flow.run.status is RunStatus.FAILED


def test_a_failure_that_ends_the_loop_at_once_ends_it_in_slices_too() -> None:
    def play(effect: StartWork) -> Work:
        first = effect.attempt.run.instance_id == 1
        return Work("FATAL_ERROR", 5) if first else FOREVER

    loop = foreach("l", WIDE, step("x"), concurrency=30, failure_mode=FailureMode.FAIL_IMMEDIATELY)
    driver = Observed(workflow(loop), runtime=play, settings=EngineSettings(records_per_decision=5))
    driver.start()
    driver.sizes = []
    driver.run(60)
    assert driver.flow.is_over
    assert driver.attempt("l").status is StepStatus.FATALLY_FAILED
    assert max(driver.sizes) < 25


def test_what_a_user_asks_of_an_iteration_that_is_about_to_end_is_refused() -> None:
    driver = wide(records_per_decision=1)
    driver.later = []  # and the node dies
    driver.act(RunAction.KILL)
    late = next(flow for flow in driver.tree.live.values() if flow.end_to_come is not None and flow.plan.flat)
    with pytest.raises(Exception, match="being ended"):
        driver.act(RunAction.PAUSE, run=late.run.key)


def test_ends_do_not_scan_what_has_ended() -> None:
    """As many looks at iterations as there are: the end of a wide loop is linear."""
    sizes = []
    for width in (200, 400):
        loop = foreach("l", {"i": numbers(*range(width))}, step("x"), concurrency=width)
        driver = Observed(
            workflow(loop),
            runtime=scripted(x=[FOREVER]),
            settings=EngineSettings(records_per_decision=50),
            check=False,
        )
        driver.start().run(1)
        driver.sizes = []
        driver.act(RunAction.KILL).run()
        assert driver.flow.is_over
        sizes.append(sum(driver.sizes))
    assert sizes[1] < 2.2 * sizes[0]


def test_loops_of_iterations_that_are_gone_wait_for_nothing() -> None:
    driver = driven(nested(4, 9), scripted(x=[Work(after=5)]), live_leaves=4).start()
    gone = AttemptKey(driver.flow.run.key, "out", 99)
    driver.tree.waiting_loops[gone] = 1
    driver.run()
    assert driver.flow.is_over
    assert not [key for key in driver.tree.waiting_loops if key == gone]
    assert not [key for kind, key in driver.records if kind is LoopRecord and key == gone]


def test_an_answer_to_an_iteration_that_is_about_to_end_counts() -> None:
    loop = foreach("l", WIDE, step("ask", "then", type="Wait"), step("then"), concurrency=30)
    driver = driven(workflow(loop), scripted(then=[FOREVER]), records_per_decision=1)
    driver.start().run(1)
    driver.later = []
    driver.act(RunAction.KILL)
    late = next(flow for flow in driver.tree.live.values() if flow.end_to_come is not None)
    driver.send(CalledBack(attempt=AttemptKey(late.run.key, "ask", 1), approved=True))
    assert driver.records[AttemptRecord, AttemptKey(late.run.key, "ask", 1)].status is StepStatus.SUCCEEDED
    assert (AttemptRecord, AttemptKey(late.run.key, "then", 1)) not in driver.records
    assert late.run.status is RunStatus.STOPPED


def test_what_has_ended_is_not_ended_again() -> None:
    driver = driven(workflow(foreach("l", {"i": numbers(1, 2)}, step("x")))).finish()
    turn = Turn(driver.flow, driver.now)
    end_from_above(turn, driver.flow, RunAction.STOP, "too late")
    end_iterations(turn, driver.flow, 0)
    assert not turn.changes()
