"""`compensate=` wherever a step can stand: in maps, loops, subworkflows and added steps; on every bad end."""

from collections import Counter
from typing import Any

import pytest

from stretto.actions.reading.instance_view import instance_view
from stretto.actions.reading.why import why_run, why_step
from stretto.engine.inline_ids import Loop
from stretto.engine.records import Compensation, RunKey
from stretto.flow import TraceError, foreach, step, subworkflow, workflow
from stretto.model.retry import RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.step import TemplateStep
from stretto.ports.paging import Cut
from stretto.ports.runtime import UserError
from stretto.runtimes.python import StepContext
from stretto.store.memory.run_rows import delete_run
from stretto.testing import shapes
from stretto.testing.harness import Harness, crash_everywhere
from stretto.testing.viewing import Run

DONE: list[tuple[str, Any]] = []


@step
def cancel(seat: int, booked: str) -> None:
    DONE.append(("cancel", (seat, booked)))


@step(compensate=cancel)
def book(seat: int) -> str:
    DONE.append(("book", seat))
    return f"seat {seat}"


@step(retries=0)
def charge(n: int) -> int:
    DONE.append(("charge", n))
    if n < 0:
        message = "no money"
        raise ValueError(message)
    return n


@workflow
def mapped(seats: list[int], n: int) -> int:
    booked = book.map(seats)
    return charge.after(booked)(n)


@workflow
def in_order(n: int) -> int:
    with foreach([1, 2, 3], concurrency=1) as seat:
        booked = book(seat)
    return charge.after(booked)(n)


@workflow(id="booking")
def booking(seat: int) -> None:
    with foreach([seat, seat + 1]) as each:
        book(each)


@workflow
def nested(n: int) -> int:
    with foreach([10, 20]) as seat:
        done = subworkflow(booking)(seat)
    return charge.after(done)(n)


@workflow
def family(n: int) -> int:
    done = subworkflow(booking)(10)
    return charge.after(done)(n)


@workflow(undo_on_stop=True, timeout="1 hour")
def stoppable(n: int) -> int:
    done = subworkflow(booking)(10)
    booked = book(30)
    return charge.after(done, booked)(n)


def undone() -> list[Any]:
    return [what for name, what in DONE if name == "cancel"]


def compensation_of(harness: Harness, run: Run) -> tuple[str, Compensation | None]:
    row = harness.ask(harness.store.run(run.key))
    assert row is not None
    return run.status, row.record.compensation


def play(harness: Harness, flow: Any, **params: Any) -> Run:
    DONE.clear()
    run = harness.start(flow, params)
    harness.finish(run)
    return run


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


def runs_of(harness: Harness, workflow_id: str, instance: int) -> list[Any]:
    page = harness.ask(harness.store.runs_of(workflow_id, instance, Cut()))
    return [row.record for row in reversed(page.elements)]


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


@pytest.mark.parametrize("ends", ["stop", "kill", "time out"])
def test_a_run_that_is_stopped_killed_or_times_out_is_undone(ends: str) -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("charge")
        run = harness.start(stoppable, {"n": 1})
        if ends == "time out":
            harness.advance(hours=2)
        else:
            getattr(run, ends)()
        harness.finish(run)
        assert sorted(undone()) == [(10, "seat 10"), (11, "seat 11"), (30, "seat 30")]
        status = {"stop": "STOPPED", "kill": "FAILED", "time out": "TIMED_OUT"}[ends]
        assert compensation_of(harness, run) == (status, Compensation.COMPENSATED)


def test_a_run_that_is_stopped_without_the_option_stays_as_it_is() -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("charge")
        run = harness.start(family, {"n": 1})
        run.stop()
        harness.finish(run)
        assert not undone()
        assert compensation_of(harness, run) == ("STOPPED", None)


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


# -------------------------------------------------------------------------------------------------- sub-steps
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


# --------------------------------------------------------------------------------------------------- refusals
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


def test_undo_on_stop_is_a_switch() -> None:
    assert stoppable.definition.workflow.undo_on_stop is True
    assert family.definition.workflow.undo_on_stop is None

    with pytest.raises(TraceError, match="`undo_on_stop` is 'yes'"):

        @workflow(undo_on_stop="yes")  # type: ignore[call-overload]
        def unclear() -> None:
            charge(1)


# -------------------------------------------------------------------------------------------- what users see
def because(harness: Harness, run: Run, step_id: str | None = None) -> str:
    place = (harness.store, harness.caller, run.key.workflow_id, run.key.instance_id)
    if step_id is None:
        return harness.ask(why_run(*place, str(run.key.run_id))).sentence
    return harness.ask(why_step(*place, step_id, str(run.key.run_id))).sentence


def test_why_says_that_a_run_is_being_undone_and_then_how_it_went() -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("undo_book")
        run = harness.start(mapped, {"seats": [1, 2], "n": -1})
        assert because(harness, run) == (
            "what run [mapped][1][1] did is being undone: step [charge] is FATALLY_FAILED: "
            "ValueError: no money; 0 of 1 undos have ended"
        )
        (undo,) = inline_runs(harness, Loop.COMPENSATION)
        (loop,) = undo.steps
        assert "0 iterations are undone, 2 are being undone" in because(harness, undo, loop)
        first, second = (Run(harness, key) for key in undo_iterations(harness))
        first.step("undo_book").fail("the seat is gone")
        second.step("undo_book").finish()
        harness.finish(run)
        assert because(harness, run).endswith("not all that it did is undone: its timeline says what")
        assert run.timeline[-2] == (
            f"Step [{loop}] is not undone: its undo [{loop}] ended FATALLY_FAILED: "
            "1 of 2 iterations could not be undone"
        )


def inline_runs(harness: Harness, kind: Loop) -> list[Run]:
    db = harness.store._db  # type: ignore[attr-defined]
    return [Run(harness, key) for key in sorted(db.runs) if key.workflow_id.startswith(kind.tag)]


def undo_iterations(harness: Harness) -> list[Any]:
    return [each.key for each in inline_runs(harness, Loop.FOREACH) if each.key.run_id == 2]


def test_why_and_views_of_the_undo_of_a_child() -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("undo_book")
        run = harness.start(family, {"n": -1})
        undo = Run(harness, RunKey("booking", 1, 2))
        (loop,) = undo.steps
        assert "2 are being undone" in because(harness, undo, loop)
        assert because(harness, undo) == "1 step of run [booking][1][2] has not ended"
        (inside,) = inline_runs(harness, Loop.COMPENSATION)
        assert "its subworkflow [booking][1][2] is being undone" in because(harness, inside, "booking")
        for key in undo_iterations(harness):
            Run(harness, key).step("undo_book").finish()
        harness.finish(run)
        assert because(harness, run).endswith("; what it did is undone")
        assert undo.steps == {loop: "SUCCEEDED"}
        assert "ended SUCCEEDED" in because(harness, undo, loop)
        row = harness.ask(harness.store.run(undo.key))
        assert row is not None
        view = harness.ask(instance_view(harness.store, row))
        assert view.run_config is not None
        assert (view.run_config.policy, view.status) == (RunPolicy.UNDO, InstanceStatus.SUCCEEDED)
        assert [each.id for each in view.runtime_workflow.steps] == [loop]  # type: ignore[union-attr]


def test_a_child_that_is_gone_can_not_be_undone_and_the_run_says_so() -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("charge")
        run = harness.start(family, {"n": 1})
        db = harness.store._db  # type: ignore[attr-defined]
        with db.transaction():
            delete_run(db, db.runs[RunKey("booking", 1, 1)])
        run.step("charge").fail()
        harness.finish(run)
        assert "Cannot find workflow instance [booking][1]" in run.timeline[-2]
        assert compensation_of(harness, run) == ("FAILED", Compensation.FAILED)


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
