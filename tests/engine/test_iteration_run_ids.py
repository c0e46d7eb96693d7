"""The run ids of iterations that run again: one that is restarted alone is above the others of a foreach."""

from typing import Any

from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.restarting import node_of, restarted
from tests.engine.shapes import computed, foreach, number, numbers, step, while_, workflow

from stretto.engine.effects import StartWork
from stretto.engine.records import LoopRecord, RunRecord
from stretto.model.actions import StepAction
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import RunStatus, StepStatus

P = RunPolicy
R = RunStatus
S = StepStatus
THREE = {"i": numbers(1, 2, 3)}


def failing(*iterations: int, step_id: str = "a") -> Any:
    def play(effect: StartWork) -> Work:
        bad = effect.attempt.step_id == step_id and effect.attempt.run.instance_id in iterations
        return Work("FATAL_ERROR" if bad else "DONE")

    return play


def on_path(before: Driver, loop: str, *path: RestartNode, fails: Any = None) -> Driver:
    """The next run, restarted along a path down from a loop."""
    driver = restarted(before, P.RESTART_FROM_SPECIFIC, loop, path=path, inner=P.RESTART_FROM_INCOMPLETE)
    driver.runtime = fails or scripted()
    return driver


def run_ids(driver: Driver) -> list[tuple[int, int]]:
    """The iterations of the outermost loop that ran in this run, with their run ids."""
    return [run.key[1:] for run in driver.of(RunRecord) if _depth(run) == 1]


def _depth(run: Any) -> int:
    return len(getattr(run.initiator, "ancestors", ()))


def loop_ids(driver: Driver, step_id: str) -> list[int]:
    return [loop.run_id for loop in driver.of(LoopRecord) if loop.key.step_id == step_id]


# -------------------------------------------------------------------------------------------- along the path
def test_the_iteration_on_the_path_runs_above_the_run_id_of_its_loop() -> None:
    first = Driver(workflow(foreach("l", THREE, step("a"))), runtime=failing(2)).finish()
    again = on_path(first, "l", node_of(first, "l", 2)).finish()
    assert (run_ids(again), loop_ids(again, "l")) == ([(2, 3)], [2])
    assert again.attempt("l").loop_run == 3
    assert again.status == "SUCCEEDED"


def test_iterations_that_the_failure_held_back_have_the_run_id_of_the_loop() -> None:
    first = Driver(workflow(foreach("l", THREE, step("a"), concurrency=1)), runtime=failing(2)).finish()
    again = on_path(first, "l", node_of(first, "l", 2)).finish()
    assert (run_ids(again), loop_ids(again, "l")) == ([(2, 3), (3, 2)], [2])
    (loop,) = again.of(LoopRecord)
    assert (loop.ended, loop.apart) == ({R.SUCCEEDED: 1}, {R.SUCCEEDED: 2})
    assert loop.leaves == {S.SUCCEEDED: 3}


def test_each_restart_goes_above_all_run_ids_before_it() -> None:
    driver = Driver(workflow(foreach("l", THREE, step("a"))), runtime=failing(2, 3)).finish()
    for loop_run in (2, 4, 6):
        driver = on_path(driver, "l", node_of(driver, "l", 2), fails=failing(2, 3)).finish()
        assert (run_ids(driver), loop_ids(driver, "l")) == ([(2, loop_run + 1)], [loop_run])
    assert driver.status == "FAILED"
    again = restarted(driver, P.RESTART_FROM_INCOMPLETE)  # without a path all have the loop's
    again.runtime = scripted()
    again.finish()
    assert (run_ids(again), loop_ids(again, "l")) == ([(2, 8), (3, 8)], [8])
    assert again.status == "SUCCEEDED"


def test_a_restart_from_the_beginning_of_an_iteration_counts_in_the_same_way() -> None:
    first = Driver(workflow(foreach("l", THREE, step("a"), step("b")))).finish()
    path = (node_of(first, "l", 3),)
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "l", path=path, inner=P.RESTART_FROM_BEGINNING).finish()
    assert run_ids(again) == [(3, 3)]
    assert again.of(LoopRecord)[0].leaves == {S.SUCCEEDED: 6}


# ------------------------------------------------------------------------------------------ loops in loops
def nested(inner: Any, runtime: Any) -> Driver:
    loop = foreach("outer", {"o": numbers(1, 2)}, inner, concurrency=2)
    return Driver(workflow(loop), runtime=runtime).finish()


def below(driver: Driver, outer: int) -> str:
    """The workflow id of the inner loop in an iteration of the outer one."""
    (name,) = {
        run.key.workflow_id
        for run in driver.rows(RunRecord)
        if _depth(run) == 2 and run.initiator.ancestors[-1].instance_id == outer
    }
    return str(name)


def test_loops_in_loops_each_number_the_iteration_on_the_path_above_the_others() -> None:
    first = nested(foreach("inner", THREE, step("a"), concurrency=3), failing(3))
    inside = below(first, 2)
    path = (RestartNode(workflow_id=inside, instance_id=3), node_of(first, "outer", 2, "inner"))
    again = on_path(first, "outer", *path).finish()
    assert (run_ids(again), loop_ids(again, "outer")) == ([(2, 3)], [2])
    assert [run.key[1:] for run in again.of(RunRecord) if run.key.workflow_id == inside] == [(3, 4)]
    assert loop_ids(again, "inner") == [3]
    assert again.attempt("outer").loop_run == 4  # the highest below it
    third = on_path(again, "outer", *path).finish()
    assert (run_ids(third), loop_ids(third, "outer")) == ([(2, 6)], [5])
    assert [run.key[1:] for run in third.of(RunRecord) if run.key.workflow_id == inside] == [(3, 7)]


def test_an_iteration_of_a_while_has_the_run_id_of_its_loop() -> None:
    rounds = while_("l", "n < 3", {"n": number(0)}, step("a", params={"n": computed("n + 1")}))
    first = Driver(workflow(rounds), runtime=failing(2)).finish()
    again = on_path(first, "l", node_of(first, "l", 2)).finish()
    assert (run_ids(again), loop_ids(again, "l")) == ([(2, 2), (3, 2)], [2])
    assert again.attempt("l").loop_run == 2


def test_a_while_on_the_path_in_a_foreach() -> None:
    rounds = while_("inner", "n < 2", {"n": number(0)}, step("a", params={"n": computed("n + 1")}))
    first = nested(rounds, failing(2))
    inside = below(first, 1)
    path = (RestartNode(workflow_id=inside, instance_id=2), node_of(first, "outer", 1, "inner"))
    again = on_path(first, "outer", *path).finish()
    assert run_ids(again) == [(1, 3)]
    assert [run.key[1:] for run in again.of(RunRecord) if run.key.workflow_id == inside] == [(2, 3)]


# -------------------------------------------------------------------------------- while the loop still runs
def test_an_iteration_kept_from_an_earlier_run_is_restarted_above_the_loop() -> None:
    loop = foreach("l", THREE, step("a"), concurrency=3)
    first = Driver(workflow(loop), runtime=failing(2)).finish()
    second = restarted(first, P.RESTART_FROM_INCOMPLETE)
    second.runtime = lambda effect: FOREVER if effect.attempt.run.instance_id == 2 else Work("DONE")
    second.start().run(0)
    for run_id in (3, 4):  # the loop has 2
        _restart_alone(second, 1)
        assert run_ids(second)[-1] == (1, run_id)
        assert second.attempt("l").loop_run == run_id
    _restart_alone(second, 3)
    assert run_ids(second)[-1] == (3, 3)


def _restart_alone(driver: Driver, iteration: int) -> None:
    around = RestartNode(workflow_id="w", instance_id=1, step_id="l")
    path = (node_of(driver, "l", iteration), around)
    config = RestartConfig(restart_path=path, restart_policy=P.RESTART_FROM_BEGINNING)
    driver.step("l", StepAction.RESTART, restart=config).run(0)


def test_the_iteration_on_the_path_is_restarted_once_more_while_another_runs() -> None:
    first = Driver(workflow(foreach("l", THREE, step("a"), concurrency=2)), runtime=failing(1)).finish()
    hold = lambda effect: FOREVER if effect.attempt.run.instance_id == 3 else Work("DONE")  # noqa: E731
    again = on_path(first, "l", node_of(first, "l", 1), fails=hold)
    again.start().run(0)
    assert run_ids(again) == [(1, 3), (3, 2)]
    _restart_alone(again, 1)
    assert run_ids(again)[-1] == (1, 4)
    loop = again.flow.loops[again.flow.plan.numbers["l"]]
    assert (loop.ended, loop.apart) == ({}, {R.SUCCEEDED: 2})
    assert loop.leaves == {S.SUCCEEDED: 2}
    assert again.attempt("l").loop_run == 4
