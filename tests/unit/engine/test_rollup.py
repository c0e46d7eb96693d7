"""Leaf steps by status, and the names of those that need attention."""

import pytest

from stretto.engine.rollup import Leaf, Rollup, rollup_of_children, rollup_of_earlier_runs
from stretto.model.aggregated import StepAggregatedView
from stretto.model.artifact import (
    Artifacts,
    DefaultArtifact,
    ForeachArtifact,
    SubworkflowArtifact,
    WhileArtifact,
)
from stretto.model.errors import Internal
from stretto.model.foreach import ForeachOverview
from stretto.model.rollup import RollupCount, RollupOverview, RuntimeOverview
from stretto.model.status import StepStatus as S

ONE = Leaf.of("wf", 1, 2, "one", 3)
TWO = Leaf.of("wf", 1, 2, "two", 1)


def rollup(*leaves: tuple[Leaf, S]) -> Rollup:
    made = Rollup()
    for leaf, status in leaves:
        made.add(leaf, status)
    return made


def test_leaves_are_counted_and_named_where_it_matters() -> None:
    made = rollup((ONE, S.RUNNING), (TWO, S.SUCCEEDED))
    assert made.record() == RollupOverview(
        total_leaf_count=2,
        overview={
            S.RUNNING: RollupCount(cnt=1, ref={"wf:2": ["1:one:3"]}),
            S.SUCCEEDED: RollupCount(cnt=1),
        },
    )


def test_a_move_forgets_where_the_leaf_was() -> None:
    made = rollup((ONE, S.RUNNING), (TWO, S.RUNNING))
    made.move(ONE, S.RUNNING, S.SUCCEEDED)
    assert made == rollup((ONE, S.SUCCEEDED), (TWO, S.RUNNING))
    made.move(TWO, S.RUNNING, S.FATALLY_FAILED)
    made.remove(ONE, S.SUCCEEDED)
    assert made == rollup((TWO, S.FATALLY_FAILED))
    assert made.counts == {S.FATALLY_FAILED: 1}
    assert made != made.record()


def test_trees_join_and_leave() -> None:
    mine = rollup((ONE, S.RUNNING))
    theirs = rollup((TWO, S.RUNNING), (Leaf.of("x", 1, 1, "y", 1), S.SUCCEEDED))
    both = Rollup().merge(mine).merge(theirs)
    assert (both.total, both.counts) == (3, {S.RUNNING: 2, S.SUCCEEDED: 1})
    assert both.subtract(theirs) == mine
    assert both.subtract(mine) == Rollup()


def test_the_order_in_which_leaves_came_does_not_show() -> None:
    assert rollup((ONE, S.RUNNING), (TWO, S.RUNNING)) == rollup((TWO, S.RUNNING), (ONE, S.RUNNING))


def test_what_is_not_there_can_not_leave() -> None:
    made = rollup((ONE, S.RUNNING))
    with pytest.raises(Internal, match="no leaf step in status SUCCEEDED"):
        made.move(ONE, S.SUCCEEDED, S.RUNNING)
    with pytest.raises(Internal, match="with 2 steps RUNNING is not part of this one"):
        made.subtract(rollup((ONE, S.RUNNING), (TWO, S.RUNNING)))
    assert made == rollup((ONE, S.RUNNING))


def test_a_name_that_was_lost_does_no_harm() -> None:
    bare = Rollup.of(RollupOverview(total_leaf_count=1, overview={S.RUNNING: RollupCount(cnt=1)}))
    bare.move(ONE, S.RUNNING, S.SUCCEEDED)
    assert bare == rollup((ONE, S.SUCCEEDED))


def test_the_record_and_back() -> None:
    made = rollup((ONE, S.RUNNING), (TWO, S.RUNNING), (TWO, S.STOPPED))
    assert Rollup.of(made.record()) == made
    assert Rollup.of(None) == Rollup()


# ------------------------------------------------------------ loops and subworkflows
LEAVES = rollup((ONE, S.SUCCEEDED))
RECORD = LEAVES.record()


@pytest.mark.parametrize(
    ("artifact", "stands_for_it"),
    [
        (DefaultArtifact(), None),
        (SubworkflowArtifact(subworkflow_id="w"), None),
        (
            SubworkflowArtifact(
                subworkflow_id="w", subworkflow_overview=RuntimeOverview(rollup_overview=RECORD)
            ),
            LEAVES,
        ),
        (WhileArtifact(loop_workflow_id="w", first_iteration=1, rollup=RECORD), None),
        (WhileArtifact(loop_workflow_id="w", first_iteration=1, last_iteration=1, rollup=RECORD), LEAVES),
        (
            WhileArtifact(loop_workflow_id="w", last_overview=RuntimeOverview(rollup_overview=RECORD)),
            LEAVES,
        ),
        (ForeachArtifact(foreach_workflow_id="w"), None),
        (ForeachArtifact(foreach_workflow_id="w", foreach_overview=ForeachOverview()), None),
        (
            ForeachArtifact(
                foreach_workflow_id="w",
                foreach_overview=ForeachOverview(rollup=RECORD, running_rollup=Rollup().record()),
            ),
            LEAVES,
        ),
    ],
)
def test_children_stand_for_their_step_once_there_are_any(
    artifact: SubworkflowArtifact, stands_for_it: Rollup | None
) -> None:
    artifacts: Artifacts = {"key": artifact}
    assert rollup_of_children(artifacts) == stands_for_it


def test_a_plain_step_has_no_children() -> None:
    assert rollup_of_children({}) is None


def test_earlier_runs_add_the_steps_that_this_one_leaves_alone() -> None:
    views = {
        "done": StepAggregatedView(workflow_run_id=1, status=S.SUCCEEDED),
        "bad": StepAggregatedView(workflow_run_id=2, status=S.FATALLY_FAILED),
        "again": StepAggregatedView(workflow_run_id=2, status=S.FATALLY_FAILED),
        "loop": StepAggregatedView(workflow_run_id=1, status=S.SUCCEEDED),
        "never": StepAggregatedView(),
    }
    base = rollup_of_earlier_runs("wf", 7, views, {"again"}, {"loop": LEAVES})
    assert base == rollup(
        (ONE, S.SUCCEEDED),
        (Leaf.of("wf", 7, 1, "done", 0), S.SUCCEEDED),
        (Leaf.of("wf", 7, 2, "bad", 0), S.FATALLY_FAILED),
    )
