"""One iteration of a foreach is restarted while the others go on."""

from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work
from tests.engine.restarting import node_of, restarted
from tests.engine.shapes import computed, foreach, noop, number, numbers, step, subworkflow, while_, workflow

from stretto.engine.earlier import EarlierRun, earlier_key
from stretto.engine.effects import Fetch, StartWork
from stretto.engine.events import Reported, ResultState, RunAction
from stretto.engine.records import LoopRecord, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.errors import Conflict, NotFound, StrettoError, WrongState
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode

S = StepStatus
P = RunPolicy
R = RunStatus
TWO_STEPS = (step("a", "b"), step("b"))


def plays(works: dict[tuple[int, int], str], step_id: str = "b"):
    """How a step goes in an iteration and run; elsewhere, and of other steps, the work is done at once."""

    def play(effect: StartWork) -> Work:
        chosen = works.get(effect.attempt.run[1:], "DONE") if effect.attempt.step_id == step_id else "DONE"
        return FOREVER if chosen == "FOREVER" else Work(chosen)

    return play


def looping(
    works: dict[tuple[int, int], str], count: int = 5, *body: Any, settings: Any = None, **more: Any
) -> Driver:
    more.setdefault("concurrency", 3)
    loop = foreach("l", {"i": numbers(*range(count))}, *(body or TWO_STEPS), **more)
    driver = Driver(workflow(loop, noop("end")), runtime=plays(works), settings=settings)
    return driver.start().run(0)


def again(driver: Driver, iteration: int, step_id: str | None = None, **more: Any) -> Driver:
    more.setdefault(
        "restart_policy", P.RESTART_FROM_INCOMPLETE if step_id is None else P.RESTART_FROM_SPECIFIC
    )
    node = RestartNode(workflow_id="w", instance_id=driver.flow.run.key.instance_id, step_id="l")
    config = RestartConfig(restart_path=(node_of(driver, "l", iteration, step_id), node), **more)
    return driver.step("l", StepAction.RESTART, restart=config)


def loop_of(driver: Driver) -> LoopRecord:
    return driver.flow.loops[driver.flow.plan.numbers["l"]]


def ended(driver: Driver) -> dict[str, int]:
    """How many iterations have ended how, as far as the loop knows."""
    loop = loop_of(driver)
    counts = {each: loop.ended.get(each, 0) + loop.apart.get(each, 0) for each in R}
    return {each.value: count for each, count in counts.items() if count}


def started(driver: Driver) -> list[tuple[int, int, str]]:
    found = [each.attempt for each in driver.effects if isinstance(each, StartWork)]
    return [(*key.run[1:], key.step_id) for key in found]


def test_an_iteration_that_failed_runs_again_and_the_loop_goes_on() -> None:
    driver = looping({(1, 1): "FOREVER", (2, 1): "FATAL_ERROR"}, 9, concurrency=2)
    assert ended(driver) == {"FAILED": 1}
    assert len(driver.iterations("l")) == 2  # after a failure none begins
    before = len(driver.effects)
    again(driver, 2).run(0)
    assert [place for place in started(driver) if place[:2] == (2, 2)] == [(2, 2, "b")]
    assert "User [ann] restarted iteration 2" in driver.lines("l")
    assert [each.keys for each in driver.effects[before:] if isinstance(each, Fetch)] == [
        (earlier_key(node_of(driver, "l", 2).workflow_id, 2),)
    ]
    assert driver.attempt("l").asked_at is None
    assert ended(driver) == {"SUCCEEDED": 8}  # what failed counts no more, so the others could begin
    assert driver.attempt("l").status is S.RUNNING
    child = driver.child("l", 1)
    attempt = driver.attempt("b", child)
    driver.world.soon(driver, *_done(attempt))
    driver.run(0)
    assert driver.attempt("l").status is S.SUCCEEDED
    assert driver.attempt("l").loop_run == 2


def _done(attempt: Any) -> list[Any]:
    return [Reported(attempt=attempt.key, launch=attempt.launch or 0, state=ResultState.DONE)]


def test_any_iteration_that_has_ended_can_be_restarted_more_than_once() -> None:
    driver = looping({(1, 1): "FOREVER"})
    for run in (2, 3):
        again(driver, 3, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
        assert [place for place in started(driver) if place[:2] == (3, run)] == [(3, run, "a"), (3, run, "b")]
    assert ended(driver) == {"SUCCEEDED": 4}
    assert loop_of(driver).leaves == {S.SUCCEEDED: 8}


def test_a_step_in_an_iteration_is_restarted() -> None:
    driver = looping({(1, 1): "FOREVER", (2, 1): "FATAL_ERROR"})
    again(driver, 2, "a", step_restart_params={"a": {"x": number(4)}}).run(0)
    assert [place for place in started(driver) if place[:2] == (2, 2)] == [(2, 2, "a"), (2, 2, "b")]
    (effect,) = [e for e in driver.effects if isinstance(e, StartWork) and e.attempt.run[1:] == (2, 2)][:1]
    assert effect.params["x"].evaluated_result == 4
    (run,) = [run for run in driver.iterations("l") if run.key[1:] == (2, 2)]
    assert run.policy is P.RESTART_FROM_SPECIFIC


def test_a_restart_that_fails_again_stops_the_loop_again() -> None:
    works = {(1, 1): "FOREVER", (2, 1): "FATAL_ERROR", (2, 2): "FATAL_ERROR"}
    driver = looping(works, 9, concurrency=2)
    again(driver, 2).run(0)
    assert loop_of(driver).failed == 1
    assert ended(driver)["FAILED"] == 1
    driver.step("l", StepAction.STOP).run(0)
    assert driver.attempt("l").status is S.STOPPED


def test_other_failures_still_keep_new_iterations_from_beginning() -> None:
    works = {(1, 1): "FOREVER", (2, 1): "FATAL_ERROR", (3, 1): "FATAL_ERROR"}
    driver = looping(works, 9, concurrency=3)
    again(driver, 2).run(0)
    assert (loop_of(driver).failed, len(driver.iterations("l"))) == (1, 4)
    again(driver, 3).run(0)
    assert (loop_of(driver).failed, ended(driver)) == (0, {"SUCCEEDED": 8})


def test_the_loop_does_not_end_before_what_was_asked_for() -> None:
    driver = looping({(1, 1): "FOREVER", (2, 1): "FATAL_ERROR"}, 2)
    driver.fetching = False
    again(driver, 2).run(0)
    driver.world.soon(driver, *_done(driver.attempt("b", driver.child("l", 1))))
    driver.run(0)
    assert driver.attempt("l").status is S.RUNNING
    assert not driver.live("l")
    driver.fetching = True
    driver._Fetch(next(each for each in driver.effects if isinstance(each, Fetch)))
    driver.run(0)
    assert driver.attempt("l").status is S.SUCCEEDED


def test_no_more_iterations_run_at_once_than_may() -> None:
    works = {(each, 1): "FOREVER" for each in (4, 5, 6)} | {(1, 2): "FOREVER", (2, 2): "FOREVER"}
    driver = looping(works, 9, concurrency=3)
    assert driver.live("l") == [4, 5, 6]
    again(driver, 1, restart_policy=P.RESTART_FROM_BEGINNING)
    again(driver, 2, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    assert driver.live("l") == [4, 5, 6]
    assert sorted(loop_of(driver).asked) == [1, 2]
    driver.world.soon(driver, *_done(driver.attempt("b", driver.child("l", 5))))
    driver.run(0)
    assert driver.live("l") == [1, 4, 6]  # a place that becomes free is for what users ask for
    driver.world.soon(driver, *_done(driver.attempt("b", driver.child("l", 4))))
    driver.run(0)
    assert driver.live("l") == [1, 2, 6]
    assert len(driver.iterations("l")) == 8  # six that began, and two restarts


def test_in_strict_order_a_restarted_iteration_holds_back_those_that_have_not_begun() -> None:
    works = {(4, 1): "FOREVER", (1, 2): "FOREVER"}
    driver = looping(works, 20, concurrency=3, strict_ordering=True)
    assert len(driver.iterations("l")) == 6
    again(driver, 1, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    driver.world.soon(driver, *_done(driver.attempt("b", driver.child("l", 4))))
    driver.run(0)
    assert driver.live("l") == [1]
    assert list(driver.flow.children[0]) == [1]
    assert len(driver.iterations("l")) == 7
    driver.world.soon(driver, *_done(driver.attempt("b", driver.child("l", 1))))
    driver.run(0)
    assert driver.attempt("l").status is S.SUCCEEDED


def test_while_the_run_is_paused_it_waits() -> None:
    driver = looping({(1, 1): "FOREVER"})
    driver.act(RunAction.PAUSE)
    again(driver, 2, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    assert driver.live("l") == [1]
    driver.act(RunAction.RESUME).run(0)
    assert (2, 2, "b") in started(driver)


def test_it_is_forgotten_if_the_loop_is_ended() -> None:
    driver = looping({(1, 1): "FOREVER"})
    driver.act(RunAction.PAUSE)
    again(driver, 2, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    driver.step("l", StepAction.STOP).run(0)
    assert driver.attempt("l").status is S.STOPPED
    assert [run.key.run_id for run in driver.iterations("l")] == [1] * 5


def test_what_an_earlier_run_kept_can_be_restarted_too() -> None:
    first = looping({(2, 1): "FATAL_ERROR"}, 3)
    assert first.status == "FAILED"
    second = restarted(first, P.RESTART_FROM_INCOMPLETE)
    second.runtime = plays({(2, 2): "FOREVER"})
    second.start().run(0)
    assert ended(second) == {"SUCCEEDED": 2}
    again(second, 3, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    assert (3, 3, "b") in started(second)  # above the run id of the loop, which iteration 2 has
    assert ended(second) == {"SUCCEEDED": 2}
    assert loop_of(second).apart == {R.SUCCEEDED: 2}
    assert loop_of(second).ended == {}
    assert loop_of(second).leaves == {S.SUCCEEDED: 4}


def test_what_nobody_has_counted_is_not_taken_away() -> None:
    """A loop that an older release restarted has not counted the iterations that it kept."""
    first = looping({(2, 1): "FATAL_ERROR"}, 3)
    second = restarted(first, P.RESTART_FROM_INCOMPLETE)
    second.runtime = plays({(2, 2): "FOREVER"})
    second.start().run(0)
    loop = loop_of(second)
    loop.keeps_leaves, loop.leaves = False, {}
    again(second, 3, restart_policy=P.RESTART_FROM_BEGINNING).run(0)
    assert loop_of(second).leaves == {S.SUCCEEDED: 2}


def test_the_path_goes_on_below_the_iteration() -> None:
    inner = foreach("in", {"x": numbers(1, 2, 3)}, step("c"), concurrency=3)
    loop = foreach("l", {"i": numbers(1, 2)}, inner, step("b"), concurrency=2)
    fails = {(2, "c", 3)}

    def play(effect: StartWork) -> Work:
        run = driver.tree.live[effect.attempt.run].run
        initiator: Any = run.initiator
        above = initiator.ancestors[-1].instance_id
        around = above if effect.attempt.step_id == "c" else run.key.instance_id
        place = (around, effect.attempt.step_id, effect.attempt.run.instance_id)
        if place == (1, "b", 1):
            return FOREVER
        return Work("FATAL_ERROR" if place in fails else "DONE")

    driver = Driver(workflow(loop), runtime=play)
    driver.start().run(0)
    fails.clear()
    (bad,) = [run for run in driver.iterations("in") if run.status is R.FAILED]
    path = (
        RestartNode(workflow_id=bad.key.workflow_id, instance_id=3),
        node_of(driver, "l", 2, "in"),
        RestartNode(workflow_id="w", instance_id=1, step_id="l"),
    )
    config = RestartConfig(restart_path=path, restart_policy=P.RESTART_FROM_BEGINNING)
    before = len(started(driver))
    driver.step("l", StepAction.RESTART, restart=config).run(0)
    assert started(driver)[before:] == [(3, 3, "c")]
    assert ended(driver) == {"SUCCEEDED": 1}


def test_a_child_of_the_iteration_is_restarted() -> None:
    loop = foreach("l", {"i": numbers(1, 2)}, subworkflow("s", "kid"), concurrency=2)
    kid = workflow(step("k"), id="kid")
    works = {1: FOREVER, 2: Work("FATAL_ERROR")}
    play = lambda e: works[e.attempt.run.instance_id]  # noqa: E731
    driver = Driver(workflow(loop), library={"kid": kid}, runtime=play).start().run(0)
    works[2] = Work()
    path = (
        RestartNode(workflow_id="kid", instance_id=2),
        node_of(driver, "l", 2, "s"),
        RestartNode(workflow_id="w", instance_id=1, step_id="l"),
    )
    config = RestartConfig(restart_path=path, restart_policy=P.RESTART_FROM_INCOMPLETE)
    driver.step("l", StepAction.RESTART, restart=config).run(0)
    assert driver.world.children[RunKey("kid", 2, 2)].status == "SUCCEEDED"
    assert ended(driver) == {"SUCCEEDED": 1}


# ------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("iteration", "error", "message"),
    [
        (1, Conflict, "iteration 1 of step .* has not ended"),
        (9, Conflict, "has not begun in this attempt"),
        (10, NotFound, "there is no iteration 10 .* it has 9"),
        (0, NotFound, "there is no iteration 0"),
    ],
)
def test_what_has_not_ended_is_not_restarted(iteration: int, error: type[StrettoError], message: str) -> None:
    driver = looping({(1, 1): "FOREVER", (2, 1): "FATAL_ERROR"}, 9, concurrency=2)
    with pytest.raises(error, match=message):
        again(driver, iteration)


def test_asked_twice_it_is_refused() -> None:
    driver = looping({(1, 1): "FOREVER"})
    driver.fetching = False
    again(driver, 2, restart_policy=P.RESTART_FROM_BEGINNING)
    with pytest.raises(Conflict, match="has not ended"):
        again(driver, 2)


def test_a_loop_that_is_ended_or_fails_at_once_restarts_nothing() -> None:
    driver = looping({(1, 1): "FOREVER"})
    driver.stubborn = True
    driver.step("l", StepAction.STOP)
    with pytest.raises(WrongState, match="the step is being ended"):
        again(driver, 2)
    hasty = looping({(1, 1): "FOREVER"}, failure_mode=FailureMode.FAIL_IMMEDIATELY)
    with pytest.raises(WrongState, match="the failure mode is FAIL_IMMEDIATELY"):
        again(hasty, 2)


def test_rounds_of_a_while_depend_on_each_other() -> None:
    made = while_("l", "n < 3", {"n": number(0)}, step("b", params={"n": computed("n + 1")}))
    driver = Driver(workflow(made), runtime=plays({(2, 1): "FOREVER"})).start().run(0)
    with pytest.raises(Conflict, match=r"Cannot restart below step .* as it is RUNNING"):
        again(driver, 1)


def test_without_a_path_a_loop_that_runs_is_not_restarted() -> None:
    driver = looping({(1, 1): "FOREVER"})
    with pytest.raises(WrongState, match="unsupported by the step action map"):
        driver.step("l", StepAction.RESTART)


@pytest.mark.parametrize(
    ("step_id", "known", "message"),
    [
        (None, None, "iteration 2 has no run"),
        ("b", EarlierRun(run_id=1, status=R.FAILED), r"\[b\] should be one of root nodes"),
    ],
)
def test_what_turns_out_to_be_impossible_leaves_the_loop_alone(
    step_id: str | None, known: Any, message: str
) -> None:
    driver = looping({(1, 1): "FOREVER"})
    driver.fetched[earlier_key(node_of(driver, "l", 2).workflow_id, 2)] = known
    again(driver, 2, step_id).run(0)
    assert any("Iteration 2 is not restarted" in line for line in driver.lines("l"))
    assert message.replace("\\", "") in driver.lines("l")[-1]
    assert ended(driver) == {"SUCCEEDED": 4}


# ------------------------------------------------------------------------------- size
def test_a_loop_of_a_million_is_not_made_for_one_of_them() -> None:
    thousand = numbers(*range(1_000))
    loop = foreach("l", {"i": thousand, "j": thousand}, step("b"), concurrency=2)
    driver = Driver(workflow(loop), runtime=plays({(2, 1): "FATAL_ERROR", (1, 1): "FOREVER"}), check=False)
    driver.start().run(0)
    driver.runtime = plays({(1, 1): "FOREVER", (2, 2): "FOREVER"})
    again(driver, 2).run(0)
    assert driver.live("l") == [1, 2]
    assert len(driver.records) < 12


def test_a_restarted_loop_asks_for_no_more_than_it_launches() -> None:
    count = 60
    bad = {(each, 1): "FATAL_ERROR" for each in range(1, count + 1)}
    first = looping(bad, count, concurrency=count, settings=EngineSettings(loop_concurrency=count))
    second = restarted(first, P.RESTART_FROM_INCOMPLETE)
    second.tree.settings = EngineSettings(loop_concurrency=4)
    second.runtime = plays({})
    seen: list[int] = []
    second.start()
    while second.world.queue:
        driver, event = second.world.queue.popleft()
        driver.send(event)
        seen.append(len(second.flow.fetched))
    assert second.status == "SUCCEEDED"
    assert max(seen) <= 6  # at most those that may run at once, and what the loop itself was told
    assert len(set(second.fetches)) == len(second.fetches)
