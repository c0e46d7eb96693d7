"""`compensate=` wherever a step can stand: in maps, loops, subworkflows and added steps."""

from collections import Counter
from typing import Any

import pytest
from tests.flow.bookings import (
    DONE,
    book,
    booking,
    cancel,
    charge,
    compensation_of,
    family,
    in_order,
    mapped,
    nested,
    play,
    runs_of,
    undone,
)

from stretto.engine.records import Compensation
from stretto.flow import TraceError, step, subworkflow, workflow
from stretto.model.retry import RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.model.step import TemplateStep
from stretto.ports.runtime import UserError
from stretto.runtimes.python import StepContext
from stretto.testing import shapes
from stretto.testing.harness import Harness, crash_everywhere


def test_everything_that_a_map_did_is_undone() -> None:
    with Harness() as harness:
        run = play(harness, mapped, seats=[1, 2, 3], n=-1)
        assert sorted(undone()) == [(1, "seat 1"), (2, "seat 2"), (3, "seat 3")]
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)


def test_a_map_of_many_is_undone_in_pages() -> None:
    with Harness() as harness:
        seats = list(range(120))
        run = play(harness, mapped, seats=seats, n=-1)
        assert sorted(undone()) == [(seat, f"seat {seat}") for seat in seats]
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)


def test_a_child_is_undone_by_a_linked_run_of_its_instance() -> None:
    with Harness() as harness:
        run = play(harness, family, n=-1)
        assert Counter(undone()) == Counter([(10, "seat 10"), (11, "seat 11")])
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)
        first, second = runs_of(harness, "booking", 1)
        assert (first.policy, second.policy) == (RunPolicy.START_FRESH_NEW_RUN, RunPolicy.UNDO)
        assert (first.status, second.status) == (RunStatus.SUCCEEDED, RunStatus.SUCCEEDED)
        assert second.initiator == first.initiator
        assert "Undoes run [booking][1][1]" in getattr(second.timeline[0], "message", "")


def test_children_in_loops_with_loops_in_them_are_undone() -> None:
    with Harness() as harness:
        run = play(harness, nested, n=-1)
        assert sorted(undone()) == [(each, f"seat {each}") for each in (10, 11, 20, 21)]
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)


def test_a_crash_at_any_commit_undoes_everything_once() -> None:
    def scenario(harness: Harness) -> None:
        run = play(harness, family, n=-1)
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)
        assert set(undone()) == {(10, "seat 10"), (11, "seat 11")}
        _, undo, *more = runs_of(harness, "booking", 1)
        assert not more
        assert undo.status is RunStatus.SUCCEEDED

    assert crash_everywhere(scenario) > 10


def test_after_a_restart_what_was_undone_runs_again() -> None:
    with Harness() as harness:
        run = play(harness, family, n=-1)
        DONE.clear()
        harness.fake(charge, returns=7)
        again = run.restart()
        assert harness.finish(again) == "SUCCEEDED"
        assert sorted(what for name, what in DONE if name == "book") == [10, 11]
        assert [record.policy for record in runs_of(harness, "booking", 1)] == [
            RunPolicy.START_FRESH_NEW_RUN,
            RunPolicy.UNDO,
            RunPolicy.RESTART_FROM_INCOMPLETE,
        ]


def test_after_a_restart_the_iterations_that_were_undone_run_again() -> None:
    with Harness() as harness:
        run = play(harness, mapped, seats=[1, 2], n=-1)
        DONE.clear()
        harness.fake(charge, returns=7)
        again = run.restart()
        assert harness.finish(again) == "SUCCEEDED"
        assert sorted(what for name, what in DONE if name == "book") == [1, 2]


@step
def plan(ctx: StepContext, seats: list[int]) -> None:
    for seat in seats:
        ctx.add(book, {"seat": seat}, id=f"book_{seat}")


@workflow
def planned(seats: list[int], n: int) -> int:
    return charge.after(plan(seats=seats))(n)  # type: ignore[call-arg]  # the engine hands in the context


def test_steps_that_a_function_added_are_undone() -> None:
    with Harness() as harness:
        harness.functions.registry.register(book.function, cancel.function)
        run = play(harness, planned, seats=[1, 2], n=-1)
        assert sorted(undone()) == [(1, "seat 1"), (2, "seat 2")]
        assert compensation_of(harness, run) == ("FAILED", Compensation.COMPENSATED)


def test_a_workflow_that_can_be_undone_is_not_started_without_waiting_for_it() -> None:
    @workflow
    def careless(n: int) -> int:
        subworkflow(booking, sync=False)(10)
        return charge(n)

    with pytest.raises(TraceError, match="`booking` has steps that can be undone, such as `book`"):
        _ = careless.definition


@step(compensate=cancel)
def back(seat: int) -> str:
    return f"{seat}"


@step(compensate=back)
def forth(seat: int) -> None:
    assert seat


def test_an_undo_has_no_undo() -> None:
    @workflow
    def circular() -> None:
        forth(1)

    with pytest.raises(TraceError, match="nothing undoes an undo"):
        _ = circular.definition


def test_iterations_that_are_undone_and_were_not_reached_again_still_run_later() -> None:
    """A restart that is stopped before it has run them all, and one after that."""
    with Harness() as harness:
        run = play(harness, in_order, n=-1)
        harness.fake(charge, returns=7)
        harness.holds("book")
        second = run.restart()
        second.stop()
        harness.finish(second)
        del harness.works.doings["book"]
        DONE.clear()
        third = second.restart()
        assert harness.finish(third) == "SUCCEEDED"
        assert sorted(what for name, what in DONE if name == "book") == [1, 2, 3]


def test_a_loop_in_a_template_is_undone() -> None:
    works: list[str] = []

    def note(work: Any) -> Any:
        works.append(work.context.step.id)
        return {}

    inner = shapes.step("x", compensation=shapes.step("undo_x"))
    part = shapes.workflow(shapes.foreach("l", {"i": shapes.numbers(1, 2)}, inner), id="part")
    template = TemplateStep(id="t", sub_type="part", transition=shapes.edges("end"))
    with Harness() as harness:
        harness.publish(part)
        harness.does("Python", note)
        harness.does("end", UserError(message="no"))
        last = shapes.step("end", retry_policy=RetryPolicy(error_retry_limit=0))
        run = harness.start(shapes.workflow(template, last))
        assert harness.finish(run) == "FAILED"
        assert works == ["x", "x", "undo_x", "undo_x"]
