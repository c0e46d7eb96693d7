"""Foreach: which iterations run, how many at once, and how the step ends."""

import tracemalloc

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.restarting import node_of, restarted
from tests.engine.shapes import ITEMS, computed, foreach, noop, number, numbers, result, step, texts, workflow

from stretto.engine.effects import ResumeLoop, StartWork
from stretto.engine.events import Resumed
from stretto.engine.records import LoopRecord, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode

S = StepStatus


def by_index(works: dict[int, Work], default: Work | None = None):
    """Work that depends on the iteration."""
    return lambda effect: works.get(effect.attempt.run.instance_id, default or Work())


def test_every_combination_runs_once_and_the_first_param_varies_fastest() -> None:
    loop = {"i": numbers(1, 2, 3), "j": texts("a", "b")}
    a = step("a", params={"v": computed("i + j", ParamType.STRING)})
    driver = Driver(workflow(foreach("l", loop, a, params={"own": number(7)}), params={"root": number(1)}))
    driver.finish()
    runs = driver.iterations("l")
    assert [run.params["loop_index"].evaluated_result for run in runs] == [0, 1, 2, 3, 4, 5]
    started = [effect for effect in driver.effects if isinstance(effect, StartWork)]
    assert [effect.params["v"].evaluated_result for effect in started] == ["1a", "2a", "3a", "1b", "2b", "3b"]
    params = runs[0].params
    assert (params["own"].evaluated_result, params["root"].evaluated_result) == (7, 1)
    assert "loop_params" not in params
    assert len(params) == len(list(params)) == len(set(params))
    assert runs[3].key.instance_id == 4
    assert runs[0].key.workflow_id.startswith("maestro_foreach_")


@pytest.mark.parametrize(
    ("own", "instance", "workflow_wide", "most"),
    [(3, None, None, 3), (None, None, None, 20), (100, None, None, 50), (None, 4, None, 4), (9, 4, 2, 2)],
)
def test_so_many_iterations_run_at_once(
    own: int | None, instance: int | None, workflow_wide: int | None, most: int
) -> None:
    loop = foreach("l", {"i": numbers(*range(50))}, step("a", type="Wait"), concurrency=own)
    settings = EngineSettings(step_concurrency=workflow_wide)
    driver = Driver(workflow(loop, instance_step_concurrency=instance), settings=settings).start().run(0)
    assert driver.live("l") == list(range(1, most + 1))


def test_in_strict_order_a_slow_iteration_holds_back_the_others() -> None:
    for strict, launched in ((True, [1, 2, 3]), (False, [1, 8, 9])):
        loop = foreach("l", {"i": numbers(*range(9))}, step("a"), concurrency=3, strict_ordering=strict)
        slow = {1: FOREVER, 8: FOREVER, 9: FOREVER}
        driver = Driver(workflow(loop), runtime=by_index(slow)).start().run(0)
        assert driver.live("l") == (launched if not strict else [1])
        assert len(driver.iterations("l")) == (9 if not strict else 3)


def test_an_empty_loop_is_done_at_once() -> None:
    driver = Driver(workflow(foreach("l", {"i": numbers()}, step("a"), after=("b",)), noop("b"))).finish()
    assert driver.statuses() == {"l": "SUCCEEDED", "b": "SUCCEEDED"}
    assert driver.iterations("l") == []


@pytest.mark.parametrize(
    ("mode", "status", "second"),
    [
        (None, S.FATALLY_FAILED, RunStatus.SUCCEEDED),
        (FailureMode.FAIL_IMMEDIATELY, S.FATALLY_FAILED, RunStatus.STOPPED),
        (FailureMode.IGNORE_FAILURE, S.COMPLETED_WITH_ERROR, RunStatus.SUCCEEDED),
    ],
)
def test_after_a_failed_iteration_none_begins(
    mode: FailureMode | None, status: StepStatus, second: RunStatus
) -> None:
    works = {1: Work("FATAL_ERROR", 1_000), 2: Work("DONE", 5_000)}
    driver = Driver(
        workflow(foreach("l", ITEMS, step("a"), concurrency=2, failure_mode=mode)), runtime=by_index(works)
    )
    driver.finish()
    assert [run.status for run in driver.iterations("l")] == [RunStatus.FAILED, second]
    assert driver.attempt("l").status is status


@pytest.mark.parametrize(
    ("states", "outcome"),
    [
        (("FATAL_ERROR", "TIMED_OUT", "STOPPED"), "FAILED"),
        (("DONE", "TIMED_OUT", "STOPPED"), "TIMED_OUT"),
        (("DONE", "DONE", "STOPPED"), "STOPPED"),
    ],
)
def test_a_loop_ends_like_the_worst_of_its_iterations(states: tuple[str, str, str], outcome: str) -> None:
    works = {index + 1: Work(state) for index, state in enumerate(states)}
    driver = Driver(workflow(foreach("l", {"i": numbers(1, 2, 3)}, step("a"))), runtime=by_index(works))
    assert driver.finish().status == outcome


def test_loops_inside_loops() -> None:
    inner = foreach(
        "inner", {"x": computed("return Util.intsBetween(1, i + 1, 1);", ParamType.LONG_ARRAY)}, step("a")
    )
    driver = Driver(workflow(foreach("outer", {"i": numbers(0, 1, 2)}, inner, step("b")))).finish()
    assert [loop.total for loop in driver.of(LoopRecord)] == [3, 0, 1, 2]
    runs = driver.iterations("inner")
    assert len(runs) == 3
    ancestors = getattr(runs[0].initiator, "ancestors", ())
    assert [each.step_id for each in ancestors] == ["outer", "inner"]
    assert sorted(run.params["i"].evaluated_result for run in runs) == [1, 2, 2]
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("settings", "loop", "reason"),
    [
        (EngineSettings(iterations=4), ITEMS, "over the loop size limit 4"),
        (EngineSettings(depth=1), ITEMS, "is not less than the depth limit: 1"),
        (EngineSettings(), {"i": number(3)}, "must be an array"),
    ],
)
def test_a_loop_that_may_not_be_fails_for_good(
    settings: EngineSettings, loop: dict[str, ParamDefinition], reason: str
) -> None:
    made = foreach("l", loop, step("a"), failure_mode=FailureMode.IGNORE_FAILURE)
    driver = Driver(workflow(made), settings=settings).finish()
    assert driver.attempt("l").status is S.COMPLETED_WITH_ERROR
    assert reason in str(driver.attempt("l").reason)


# --------------------------------------------------------------------------------------------- collecting
def test_a_later_step_reads_what_the_iterations_left() -> None:
    a = step("a", params={"v": number(0)})
    read = computed("return params.getFromForeach('l', 'a', 'v');", ParamType.LONG_ARRAY)
    runtime = lambda effect: Work(outputs={"v": result(effect.attempt.run.instance_id * 10)})  # noqa: E731
    b = step("b", params={"all": read}, type="NoOp")
    driver = Driver(workflow(foreach("l", ITEMS, a, after=("b",)), b), runtime=runtime).finish()
    assert list(driver.value("b", "all")) == [10, 20, 30, 40, 50]
    assert driver.fetches == [("foreach", "l", 1, "a", "v")]


# ----------------------------------------------------------------------------------------------- restarting
def test_a_restarted_loop_keeps_what_succeeded() -> None:
    works = {2: Work("FATAL_ERROR"), 4: Work("FATAL_ERROR")}
    first = Driver(workflow(foreach("l", ITEMS, step("a"))), runtime=by_index(works)).finish()
    again = restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    assert [run.key[1:] for run in again.of(RunRecord) if run.key.workflow_id != "w"] == [(2, 2), (4, 2)]
    assert again.status == "SUCCEEDED"


def test_failures_that_an_earlier_run_left_do_not_keep_the_chosen_iteration_from_running() -> None:
    works = {2: Work("FATAL_ERROR"), 4: Work("FATAL_ERROR")}
    first = Driver(workflow(foreach("l", ITEMS, step("a"))), runtime=by_index(works)).finish()
    path = (node_of(first, "l", 4),)
    again = restarted(first, RunPolicy.RESTART_FROM_SPECIFIC, "l", path=path)
    again.runtime = scripted()
    again.finish()
    assert [run.key[1:] for run in again.of(RunRecord) if run.key.workflow_id != "w"] == [(4, 3)]
    assert again.status == "FAILED"  # the second is still what it was


def test_a_loop_restarted_by_hand_keeps_what_succeeded_and_uses_new_run_ids() -> None:
    works = {2: Work("FATAL_ERROR")}
    steps = (foreach("l", ITEMS, step("a")), step("open", type="Wait"))
    driver = Driver(workflow(*steps), runtime=by_index(works)).start().run(0)
    assert driver.attempt("l").status is S.FATALLY_FAILED
    driver.runtime = scripted()
    driver.step("l", StepAction.RESTART).run(0)
    assert driver.attempt("l").status is S.SUCCEEDED
    assert [run.key[1:] for run in driver.iterations("l")] == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (5, 1)]
    assert driver.attempt("l").loop_run == 2


# ----------------------------------------------------------------------------------------------------- size
def test_a_long_loop_commits_in_parts() -> None:
    settings = EngineSettings(records_per_decision=10)
    driver = Driver(workflow(foreach("l", {"i": numbers(*range(40))}, noop("a"))), settings=settings).finish()
    assert driver.status == "SUCCEEDED"
    assert driver.decisions > 4
    assert (
        len([effect for effect in driver.effects if isinstance(effect, ResumeLoop)]) >= driver.decisions - 1
    )
    driver = Driver(workflow(foreach("l", ITEMS, step("a"))), runtime=scripted(a=[FOREVER])).start()
    assert not driver.send(Resumed(attempt=driver.attempt("l").key._replace(number=9))).changes


def test_memory_does_not_grow_with_the_number_of_iterations() -> None:
    def peak(count: int) -> int:
        loop = {"i": computed(f"return Util.intsBetween(0, {count}, 1);", ParamType.LONG_ARRAY)}
        driver = Driver(workflow(foreach("l", loop, noop("a"))), check=False)
        driver.records = Forgetful()
        driver.effects = Forgetful2()
        driver.start()
        tracemalloc.start()
        driver.run()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert driver.status == "SUCCEEDED"
        return most

    assert peak(5_000) < 1.2 * peak(2_000)


class Forgetful(dict):  # type: ignore[type-arg]
    def __setitem__(self, key: object, value: object) -> None:
        pass


class Forgetful2(list):  # type: ignore[type-arg]
    def append(self, value: object) -> None:
        pass
