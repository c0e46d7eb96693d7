"""The progress of a foreach: counted as it happens, and where a restart begins."""

import pytest

from stretto.engine.foreach_overview import (
    ForeachProgress,
    allowance,
    base_rollup,
    batches,
    derived_concurrency,
    kept_from,
    restart_action,
    runs_again,
)
from stretto.engine.rollup import Leaf, Rollup
from stretto.model.actions import StepAction
from stretto.model.errors import Internal, InvalidRequest
from stretto.model.foreach import ForeachOverview
from stretto.model.run_config import RestartConfig
from stretto.model.status import InstanceStatus as I
from stretto.model.status import StepStatus as S


def leaves(iteration: int, status: S = S.SUCCEEDED) -> Rollup:
    rollup = Rollup()
    rollup.add(Leaf.of("maestro_foreach_1", iteration, 1, "job", 1), status)
    return rollup


def progress_of(**statuses: list[int]) -> ForeachProgress:
    progress = ForeachProgress()
    for status, iterations in statuses.items():
        for iteration in iterations:
            progress.add(iteration, I(status))
    return progress


def test_an_iteration_from_launch_to_end() -> None:
    progress = ForeachProgress()
    progress.add(1, I.CREATED, leaves(1, S.CREATED))
    progress.move(1, I.CREATED, I.IN_PROGRESS)
    assert (progress.running_stats, progress.stats, progress.checkpoint) == ({I.IN_PROGRESS: 1}, {}, 0)
    assert progress.running_rollup == leaves(1, S.CREATED)
    progress.move(1, I.IN_PROGRESS, I.SUCCEEDED, leaves(1, S.CREATED))
    assert (progress.running_stats, progress.stats, progress.checkpoint) == ({}, {I.SUCCEEDED: 1}, 1)
    assert (progress.running_rollup, progress.rollup) == (Rollup(), leaves(1, S.CREATED))
    assert progress.has(I.SUCCEEDED)
    assert not progress.has(I.IN_PROGRESS)


def test_the_checkpoint_waits_for_the_slowest() -> None:
    progress = progress_of(CREATED=[1, 2, 3, 4])
    progress.move(3, I.CREATED, I.SUCCEEDED)
    progress.move(2, I.CREATED, I.STOPPED)
    assert progress.checkpoint == 0
    progress.move(1, I.CREATED, I.SUCCEEDED)
    assert progress.checkpoint == 3


def test_strict_ordering_counts_everything_behind_the_slowest() -> None:
    progress = progress_of(IN_PROGRESS=[2], CREATED=[6], SUCCEEDED=[1, 3, 4, 5])
    assert progress.running_count() == 2
    assert progress.ordered_count(launched=6) == 5
    assert progress_of(SUCCEEDED=[1]).ordered_count(launched=1) == 0


def test_the_record_and_back() -> None:
    progress = progress_of(CREATED=[2, 3], FAILED=[1])
    progress.rollup.merge(leaves(1))
    progress.running_rollup.merge(leaves(2, S.RUNNING))
    progress.restart(1)
    record = progress.record()
    assert record == ForeachOverview(
        checkpoint=1,
        running_stats={I.CREATED: 3},
        rollup=leaves(1).record(),
        running_rollup=leaves(2, S.RUNNING).record(),
        details={I.CREATED: [(1, 3)]},
        restart_info=[1],
    )
    assert ForeachProgress.of(record).record() == record
    assert ForeachProgress.of(record).overall_rollup() == leaves(1).merge(leaves(2, S.RUNNING))
    assert ForeachProgress().record().running_rollup is None


def test_running_iterations_can_be_counted_again() -> None:
    progress = progress_of(CREATED=[2], SUCCEEDED=[1])
    progress.running_rollup.merge(leaves(2))
    progress.reset_running()
    assert (progress.running_stats, progress.running_rollup) == ({}, Rollup())
    assert progress.details.record() == {I.SUCCEEDED: [(1, 1)]}


def test_an_ended_iteration_starts_again_while_the_others_run() -> None:
    progress = progress_of(SUCCEEDED=[1, 3], FAILED=[2], IN_PROGRESS=[4])
    progress.rollup.merge(leaves(2, S.FATALLY_FAILED))
    assert progress.is_restartable(2)
    progress.restart(2, leaves(2, S.FATALLY_FAILED))
    assert (progress.stats, progress.running_stats) == ({I.SUCCEEDED: 2}, {I.IN_PROGRESS: 1, I.CREATED: 1})
    assert (progress.restarted, progress.rollup) == ({2}, Rollup())
    assert not progress.is_restartable(2)
    progress.move(2, I.CREATED, I.SUCCEEDED)
    assert progress.restarted == set()
    assert progress.is_restartable(2)


@pytest.mark.parametrize("iteration", [4, 99])
def test_what_has_not_ended_does_not_start_again(iteration: int) -> None:
    progress = progress_of(SUCCEEDED=[1], IN_PROGRESS=[4])
    with pytest.raises(InvalidRequest, match=f"non-restartable iteration: {iteration}"):
        progress.restart(iteration)


def test_an_iteration_that_is_restarting_is_not_restarted_again() -> None:
    progress = progress_of(FAILED=[1])
    progress.restarted.add(1)
    with pytest.raises(InvalidRequest, match="non-restartable"):
        progress.restart(1)


def test_counters_do_not_go_below_zero() -> None:
    progress = progress_of(CREATED=[1])
    progress.running_stats = {}
    with pytest.raises(Internal, match="no iteration in status CREATED"):
        progress.move(1, I.CREATED, I.IN_PROGRESS)


# ------------------------------------------------------------ starting again
PREVIOUS = {"SUCCEEDED": [1, 2, 5], "FAILED": [3], "STOPPED": [4], "IN_PROGRESS": [7]}


def test_a_restart_keeps_what_succeeded() -> None:
    previous = progress_of(**PREVIOUS)
    kept = kept_from(previous)
    assert kept.details.record() == {I.SUCCEEDED: [(1, 2), (5, 5)]}
    assert (kept.stats, kept.checkpoint) == ({I.SUCCEEDED: 3}, 2)
    assert sorted(runs_again(previous, kept)) == [3, 4, 7]
    assert [kept.next_to_launch(number) for number in (1, 3, 4, 5)] == [3, 3, 4, 6]


def test_a_restart_of_one_iteration_keeps_all_that_ended() -> None:
    previous = progress_of(**PREVIOUS)
    kept = kept_from(previous, 3)
    assert (kept.stats, kept.checkpoint) == ({I.SUCCEEDED: 3, I.FAILED: 1, I.STOPPED: 1}, 5)
    assert list(runs_again(previous, kept)) == [7]


def test_old_rollups_are_read_in_batches() -> None:
    assert list(batches(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batches([], 2)) == []


def test_what_runs_again_leaves_the_old_rollup() -> None:
    previous = Rollup().merge(leaves(1)).merge(leaves(2))
    assert base_rollup(previous, leaves(2)) == leaves(1)
    assert base_rollup(previous, Rollup()) == previous
    with pytest.raises(Internal, match=r"cannot have less steps \[1\] than .* \[2\]"):
        base_rollup(leaves(1), previous)


def test_the_system_asks_for_the_iteration_at_the_end_of_the_path() -> None:
    action = restart_action(RestartConfig(), 5, now=9)
    assert (action.instance_id, action.instance_run_id, action.create_time) == (5, 0, 9)
    assert (action.action, action.user and action.user.name) == (StepAction.RESTART, "maestro")


def test_how_many_at_once() -> None:
    assert derived_concurrency(None, None, 20) == 20
    assert derived_concurrency(10, 30, 20) == 10
    assert derived_concurrency(None, 30, 20) == 30
    assert allowance(None, 20, 5) == 15
    assert allowance(10, 20, 5) == 5
    assert allowance(50, 20, 5) == 15
    assert allowance(1, 20, 5) == 0
