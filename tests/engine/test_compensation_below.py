"""What succeeded below a step is undone, too: in loops, in batches and in children."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.crashing import Death, Mortal
from tests.engine.driver import FOREVER, Driver, Script, Work
from tests.engine.restarting import restarted
from tests.engine.shapes import computed, foreach, noop, number, numbers, step, subworkflow, while_, workflow

from stretto.engine.effects import StartWork
from stretto.engine.events import Faulted, ResultState, RunAction
from stretto.engine.flow import UNDO
from stretto.engine.records import Compensation, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode, TemplateStep, TypedStep
from stretto.model.workflow import Workflow

LAST = "return params.getFromStep('{name}', 'v') * 10 + i;"


def paid(*after: str, name: str = "pay", **fields: Any) -> TypedStep:
    """A step in a loop over `i`, whose undo reads what it left, and `i`."""
    back = step(f"undo_{name}", params={"v": computed(LAST.format(name=name))})
    return step(name, *after, compensation=back, params={"v": computed("return i;")}, **fields)


class Works:
    """What was done, in order: the step, and the value that it had."""

    def __init__(self, **bad: Any) -> None:
        self.done: list[tuple[str, Any]] = []
        self.bad = bad

    def __call__(self, effect: StartWork) -> Work:
        value = effect.params["v"].evaluated_result if "v" in effect.params else None
        self.done.append((effect.attempt.step_id, value))
        bad = self.bad.get(effect.attempt.step_id)
        if bad is None:
            return Work()
        if isinstance(bad, Work):
            return bad
        return Work(ResultState.FATAL_ERROR) if bad is True or bad == value else Work()

    def of(self, step_id: str) -> list[Any]:
        return [value for name, value in self.done if name == step_id]


def compensation(driver: Driver) -> tuple[str, Compensation | None]:
    return driver.status, driver.flow.run.compensation


def test_the_iterations_of_a_loop_are_undone_the_newest_first_in_pages() -> None:
    works = Works(end=True)
    loop = foreach("l", {"i": numbers(1, 2, 3, 4, 5)}, paid(), after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).finish()
    assert works.of("undo_pay") == [55, 44, 33, 22, 11]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)
    assert driver.flow.run.undone == {"l": 2}
    pages = [key[2] for key in driver.fetches if isinstance(key, tuple) and key[0] == "undo"]
    assert pages == [0, 4, 2]


def test_as_many_iterations_are_undone_at_once_as_may_run_at_once() -> None:
    works = Works(end=True, undo_pay=Work("DONE", 1_000))
    loop = foreach("l", {"i": numbers(1, 2, 3, 4, 5)}, paid(), after=("end",), concurrency=2)
    driver = Driver(workflow(loop, step("end")), runtime=works).start().run(0)
    assert works.of("undo_pay") == [55, 44]
    assert driver.run().flow.run.compensation is Compensation.COMPENSATED
    assert sorted(works.of("undo_pay")) == [11, 22, 33, 44, 55]


def test_of_a_loop_that_failed_the_iterations_that_succeeded_are_undone_once() -> None:
    works = Works(check=3)
    inner = (paid("check"), step("check", params={"v": computed("return i;")}))
    loop = foreach("l", {"i": numbers(1, 2, 3, 4)}, *inner, concurrency=1)
    driver = Driver(workflow(loop), runtime=works).finish()
    assert works.of("undo_pay") == [33, 22, 11]  # the third undoes itself, the fourth never began
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


def test_iterations_that_were_stopped_with_their_loop_are_undone_with_it() -> None:
    def play(effect: StartWork) -> Work:
        works(effect)
        if effect.attempt.step_id == "check":
            third = effect.params["v"].evaluated_result == 3
            return Work("FATAL_ERROR", 1_000) if third else FOREVER
        return Work()

    works = Works()
    inner = (paid("check"), step("check", params={"v": computed("return i;")}))
    loop = foreach(
        "l", {"i": numbers(1, 2, 3)}, *inner, concurrency=3, failure_mode=FailureMode.FAIL_IMMEDIATELY
    )
    driver = Driver(workflow(loop), runtime=play).finish()
    assert sorted(works.of("undo_pay")) == [11, 22, 33]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


def test_a_loop_in_which_nothing_can_be_undone_is_not_looked_at() -> None:
    loop = foreach("l", {"i": numbers(1, 2)}, step("a"), after=("end",))
    driver = Driver(workflow(loop, step("end")), runtime=Works(end=True)).finish()
    assert compensation(driver) == ("FAILED", None)
    assert not driver.fetches


def test_loops_in_loops_and_whiles_are_undone_in_reverse() -> None:
    works = Works(end=True)
    count = noop("count", params={"k": computed("k + 1")})
    rounds = while_("w", "k < 2", {"k": number(0)}, paid("count"), count)
    loop = foreach("l", {"i": numbers(1, 2)}, rounds, after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).finish()
    assert works.of("undo_pay") == [22, 22, 11, 11]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


def test_an_iteration_that_can_not_be_undone_keeps_no_other_from_being_undone() -> None:
    works = Works(end=True, undo_pay=22)
    loop = foreach("l", {"i": numbers(1, 2, 3)}, paid(), after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).finish()
    assert works.of("undo_pay") == [33, 22, 11]
    assert compensation(driver) == ("FAILED", Compensation.FAILED)
    assert driver.lines()[-2] == (
        "Step [l] is not undone: its undo [l] ended FATALLY_FAILED: 1 of 3 iterations could not be undone"
    )


def test_a_pause_holds_the_iterations_that_are_not_yet_being_undone() -> None:
    works = Works(end=True, undo_pay=Work("DONE", 100))
    loop = foreach("l", {"i": numbers(1, 2, 3, 4)}, paid(), after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).start().run(0)
    driver.act(RunAction.PAUSE).run(1_000)
    assert works.of("undo_pay") == [44]
    driver.act(RunAction.RESUME).run()
    assert works.of("undo_pay") == [44, 33, 22, 11]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


def test_a_decision_undoes_no_more_iterations_than_fit_into_a_commit() -> None:
    works = Works(end=True)
    loop = foreach("l", {"i": numbers(*range(8))}, paid(), after=("end",), concurrency=8)
    settings = EngineSettings(records_per_decision=3)
    driver = Driver(workflow(loop, step("end")), runtime=works, settings=settings).finish()
    assert len(works.of("undo_pay")) == 8
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


def test_the_undo_of_a_loop_can_be_killed() -> None:
    works = Works(end=True, undo_pay=FOREVER)
    loop = foreach("l", {"i": numbers(1, 2, 3)}, paid(), after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).start().run(0)
    driver.act(RunAction.KILL).run(0)
    assert works.of("undo_pay") == [33]
    assert compensation(driver) == ("FAILED", Compensation.FAILED)


def test_an_iteration_whose_step_was_passed_over_has_nothing_to_undo() -> None:
    works = Works(end=True)
    inner = (step("check", ("pay", "i > 1"), ("free", "i > 0"), params={"v": computed("return i;")}), paid())
    loop = foreach("l", {"i": numbers(1, 2)}, *inner, step("free"), after=("end",), concurrency=1)
    driver = Driver(workflow(loop, step("end")), runtime=works).finish()
    assert works.of("undo_pay") == [22]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)


# -------------------------------------------------------------------------------------------------- batches
def added(tolerance: float = 0.0, *, bad: str | None = None) -> tuple[Workflow, Script, Works]:
    parts = tuple(step(name, compensation=step(f"undo_{name}")) for name in ("x", "y", "z"))
    works = Works(end=True, **({} if bad is None else {bad: True}))

    def play(effect: StartWork) -> Work:
        work = works(effect)
        return Work(added=parts, tolerance=tolerance) if effect.attempt.step_id == "a" else work

    steps = (step("a", "end", compensation=step("undo_a")), step("end"))
    return workflow(*steps), play, works


def test_steps_that_were_added_are_undone_before_the_step_that_added_them() -> None:
    definition, play, works = added()
    driver = Driver(definition, runtime=play).finish()
    undone = [name for name, _ in works.done if name.startswith("undo")]
    assert undone[-1] == "undo_a"
    assert sorted(undone) == ["undo_a", "undo_x", "undo_y", "undo_z"]
    assert driver.flow.run.compensation is Compensation.COMPENSATED


def test_a_batch_undoes_itself_only_if_too_much_of_it_failed() -> None:
    definition, play, works = added(0.5, bad="y")
    driver = Driver(definition, runtime=play).start()
    driver.run(0)
    names = [name for name, _ in works.done]
    assert names.index("end") < names.index("undo_x")
    assert sorted(name for name in names if name.startswith("undo")) == ["undo_a", "undo_x", "undo_z"]
    definition, play, works = added(0.1, bad="y")
    Driver(definition, runtime=play).finish()
    names = [name for name, _ in works.done]
    assert "end" not in names
    assert sorted(name for name in names if name.startswith("undo")) == ["undo_x", "undo_z"]


def test_the_steps_of_a_template_are_undone() -> None:
    works = Works(end=True)
    part = workflow(step("x", compensation=step("undo_x")), id="part")
    template = TemplateStep(id="t", sub_type="part", transition=noop("n", "end").transition)
    driver = Driver(workflow(template, step("end")), runtime=works, library={"part": part}).finish()
    assert works.of("undo_x") == [None]
    assert driver.flow.run.compensation is Compensation.COMPENSATED


# ------------------------------------------------------------------------------------------------- children
def family(**bad: Any) -> tuple[Driver, Works]:
    works = Works(**bad)
    child = workflow(foreach("l", {"i": numbers(1, 2)}, paid(), concurrency=1), id="child")
    parent = workflow(subworkflow("s", "child", "end"), step("end"))
    return Driver(parent, runtime=works, library={"child": child}), works


def test_a_child_that_succeeded_is_undone_by_a_run_of_its_own() -> None:
    driver, works = family(end=True)
    driver.finish()
    assert works.of("undo_pay") == [22, 11]
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)
    assert driver.flow.run.undone == {"s": 0}
    first, undo = (driver.world.children[key] for key in sorted(driver.world.children))
    assert undo.flow.run.key == first.flow.run.key._replace(run_id=2)
    assert (undo.flow.run.policy, undo.status, undo.flow.run.undone) == (
        RunPolicy.UNDO,
        "SUCCEEDED",
        {"l": 2},
    )


def test_a_child_that_can_not_be_undone_is_named() -> None:
    driver, works = family(end=True, undo_pay=True)
    driver.finish()
    assert works.of("undo_pay") == [22, 11]
    assert compensation(driver) == ("FAILED", Compensation.FAILED)
    assert driver.lines()[-2] == (
        "Step [s] is not undone: its undo [s] ended FATALLY_FAILED: "
        "the subworkflow run [child][1][2] ended FAILED"
    )


def test_a_child_that_failed_undoes_itself_and_is_left_alone_then() -> None:
    works = Works(b=True)
    child = workflow(step("a", "b", compensation=step("undo_a")), step("b"), id="child")
    parent = workflow(subworkflow("s", "child"))
    driver = Driver(parent, runtime=works, library={"child": child}).finish()
    assert works.of("undo_a") == [None]
    assert compensation(driver) == ("FAILED", None)


def test_the_undo_of_a_child_can_be_killed_with_that_of_its_parent() -> None:
    driver, works = family(end=True, undo_pay=FOREVER)
    driver.start().run(0)
    driver.act(RunAction.KILL).run(0)
    assert works.of("undo_pay") == [22]
    assert compensation(driver) == ("FAILED", Compensation.FAILED)


def test_an_undo_that_can_not_go_on_ends_after_that_of_its_child() -> None:
    driver, works = family(end=True, undo_pay=FOREVER)
    driver.start().run(0)
    (undo,) = driver.flow.children[UNDO].values()
    attempt = driver.attempt("s", undo)
    driver.send(Faulted(attempt=attempt.key, message="a row can not be stored"))
    assert (attempt.status, attempt.ending) == (StepStatus.RUNNING, StepStatus.INTERNALLY_FAILED)
    driver.run(0)
    assert works.of("undo_pay") == [22]
    assert compensation(driver) == ("FAILED", Compensation.FAILED)
    assert all(child.flow.run.status.is_terminal for child in driver.world.children.values())


# ------------------------------------------------------------------------------------------ crashes, restarts
@pytest.mark.parametrize("death", list(Death))
@pytest.mark.parametrize("number", range(1, 25))
def test_a_crash_after_any_decision_changes_nothing(death: Death, number: int) -> None:
    works = Works(end=True)
    child = workflow(foreach("l2", {"i": numbers(1, 2)}, paid(name="send"), concurrency=1), id="child")
    loop = foreach("l", {"i": numbers(1, 2, 3)}, paid("s"), subworkflow("s", "child"), after=("end",))
    dies: Callable[[int], Death | None] = lambda at: death if at == number else None  # noqa: E731
    driver = Mortal(
        workflow(loop, step("end")), runtime=works, library={"child": child}, dies=dies, check=True
    ).finish()
    assert compensation(driver) == ("FAILED", Compensation.COMPENSATED)
    undone = [run for run in driver.of(RunRecord) if run.policy is RunPolicy.UNDO and run.key.run_id > 1]
    assert [run.undone for run in undone] == [{"s": 0, "pay": 0}] * 3
    assert sorted(set(works.of("undo_pay"))) == [11, 22, 33]


def test_a_restart_runs_what_was_undone_again_and_keeps_the_rest() -> None:
    works = Works(end=True)
    loop = foreach("l", {"i": numbers(1, 2)}, step("keep", "pay"), paid(), after=("end",), concurrency=1)
    steps = (step("free", "l"), loop, step("end"))
    driver = Driver(workflow(*steps), runtime=works).finish()
    works.done.clear()
    works.bad.clear()
    again = restarted(driver, RunPolicy.RESTART_FROM_INCOMPLETE).finish()
    assert again.status == "SUCCEEDED"
    assert [name for name, _ in works.done] == ["pay", "pay", "end"]
    runs = {run.key[1:] for run in again.iterations("l")}
    assert runs == {(1, 3), (2, 3)}  # 2 was the undo of each


@pytest.mark.parametrize("policy", [RunPolicy.RESTART_FROM_BEGINNING, RunPolicy.RESTART_FROM_INCOMPLETE])
@pytest.mark.parametrize("outer", ["foreach", "while"])
def test_a_restart_gives_no_iteration_an_id_that_its_undo_inside_of_another_one_has(
    outer: str, policy: RunPolicy
) -> None:
    """The outer iteration fails, and undoes what succeeded in it: that has the highest run id below it."""
    works = Works(check=2)
    check = step("check", params={"v": computed("return i;")})
    inner = foreach("inner", {"i": numbers(1, 2)}, paid("check"), check, concurrency=1)
    loop = (
        foreach("outer", {"o": numbers(7)}, inner)
        if outer == "foreach"
        else while_("outer", "k < 1", {"k": number(0)}, inner, noop("count", params={"k": computed("k + 1")}))
    )
    driver = Driver(workflow(loop), runtime=works).finish()
    assert works.of("undo_pay") == [22, 11]
    before = {run.key for run in driver.iterations("inner")}
    works.bad.clear()
    again = restarted(driver, policy).finish()
    assert again.status == "SUCCEEDED"
    assert before.isdisjoint(run.key for run in again.iterations("inner"))


def test_a_run_undoes_what_it_has_taken_over_from_a_run_that_was_stopped() -> None:
    works = Works(end=FOREVER)
    steps = (step("a", "end", compensation=step("undo_a")), step("end"))
    driver = Driver(workflow(*steps), runtime=works).start().run(0).act(RunAction.STOP).run()
    assert compensation(driver) == ("STOPPED", None)
    works.bad["end"] = True
    again = restarted(driver, RunPolicy.RESTART_FROM_INCOMPLETE).finish()
    assert [name for name, _ in works.done] == ["a", "end", "end", "undo_a"]
    assert compensation(again) == ("FAILED", Compensation.COMPENSATED)


def test_the_undo_of_a_run_that_an_older_release_has_begun_goes_on() -> None:
    def old(driver: Driver) -> None:
        (undo,) = driver.flow.children[UNDO].values()
        undo.run.policy, undo.run.covers = RunPolicy.START_FRESH_NEW_RUN, None

    works = Works(end=True, undo_a=Work("DONE", 1_000))
    steps = (step("a", "end", compensation=step("undo_a")), step("end"))
    driver = Mortal(workflow(*steps), runtime=works)
    driver.start().run(500)
    old(driver)
    driver._load()
    driver._recover()
    assert driver.run().flow.run.compensation is Compensation.COMPENSATED


def test_what_undoes_the_iterations_of_a_run_that_is_being_ended_can_be_killed() -> None:
    works = Works(check=True, undo_pay=FOREVER)
    inner = (paid("check"), step("check", params={"v": computed("return i;")}))
    driver = Driver(workflow(foreach("l", {"i": numbers(1)}, *inner)), runtime=works).start().run(0)
    driver.act(RunAction.KILL).run(0)
    assert driver.status == "IN_PROGRESS"
    driver.act(RunAction.KILL).run(0)
    assert driver.status == "FAILED"
    assert [run.compensation for run in driver.iterations("l")] == [Compensation.FAILED]
