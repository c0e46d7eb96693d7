"""What is known of a run, from its rows and its change log."""

from tests.unit.cli.running.shown import (
    INLINE,
    KEY,
    applied,
    loop_begun,
    progress_of,
    run_moved,
    run_record,
    step_moved,
)

from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

S, I = StepStatus, InstanceStatus  # noqa: E741 - short names keep the tests readable


def test_steps_are_in_the_order_of_the_definition() -> None:
    progress = progress_of()
    assert list(progress.steps) == ["extract", "each", "load"]
    assert [step.kind for step in progress.steps.values()] == ["Shell", "foreach", "Shell"]
    assert [step.is_loop for step in progress.steps.values()] == [False, True, False]


def test_a_step_from_start_to_end() -> None:
    progress = progress_of()
    (step,) = applied(progress, step_moved("extract", S.WAITING_FOR_PERMITS, 10))
    assert (step.is_busy, step.waits, step.began) == (True, True, None)
    step.reason = "it waits for a permit"
    applied(progress, step_moved("extract", S.RUNNING, 20))
    assert (step.is_busy, step.waits, step.began, step.since) == (True, False, 20, 20)
    assert not step.reason
    step.reason = "said late"
    applied(progress, step_moved("extract", S.SUCCEEDED, 35))
    assert (step.is_busy, step.began, step.ended) == (False, 20, 35)
    assert not step.reason


def test_another_attempt_begins_anew_and_an_old_one_does_not_count() -> None:
    progress = progress_of()
    applied(progress, step_moved("load", S.RUNNING, 1), step_moved("load", S.USER_FAILED, 2))
    step = progress.steps["load"]
    step.reason = "exit code 1"
    assert (step.is_busy, step.waits) == (True, True)
    applied(progress, step_moved("load", S.RUNNING, 9, attempt=2))
    assert (step.attempt, step.began, step.ended) == (2, 9, None)
    assert not step.reason
    assert applied(progress, step_moved("load", S.FATALLY_FAILED, 3)) == []


def test_the_run() -> None:
    progress = progress_of()
    progress.queued = "others are before it"
    applied(progress, run_moved(I.IN_PROGRESS, 5))
    assert (progress.status, progress.began) == (RunStatus.IN_PROGRESS, 5)
    assert not progress.queued
    applied(progress, run_moved(I.PAUSED, 6), run_moved(I.SUCCEEDED, 8))
    assert (progress.began, progress.ended) == (5, 8)


def test_a_loop_counts_its_iterations() -> None:
    progress = progress_of()
    applied(progress, step_moved("each", S.RUNNING, 1))
    loop_begun(progress)
    ends = [I.SUCCEEDED, I.IN_PROGRESS, I.FAILED]
    applied(progress, *(run_moved(each, 2, INLINE, place) for place, each in enumerate(ends)))
    loop = progress.steps["each"].loop
    assert loop is not None
    assert (loop.total, loop.ended, loop.failed) == (4, 2, 1)
    applied(progress, step_moved("each", S.CREATED, 3, attempt=2))
    applied(progress, run_moved(I.SUCCEEDED, 3, INLINE))  # nobody knows yet how long it is now
    assert progress.steps["each"].loop is None


def test_what_is_not_about_this_run_is_passed_over() -> None:
    progress = progress_of()
    events = [run_moved(I.FAILED, 1, "other"), step_moved("none", S.RUNNING, 1), "nonsense"]
    assert [progress.apply(event) for event in events] == [None, None, None]
    assert progress.status is RunStatus.CREATED


def test_rows() -> None:
    progress = progress_of()
    run = run_record()
    run.status, run.start_time = RunStatus.IN_PROGRESS, 4
    records = [
        AttemptRecord(
            key=AttemptKey(KEY, "extract", 2),
            sequence=1,
            status=S.SUCCEEDED,
            create_time=5,
            end_time=9,
        ),
        AttemptRecord(
            key=AttemptKey(KEY, "each", 1),
            sequence=2,
            status=S.SUCCEEDED,
            start_time=6,
            end_time=9,
            loop_total=4,
        ),
        AttemptRecord(key=AttemptKey(KEY, "gone", 1), sequence=3),
    ]
    progress.fill(run, records)
    extract, each, load = progress.steps.values()
    assert (progress.status, progress.began) == (RunStatus.IN_PROGRESS, 4)
    assert (extract.attempt, extract.began, extract.ended) == (2, 5, 9)
    assert each.loop is not None
    assert (each.loop.ended, each.loop.total) == (4, 4)
    assert load.status is S.NOT_CREATED
