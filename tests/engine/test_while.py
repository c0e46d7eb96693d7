"""While: round after round, as long as its condition holds, with values that travel along."""

import pytest
from tests.engine.crashing import Death, Mortal
from tests.engine.driver import Driver, Work, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import UNIQUE, computed, noop, number, result, step, while_, workflow

from stretto.engine.records import LoopRecord, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus

S = StepStatus
COUNT = step("count", params={"n": computed("n + 1")}, type="NoOp")


def counting(to: int, **more: object) -> Driver:
    made = while_("l", f"n < {to}", {"n": number(0)}, COUNT, after=("b",), **more)
    return Driver(workflow(made, noop("b")))


def values(driver: Driver) -> list[int]:
    """The loop param before each round, and after the last."""
    runs = [run.params["n"].evaluated_result for run in driver.iterations("l")]
    return [*runs, driver.of(LoopRecord)[-1].carried["n"].evaluated_result]


def test_a_value_travels_from_round_to_round() -> None:
    driver = counting(4).finish()
    assert driver.status == "SUCCEEDED"
    assert values(driver) == [0, 1, 2, 3, 4]
    run = driver.iterations("l")[2]
    assert (run.params["loop_index"].evaluated_result, run.params["condition"].evaluated_result) == (2, True)
    assert run.key.workflow_id.startswith("maestro_while_")


def test_a_condition_that_is_false_at_once_means_no_round() -> None:
    driver = counting(0).finish()
    assert driver.statuses() == {"l": "SUCCEEDED", "b": "SUCCEEDED"}
    assert driver.iterations("l") == []


def test_the_last_step_with_the_name_wins_and_others_change_nothing() -> None:
    steps = (
        step("a", "b", params={"n": computed("n + 1")}),
        step("b", params={"n": number(0)}),
        step("c", params={"x": number(5)}),
    )
    made = while_("l", "n < 30", {"n": number(0), "x": number(1)}, *steps)
    runtime = scripted(b=[Work(outputs={"n": result(30)})])
    driver = Driver(workflow(made), runtime=runtime).finish()
    assert driver.of(LoopRecord)[-1].carried["n"].evaluated_result == 30
    assert len(driver.iterations("l")) == 1


@pytest.mark.parametrize(
    ("settings", "most", "limit"),
    [(EngineSettings(iterations=3), None, 3), (EngineSettings(), 2, 2), (EngineSettings(iterations=3), 9, 3)],
)
def test_more_rounds_than_it_may_make_are_an_error(
    settings: EngineSettings, most: int | None, limit: int
) -> None:
    driver = Driver(
        workflow(while_("l", "true", {"n": number(0)}, COUNT, max_iterations=most)), settings=settings
    )
    driver.finish()
    assert driver.attempt("l").status is S.FATALLY_FAILED
    assert f"over the loop size limit {limit}" in str(driver.attempt("l").reason)
    assert len(driver.iterations("l")) == limit


def test_a_condition_that_can_not_be_evaluated_is_an_error() -> None:
    driver = Driver(workflow(while_("l", "nobody > 1", {"n": number(0)}, COUNT))).finish()
    assert driver.attempt("l").status is S.FATALLY_FAILED
    deep = Driver(workflow(while_("l", "true", {"n": number(0)}, COUNT)), settings=EngineSettings(depth=1))
    assert "depth limit" in str(deep.finish().attempt("l").reason)


def test_a_condition_may_have_to_wait_for_a_value() -> None:
    driver = Driver(workflow(while_("l", "n < params.nextUniqueId() - 4709", {"n": number(0)}, COUNT)))
    assert driver.finish().status == "SUCCEEDED"
    assert values(driver) == [0, 1, 2]
    assert driver.fetches
    assert UNIQUE.expression


@pytest.mark.parametrize("state", ["FATAL_ERROR", "STOPPED", "TIMED_OUT"])
def test_a_round_that_ends_badly_ends_the_loop(state: str) -> None:
    body = (step("a", params={"n": computed("n + 1")}),)
    driver = Driver(
        workflow(while_("l", "n < 9", {"n": number(0)}, *body)),
        runtime=lambda e: Work(state if e.attempt.run.instance_id == 2 else "DONE"),
    )
    driver.finish()
    assert driver.status == {"FATAL_ERROR": "FAILED"}.get(state, state)
    assert len(driver.iterations("l")) == 2
    assert values(driver)[-1] == 1  # what a bad round made of it does not count


def test_a_restart_goes_on_with_the_round_that_failed() -> None:
    body = (step("a", params={"n": computed("n + 1")}),)
    fail = lambda e: Work("FATAL_ERROR" if e.attempt.run[1:] == (3, 1) else "DONE")  # noqa: E731
    first = Driver(workflow(while_("l", "n < 5", {"n": number(0)}, *body)), runtime=fail).finish()
    again = restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE).finish()
    runs = [run for run in again.of(RunRecord) if run.key.workflow_id != "w"]
    assert [(*run.key[1:], run.params["n"].evaluated_result) for run in runs] == [
        (3, 2, 2),
        (4, 2, 3),
        (5, 2, 4),
    ]
    assert again.status == "SUCCEEDED"


def test_restarted_by_hand_it_goes_on_with_new_run_ids() -> None:
    body = (step("a", params={"n": computed("n + 1")}),)
    fail = lambda e: Work("FATAL_ERROR" if e.attempt.run[1:] == (2, 1) else "DONE")  # noqa: E731
    steps = (while_("l", "n < 2", {"n": number(0)}, *body), step("open", type="Wait"))
    driver = Driver(workflow(*steps), runtime=fail).start().run(0)
    driver.step("l", StepAction.RESTART).run(0)
    assert driver.attempt("l").status is S.SUCCEEDED
    assert [run.key[1:] for run in driver.iterations("l")] == [(1, 1), (2, 1), (2, 2)]


END = step("end", params={"n": computed("l__n"), "m": computed("params.getFromStep('l', 'n') * 10")})


def left(driver: Driver) -> tuple[int, int]:
    """What a step behind the loop has read of it."""
    params = driver.attempt("end").params or {}
    return params["n"].evaluated_result, params["m"].evaluated_result


@pytest.mark.parametrize("to", [0, 3])
def test_what_the_last_round_left_can_be_read_from_the_step(to: int) -> None:
    made = while_("l", f"n < {to}", {"n": number(0)}, COUNT, after=("end",))
    assert left(Driver(workflow(made, END)).finish()) == (to, 10 * to)


@pytest.mark.parametrize("death", list(Death))
def test_it_can_be_read_after_a_crash(death: Death) -> None:
    made = while_("l", "n < 3", {"n": number(0)}, step("a", params={"n": computed("n + 1")}), after=("end",))
    driver = Mortal(workflow(made, END), dies=lambda _: death)
    assert left(driver.finish()) == (3, 30)


def test_it_can_be_read_after_a_restart() -> None:
    body = (step("a", params={"n": computed("n + 1")}),)
    fail = lambda e: Work("FATAL_ERROR" if e.attempt.run[1:] == (2, 1) else "DONE")  # noqa: E731
    steps = (while_("l", "n < 4", {"n": number(0)}, *body, after=("end",)), END)
    first = Driver(workflow(*steps), runtime=fail).finish()
    assert "n" not in (first.attempt("l").params or {})  # it did not end well
    assert left(restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE).finish()) == (4, 40)


def test_a_step_that_runs_again_reads_what_an_earlier_run_of_the_loop_left() -> None:
    made = while_("l", "n < 3", {"n": number(0)}, COUNT, after=("end",))
    fail = lambda e: Work("FATAL_ERROR" if e.attempt.run.run_id == 1 else "DONE")  # noqa: E731
    first = Driver(workflow(made, END), runtime=fail).finish()
    again = restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE).finish()
    assert again.statuses() == {"end": "SUCCEEDED"}
    assert left(again) == (3, 30)


def test_a_long_loop_commits_in_parts() -> None:
    made = while_("l", "n < 60", {"n": number(0)}, COUNT)
    driver = Driver(workflow(made), settings=EngineSettings(records_per_decision=10)).finish()
    assert len(driver.iterations("l")) == 60
    assert driver.decisions > 5


def test_stopping_a_loop_stops_its_round() -> None:
    body = (step("a", type="Wait"),)
    driver = Driver(workflow(while_("l", "true", {"n": number(0)}, *body), noop("b"))).start().run(0)
    driver.step("l", StepAction.STOP).run()
    assert driver.statuses() == {"l": "STOPPED", "b": "SUCCEEDED"}
    assert driver.iterations("l")[0].status == "STOPPED"
