"""What the artifact of a loop tells, made from its record and from what is alive in it."""

from typing import Any

from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.live_rounds import rounds_of
from tests.engine.shapes import ITEMS, computed, foreach, noop, number, numbers, step, while_, workflow

from stretto.engine.events import Reported, ResultState
from stretto.engine.loop_overview import Round, foreach_artifact, while_artifact
from stretto.engine.records import LoopRecord, NamedLeaf
from stretto.engine.rollup import Leaf, Rollup
from stretto.model.artifact import ForeachArtifact, WhileArtifact
from stretto.model.foreach import ForeachOverview
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

I, S = InstanceStatus, StepStatus  # noqa: E741


def loop_of(driver: Driver, step_id: str) -> LoopRecord:
    (found,) = [each for each in driver.of(LoopRecord) if each.key.step_id == step_id]
    return found  # type: ignore[no-any-return]


def foreach_of(driver: Driver, **more: Any) -> ForeachArtifact:
    flow, index = driver.flow, driver.flow.plan.numbers["l"]
    return foreach_artifact(flow, driver.attempt("l"), loop_of(driver, "l"), rounds_of(flow, index), **more)


def overview(driver: Driver, **more: Any) -> ForeachOverview:
    found = foreach_of(driver, **more).foreach_overview
    assert found is not None
    return found


def while_of(driver: Driver) -> WhileArtifact:
    flow, index = driver.flow, driver.flow.plan.numbers["l"]
    return while_artifact(flow, driver.attempt("l"), loop_of(driver, "l"), *rounds_of(flow, index))


def report(driver: Driver, instance: int, state: ResultState = ResultState.DONE) -> None:
    record = driver.attempt("x", driver.child("l", instance))
    driver.send(Reported(attempt=record.key, launch=record.launch or 0, state=state))
    driver.run(0)


# -------------------------------------------------------------------------------------------------- foreach
def test_a_foreach_on_its_way() -> None:
    driver = Driver(
        workflow(foreach("l", ITEMS, step("x"), noop("y"), concurrency=2)), runtime=scripted(x=[FOREVER])
    )
    driver.start().run(0)
    artifact = foreach_of(driver)
    assert artifact.foreach_workflow_id == loop_of(driver, "l").inline_id
    assert str(artifact.foreach_identity).startswith("[w][1][1][l][1][")
    assert (artifact.total_loop_count, artifact.next_loop_index, artifact.run_policy) == (
        5,
        2,
        RunPolicy.START_FRESH_NEW_RUN,
    )
    found = overview(driver)
    assert (found.checkpoint, found.stats, found.running_stats) == (0, {}, {I.IN_PROGRESS: 2})
    assert found.details == {I.IN_PROGRESS: [(1, 2)]}
    report(driver, 2)
    found = overview(driver)
    assert (found.checkpoint, found.stats) == (0, {I.SUCCEEDED: 1})
    assert found.details == {I.IN_PROGRESS: [(1, 1), (3, 3)], I.SUCCEEDED: [(2, 2)]}
    report(driver, 1)
    assert overview(driver).checkpoint == 2
    assert found.rollup is not None
    assert {status: each.cnt for status, each in found.rollup.overview.items()} == {S.SUCCEEDED: 2}


def test_a_foreach_that_has_ended() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, noop("x")))).finish()
    found = overview(driver)
    assert (found.checkpoint, found.stats, found.running_stats) == (5, {I.SUCCEEDED: 5}, {})
    assert (found.details, found.running_rollup) == ({I.SUCCEEDED: [(1, 5)]}, None)
    empty = Driver(workflow(foreach("l", {"i": numbers()}, noop("x")))).finish()
    assert (overview(empty).checkpoint, overview(empty).details) == (0, None)


def test_which_iterations_ended_how_comes_from_their_rows() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, step("x"), concurrency=3)), runtime=scripted(x=[FOREVER]))
    driver.start().run(0)
    report(driver, 1)
    report(driver, 2, ResultState.FATAL_ERROR)
    found = overview(driver)
    assert found.stats == {I.SUCCEEDED: 1, I.FAILED: 1}
    assert found.details == {I.IN_PROGRESS: [(3, 4)]}
    rows = {RunStatus.SUCCEEDED: ((1, 1),), RunStatus.FAILED: ((2, 2),)}
    assert overview(driver, ended=rows).details == {
        I.IN_PROGRESS: [(3, 4)],
        I.SUCCEEDED: [(1, 1)],
        I.FAILED: [(2, 2)],
    }


def test_iterations_that_run_once_more_are_listed() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, step("x"), concurrency=2)), runtime=scripted(x=[FOREVER]))
    driver.start().run(0)
    loop = loop_of(driver, "l")
    (first, second) = rounds_of(driver.flow, 0)
    again = foreach_artifact(driver.flow, driver.attempt("l"), loop, [first, second._replace(run_id=2)])
    assert again.foreach_overview is not None
    assert again.foreach_overview.restart_info == [2]


# ---------------------------------------------------------------------------------------------------- while
def counting(*script: Any) -> Driver:
    body = step("x", params={"n": computed("n + 1")})
    return Driver(workflow(while_("l", "n < 3", {"n": number(0)}, body)), runtime=scripted(x=script))


def test_a_while_on_its_way() -> None:
    driver = counting(FOREVER).start().run(0)
    report(driver, 1)
    found = while_of(driver)
    assert (found.first_iteration, found.last_iteration, found.last_status) == (1, 2, I.IN_PROGRESS)
    assert found.rollup is not None
    assert found.rollup.total_leaf_count == 1
    assert found.last_overview is not None
    assert found.last_overview.total_step_count == 1
    assert found.last_overview.step_overview[S.STARTING].cnt == 1


def test_a_while_that_has_ended() -> None:
    driver = counting("DONE").finish()
    found = while_of(driver)
    assert (found.last_iteration, found.last_status, found.last_overview) == (3, I.SUCCEEDED, None)
    bad = counting(FOREVER).start().run(0)
    report(bad, 1)
    report(bad, 2, ResultState.FATAL_ERROR)
    assert (while_of(bad).last_iteration, while_of(bad).last_status) == (2, I.FAILED)


def test_a_while_that_never_went_round() -> None:
    driver = Driver(workflow(while_("l", "n < 0", {"n": number(0)}, step("x")))).finish()
    found = while_of(driver)
    assert (found.first_iteration, found.last_iteration, found.last_status) == (1, 0, None)


def test_a_restarted_while_goes_on_where_it_was() -> None:
    driver = counting("DONE").finish()
    loop = loop_of(driver, "l")
    loop.again = ((2, 3),)
    assert while_of(driver).first_iteration == 2


def test_a_while_counts_the_last_iteration_apart_once_it_has_ended() -> None:
    bad = counting(FOREVER).start().run(0)
    report(bad, 1)
    report(bad, 2, ResultState.FATAL_ERROR)
    loop, names = loop_of(bad, "l"), Rollup()
    key = next(run.key for run in bad.iterations("l") if run.key.instance_id == 2)
    names.add(Leaf.of(*key, "x", 1), S.FATALLY_FAILED)
    last = Round(2, 1, RunStatus.FAILED, names)
    found = while_artifact(bad.flow, bad.attempt("l"), loop, last).rollup
    assert found is not None
    assert {status: count.cnt for status, count in found.overview.items()} == {S.SUCCEEDED: 1}
    assert found.total_leaf_count == 1


def test_a_while_names_what_failed_before_its_last_iteration() -> None:
    driver = counting("DONE").finish()
    loop, done = loop_of(driver, "l"), Rollup.counted({S.SUCCEEDED: 1})
    loop.leaves = {S.SUCCEEDED: 2, S.COMPLETED_WITH_ERROR: 1}
    loop.named = (NamedLeaf(2, S.COMPLETED_WITH_ERROR, "loop:1", "2:x:1"),)
    last = Round(3, 1, RunStatus.SUCCEEDED, done)
    found = while_artifact(driver.flow, driver.attempt("l"), loop, last).rollup
    assert found is not None
    assert found.total_leaf_count == 2
    assert found.overview[S.COMPLETED_WITH_ERROR].ref == {"loop:1": ["2:x:1"]}
