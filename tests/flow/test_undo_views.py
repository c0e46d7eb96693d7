"""What users see of an undo: `why`, views, and the timeline of the run."""

from typing import Any

from tests.flow.bookings import DONE, compensation_of, family, mapped

from stretto.actions.reading.instance_view import InstanceViews
from stretto.actions.reading.why import why_run, why_step
from stretto.engine.inline_ids import Loop
from stretto.engine.records import Compensation, RunKey
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus
from stretto.ports.run_snapshot import NamedRuns
from stretto.store.memory.run_rows import delete_run
from stretto.testing.harness import Harness
from stretto.testing.viewing import Run


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
        snapshot = harness.ask(harness.store.read_runs(NamedRuns((undo.key,))))
        view = harness.ask(InstanceViews(snapshot).of(snapshot.page.elements[0]))
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
