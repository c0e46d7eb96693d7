"""The run policy of iterations: fresh in a fresh loop, a restart in a loop that runs again."""

from tests.engine.driver import Driver, Work, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import computed, foreach, number, numbers, step, while_, workflow
from tests.engine.test_nested_restarts import BODY, again_in, failing

from stretto.engine.effects import StartWork
from stretto.engine.loop_overview import foreach_artifact
from stretto.engine.records import LoopRecord, RunRecord
from stretto.model.run_config import RunPolicy

P = RunPolicy
THREE = {"i": numbers(1, 2, 3)}


def runs_of(driver: Driver, loop: str) -> dict[tuple[int, int], RunRecord]:
    return {run.key[1:]: run for run in driver.iterations(loop)}


def policies(driver: Driver, loop: str) -> set[RunPolicy]:
    """Of the iterations that began in the newest run of the driver."""
    own = driver.flow.run.key.run_id
    return {run.policy for (_at, run_id), run in runs_of(driver, loop).items() if run_id == own}


def test_iterations_of_a_fresh_run_are_fresh() -> None:
    driver = Driver(workflow(foreach("l", THREE, *BODY)), runtime=scripted()).finish()
    assert policies(driver, "l") == {P.START_FRESH_NEW_RUN}


def test_iterations_of_a_run_from_the_beginning_run_from_the_beginning() -> None:
    first = Driver(workflow(foreach("l", THREE, *BODY)), runtime=failing((2, "a"))).finish()
    again = restarted(first, P.RESTART_FROM_BEGINNING)
    again.runtime = scripted()
    again.finish()
    assert policies(again, "l") == {P.RESTART_FROM_BEGINNING}
    assert all(run.restart is None for run in again.iterations("l"))


def test_a_loop_that_did_not_begin_before_runs_from_the_beginning() -> None:
    fails = lambda effect: Work("FATAL_ERROR" if effect.attempt.step_id == "first" else "DONE")  # noqa: E731
    first = Driver(workflow(step("first", "l"), foreach("l", THREE, *BODY)), runtime=fails).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    assert policies(again, "l") == {P.RESTART_FROM_BEGINNING}


def test_a_while_goes_on_with_new_rounds_from_the_beginning() -> None:
    body = step("x", params={"k": computed("k + 1")})

    def play(effect: StartWork) -> Work:
        return Work("FATAL_ERROR" if effect.attempt.run[1:] == (2, 1) else "DONE")

    first = Driver(workflow(while_("w", "k < 4", {"k": number(0)}, body)), runtime=play).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = play
    again.finish()
    found = {at: run.policy for (at, run_id), run in runs_of(again, "w").items() if run_id == 2}
    assert found == {2: P.RESTART_FROM_INCOMPLETE, 3: P.RESTART_FROM_BEGINNING, 4: P.RESTART_FROM_BEGINNING}


def test_a_loop_that_is_restarted_in_its_run_has_the_policy_of_the_restart() -> None:
    loop = foreach("l", THREE, *BODY, concurrency=1)
    driver = Driver(workflow(loop, step("open", type="Wait")), runtime=failing((2, "a"))).start().run(0)
    driver.runtime = scripted(open=["FOREVER"])
    again_in(driver, "l", restart_policy=P.RESTART_FROM_BEGINNING, downstream_policy=P.RESTART_FROM_BEGINNING)
    found = {at: run.policy for (at, run_id), run in runs_of(driver, "l").items() if run_id == 2}
    assert found == dict.fromkeys((1, 2, 3), P.RESTART_FROM_BEGINNING)
    artifact = foreach_artifact(driver.flow, driver.attempt("l"), list(driver.of(LoopRecord))[-1])
    assert (driver.flow.run.policy, artifact.run_policy) == (P.START_FRESH_NEW_RUN, P.RESTART_FROM_BEGINNING)


class TestParametersForStepsInside:
    """A restart of the workflow around all loops with parameters for a step in one of them."""

    STEPS = (
        foreach("near", THREE, step("a", params={"v": number(0)})),
        foreach("far", THREE, foreach("inner", THREE, step("b", params={"w": number(0)}))),
        while_("loop", "k < 1", {"k": number(0)}, step("c", params={"k": computed("k + 1")})),
    )

    def again(self, policy: RunPolicy, step_id: str, fails: str = "") -> Driver:
        def play(effect: StartWork) -> Work:
            key = effect.attempt
            return Work("FATAL_ERROR" if (key.step_id, key.run.run_id) == (fails, 1) else "DONE")

        first = Driver(workflow(*self.STEPS), runtime=play).finish()
        again = restarted(first, policy, step_params={step_id: {"v": number(7), "w": number(7)}})
        again.runtime = play
        return again.finish()

    def configs(self, driver: Driver, loop: str) -> set[bool]:
        own = driver.flow.run
        runs = [run for run in driver.iterations(loop) if run.key.run_id == own.key.run_id]
        assert runs
        assert all(run.restart is None or run.restart == own.restart for run in runs)
        return {run.restart is not None for run in runs}

    def test_iterations_with_the_step_have_the_config(self) -> None:
        again = self.again(P.RESTART_FROM_BEGINNING, "a")
        assert self.configs(again, "near") == {True}
        assert self.configs(again, "far") == self.configs(again, "inner") == {False}
        assert policies(again, "near") == policies(again, "far") == {P.RESTART_FROM_BEGINNING}

    def test_so_have_those_around_a_loop_with_the_step(self) -> None:
        again = self.again(P.RESTART_FROM_BEGINNING, "b")
        assert self.configs(again, "far") == self.configs(again, "inner") == {True}
        assert self.configs(again, "near") == {False}

    def test_iterations_that_run_again_have_it_too(self) -> None:
        again = self.again(P.RESTART_FROM_INCOMPLETE, "a", fails="a")
        assert self.configs(again, "near") == {True}
        assert policies(again, "near") == {P.RESTART_FROM_INCOMPLETE}

    def test_rounds_of_a_while_have_none(self) -> None:
        assert self.configs(self.again(P.RESTART_FROM_BEGINNING, "c"), "loop") == {False}

    def test_a_restart_of_one_step_gives_them_none(self) -> None:
        first = Driver(workflow(*self.STEPS), runtime=failing((1, "a"))).finish()
        again = restarted(first, P.RESTART_FROM_SPECIFIC, "near", step_params={"a": {"v": number(7)}})
        again.runtime = scripted()
        assert self.configs(again.finish(), "near") == {False}
