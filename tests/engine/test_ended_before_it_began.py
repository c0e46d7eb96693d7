"""A run that ends before it has begun undoes nothing: what earlier runs of its instance left stands."""

from collections.abc import Callable

import pytest

from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.workflow import Definition
from stretto.testing.harness import Harness
from stretto.testing.shapes import step, workflow
from stretto.testing.viewing import Run


def definition(rule: RunStrategyRule) -> Definition:
    work = step("a", "b", compensation=step("undo_a"))
    strategy = RunStrategy(rule=rule, workflow_concurrency=1)
    return Definition(
        workflow=workflow(work, step("b"), id="w", undo_on_stop=True),
        properties=Properties(run_strategy=strategy),
    )


def refused(h: Harness, first: Run) -> Run:
    """Another run of the workflow goes on: the strategy drops a restart at once."""
    h.holds("b")
    h.start("w")
    return first.restart(from_beginning=True)


def stopped(h: Harness, first: Run) -> Run:
    """The restart stands in its queue."""
    again = refused(h, first)
    assert again.status == "CREATED"
    again.stop()
    return again


def killed(h: Harness, first: Run) -> Run:
    again = refused(h, first)
    again.kill()
    return again


@pytest.mark.parametrize(
    ("rule", "end", "status"),
    [
        (RunStrategyRule.FIRST_ONLY, refused, "STOPPED"),
        (RunStrategyRule.SEQUENTIAL, stopped, "STOPPED"),
        (RunStrategyRule.SEQUENTIAL, killed, "FAILED"),
    ],
)
def test_what_an_earlier_run_left_stands(
    rule: RunStrategyRule, end: Callable[[Harness, Run], Run], status: str
) -> None:
    with Harness() as h:
        done: list[str] = []
        for name in ("a", "undo_a"):
            h.does(name, lambda work: done.append(work.step_id))
        first = h.start(definition(rule))
        assert first.status == "SUCCEEDED"
        again = end(h, first)
        h.settle()
        assert again.status == status
        assert again.steps == {}
        assert done == ["a", "a"]  # of the first run, and of the other that goes on


def test_a_restart_that_begins_undoes_it() -> None:
    """The same, but the restart is stopped after it has begun."""
    with Harness() as h:
        done: list[str] = []
        for name in ("a", "undo_a"):
            h.does(name, lambda work: done.append(work.step_id))
        first = h.start(definition(RunStrategyRule.SEQUENTIAL))
        h.holds("b")
        first.step("b").restart()
        h.settle()
        rerun = Run(h, first.key._replace(run_id=2))
        assert rerun.status == "IN_PROGRESS"
        rerun.stop()
        h.finish(rerun)
        assert done == ["a", "undo_a"]
