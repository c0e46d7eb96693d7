"""The leaf steps of a run: whatever happens, the counters say what counting all rows again would say."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulation.flows import flows_of, loaded
from tests.engine.crashing import Death, Mortal
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.live_rounds import rounds_of
from tests.engine.lives import LIVES, alive
from tests.engine.shapes import ITEMS, foreach, noop, number, numbers, step, subworkflow, while_, workflow
from tests.engine.test_oracle import scenario

from stretto.engine import live_rollup
from stretto.engine.decide import Decision
from stretto.engine.effects import StartChild, StartWork
from stretto.engine.events import ChildCounted, ChildEnded, ChildStarted, Event
from stretto.engine.flow import Flow
from stretto.engine.live_rollup import rollup_of, rollup_of_rows
from stretto.engine.loop_overview import foreach_artifact, while_artifact
from stretto.engine.plan import Kind
from stretto.engine.records import AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.engine.rollup import Leaf, Rollup, rollup_of_children
from stretto.model.artifact import Artifact, SubworkflowArtifact
from stretto.model.rollup import RollupCount, RollupOverview
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode, TemplateStep

S = StepStatus
KID = RunKey("kid", 1, 1)


# ------------------------------------------------------------------------------------------ the slow way
def recount(driver: Driver, run: RunKey) -> Rollup:
    """Every row of a run and of its iterations, read again."""
    newest: dict[str, AttemptRecord] = {}
    for record in sorted(driver.of(AttemptRecord), key=lambda each: each.key):
        if record.key.run == run:
            newest[record.key.step_id] = record
    found = Rollup()
    for attempt in newest.values():
        under = _recount_under(driver, attempt)
        if under.total:
            found.merge(under)
        else:
            found.add(Leaf.of(*run, attempt.key.step_id, attempt.key.number), attempt.status)
    (base,) = [each.base for each in driver.of(RunRecord) if each.key == run]
    return found.merge(Rollup.of(base))


def _recount_under(driver: Driver, attempt: AttemptRecord) -> Rollup:
    told = attempt.artifacts.get("maestro_subworkflow")
    if isinstance(told, SubworkflowArtifact) and told.subworkflow_overview is not None:
        return Rollup.of(told.subworkflow_overview.rollup_overview)
    found = Rollup()
    for loop in driver.of(LoopRecord):
        if loop.key == attempt.key:
            runs = sorted(each.key for each in driver.of(RunRecord) if each.key.workflow_id == loop.inline_id)
            newest = {key.instance_id: key for key in runs if key.run_id >= loop.run_id or loop.keeps_leaves}
            for key in newest.values():
                found.merge(recount(driver, key))
    return found


class Counting(Mortal):
    """After each decision, all is counted again; and so it is in a run that is loaded from its rows."""

    def send(self, event: Event) -> Decision:
        decision = super().send(event)
        key = self.flow.run.key
        assert rollup_of(self.flow) == recount(self, key).record()
        assert rollup_of(loaded(self.flow)) == rollup_of(self.flow)
        for flow in flows_of(self.flow):
            for index, loop in flow.loops.items():
                self._check_artifact(flow, index, loop)
        return decision

    def _check_artifact(self, flow: Flow, index: int, loop: LoopRecord) -> None:
        """The artifact of a loop says the same."""
        attempt = flow.attempts[index]
        assert attempt is not None
        artifact: Artifact
        if flow.plan.steps[index].kind is Kind.WHILE:
            artifact = while_artifact(flow, attempt, loop, *rounds_of(flow, index))
        else:
            artifact = foreach_artifact(flow, attempt, loop, rounds_of(flow, index))
            overview = artifact.foreach_overview
            assert overview is not None
            assert sum(overview.running_stats.values()) == len(flow.children.get(index, ()))
        told = rollup_of_children({"loop": artifact})
        assert (told or Rollup()) == _recount_under(self, attempt)


@pytest.mark.parametrize("name", LIVES)
def test_at_every_moment_of_many_lives(name: str) -> None:
    alive(LIVES[name](), kind=Counting).finish()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario(), st.data())
def test_in_random_workflows_however_often_owners_die(made: Any, data: Any) -> None:
    steps, script = made

    def work(effect: StartWork) -> Work:
        said = script[effect.attempt.step_id]
        return Work(said[min(effect.attempt.number, len(said)) - 1])

    deaths = st.sampled_from([None, None, *Death])
    Counting(workflow(*steps), runtime=work, dies=lambda _: data.draw(deaths)).finish()


# ---------------------------------------------------------------------------------------------- by example
def overview(driver: Driver) -> dict[str, int]:
    return {status.value: count.cnt for status, count in rollup_of(driver.flow).overview.items()}


def test_a_loop_is_a_leaf_until_something_is_under_it() -> None:
    late = foreach("l", ITEMS, step("x"), noop("y"), concurrency=2)
    driver = Driver(workflow(step("a", "l"), late), runtime=scripted(a=["DONE"], x=[FOREVER]))
    assert rollup_of(driver.flow) == RollupOverview()
    driver.start()
    assert overview(driver) == {"STARTING": 1}
    driver.run(0)
    assert overview(driver) == {"SUCCEEDED": 3, "STARTING": 2}
    empty = Driver(workflow(foreach("l", {"i": numbers()}, step("x")))).finish()
    assert overview(empty) == {"SUCCEEDED": 1}


def test_who_needs_attention_is_named_also_when_its_iteration_has_ended() -> None:
    inner = foreach("l", {"i": numbers(1, 2)}, step("x"), failure_mode=FailureMode.IGNORE_FAILURE)
    outer = while_("w", "n < 1", {"n": number(0)}, inner, noop("z", params={"n": number(1)}))
    driver = Driver(workflow(outer, step("a")), runtime=scripted(x=["FATAL_ERROR"], a=[Work("DONE", 10**6)]))
    driver.start().run(0)
    found = rollup_of(driver.flow)
    assert overview(driver) == {"RUNNING": 1, "FATALLY_FAILED": 2, "SUCCEEDED": 1}
    assert found.overview[S.RUNNING].ref == {"w:1": ["1:a:1"]}
    ((run, steps),) = found.overview[S.FATALLY_FAILED].ref.items()
    assert run.startswith("maestro_foreach_")
    assert steps == ["1:x:1", "2:x:1"]
    assert driver.attempt("w").leaves == RollupOverview(
        total_leaf_count=3,
        overview={
            S.FATALLY_FAILED: found.overview[S.FATALLY_FAILED],
            S.SUCCEEDED: RollupCount(cnt=1),
        },
    )


def test_a_loop_names_some_and_counts_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_rollup, "MOST_NAMED", 3)
    loop = foreach("l", ITEMS, step("x"), concurrency=5)
    driver = Driver(workflow(loop), runtime=scripted(x=["FATAL_ERROR"])).finish()
    (failed,) = rollup_of(driver.flow).overview.values()
    assert (failed.cnt, [len(each) for each in failed.ref.values()]) == (5, [3])


def test_steps_of_a_template_and_sub_steps_stand_for_the_step() -> None:
    template = TemplateStep(id="t", sub_type="kid")
    added = Work(added=(step("sub1", "sub2"), step("sub2")))
    library = {"kid": workflow(step("k1"), noop("k2"), id="kid")}
    driver = Driver(workflow(template, step("a")), runtime=scripted(a=[added], k1=[FOREVER]), library=library)
    driver.start().run(0)
    assert overview(driver) == {"STARTING": 1, "SUCCEEDED": 3}
    assert driver.attempt("a").leaves == RollupOverview(
        total_leaf_count=2, overview={S.SUCCEEDED: RollupCount(cnt=2)}
    )


def test_the_same_is_told_from_the_rows_of_an_iteration() -> None:
    inner = foreach("l", {"i": numbers(1, 2)}, step("x"))
    outer = foreach("o", {"j": numbers(1)}, inner, noop("y"), subworkflow("s", "kid"))
    library = {"kid": workflow(step("toil"), noop("rest"), id="kid")}
    driver = Driver(workflow(outer), library=library).finish()
    (iteration,) = driver.iterations("o")
    rows = [each for each in driver.of(AttemptRecord) if each.key.run == iteration.key]
    assert rollup_of_rows(rows).counts == {S.SUCCEEDED: 5}
    (loop,) = [each for each in driver.of(LoopRecord) if each.key.step_id == "o"]
    assert loop.leaves == {S.SUCCEEDED: 5}


# ------------------------------------------------------------------------------------------------ children
def told(count: int, status: StepStatus = S.RUNNING) -> RollupOverview:
    return RollupOverview(total_leaf_count=count, overview={status: RollupCount(cnt=count)})


class Childless(Driver):
    """Nobody starts its children: the tests tell of them."""

    def _StartChild(self, effect: StartChild) -> None:  # noqa: N802 - named like the effect
        pass


def parent() -> Driver:
    driver = Childless(workflow(subworkflow("s", "kid"), step("other")), runtime=scripted(other=[FOREVER]))
    driver.start()
    driver.send(ChildStarted(attempt=driver.attempt("s").key, child=KID, version_id=3, uuid="u"))
    return driver


def count(driver: Driver, version: int, total: int, child: RunKey = KID) -> Decision:
    key = driver.attempt("s").key
    return driver.send(ChildCounted(attempt=key, child=child, version=version, rollup=told(total)))


def test_the_newest_totals_of_a_child_stand_for_its_step() -> None:
    driver = parent()
    assert overview(driver) == {"STARTING": 1, "RUNNING": 1}
    count(driver, 5, 7)
    assert overview(driver) == {"STARTING": 1, "RUNNING": 7}
    assert not count(driver, 5, 8).changes
    assert not count(driver, 4, 8).changes
    assert not count(driver, 9, 8, RunKey("kid", 2, 1)).changes
    count(driver, 6, 0)
    assert overview(driver) == {"STARTING": 1, "RUNNING": 1}
    artifact: Any = driver.attempt("s").artifacts["maestro_subworkflow"]
    assert (artifact.subworkflow_version_id, artifact.subworkflow_uuid) == (3, "u")
    assert artifact.subworkflow_overview.rollup_overview == told(0)


def test_the_end_of_a_child_brings_its_last_totals() -> None:
    driver = parent()
    count(driver, 5, 7)
    key = driver.attempt("s").key
    end = ChildEnded(attempt=key, child=KID, status=RunStatus.SUCCEEDED, rollup=told(9, S.SUCCEEDED))
    driver.send(end)
    assert overview(driver) == {"STARTING": 1, "SUCCEEDED": 9}
    assert not count(driver, 8, 1).changes


def test_a_child_may_end_before_it_is_known() -> None:
    driver = Childless(workflow(subworkflow("s", "kid"), noop("other")))
    driver.start()
    assert not count(driver, 1, 1).changes
    key = driver.attempt("s").key
    driver.send(ChildEnded(attempt=key, child=KID, status=RunStatus.FAILED, rollup=told(2, S.STOPPED)))
    assert overview(driver) == {"STOPPED": 2, "SUCCEEDED": 1}
    artifact: Any = driver.attempt("s").artifacts["maestro_subworkflow"]
    assert artifact.subworkflow_run_id == 1
