"""Behaviour cases about loops and nested runs, one test for each."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.conformance.behaviour import Then
from tests.conformance.corpus import corpus
from tests.conformance.rule_cases import Rules, fixture
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.live_rounds import rounds_of
from tests.engine.shapes import ITEMS, foreach, numbers, step, workflow
from tests.engine.test_iteration_restarts import again, loop_of, looping

from stretto.definition import MAESTRO_LIMITS, validate
from stretto.engine.earlier import EarlierLoop, EarlierRun, earlier_key, iterations_key
from stretto.engine.events import Reported, ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.intervals import Intervals, Row
from stretto.engine.kinds.foreach import _running, concurrency_of
from stretto.engine.kinds.reruns import Beginning, Rerun, beginning_of, rerun_of
from stretto.engine.loop_overview import Round, foreach_artifact
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord, RunRecord, started_by
from stretto.engine.restart_path import iteration_on_path
from stretto.engine.rollup import Leaf, Rollup
from stretto.engine.settings import EngineSettings
from stretto.model.errors import Conflict, NotFound
from stretto.model.foreach import ForeachOverview, Ranges
from stretto.model.initiator import Initiator
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.wire import decode, encode, loads
from stretto.model.wire.types import codec_of
from stretto.model.workflow import Definition
from stretto.node.perform.earlier import Earlier
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.runtime import FatalError, StepResult
from stretto.ports.store import Store
from stretto.testing.harness import Harness
from stretto.testing.working import Work

pytestmark = pytest.mark.conformance
RULES = Rules()
I = InstanceStatus  # noqa: E741 - as short as in the tables of moves
Statuses = dict[int, InstanceStatus]
RESULTS = {
    I.FAILED: ResultState.FATAL_ERROR,
    I.STOPPED: ResultState.STOPPED,
    I.TIMED_OUT: ResultState.TIMED_OUT,
    I.SUCCEEDED: ResultState.DONE,
}


# --------------------------------------------------------------------------------- how an overview is made
# The engine keeps a loop's record, and the rows of its iterations say which of them ended how. The overview
# in an artifact is made from both, and from the iterations that are alive.
@cache
def around() -> Driver:
    """A run whose foreach goes on."""
    return Driver(workflow(foreach("l", ITEMS, step("x"))), runtime=scripted(x=[FOREVER])).start().run(0)


def overview(
    loop: LoopRecord, rounds: Iterable[Round], ended: Mapping[RunStatus, Iterable[Row]]
) -> ForeachOverview:
    driver, rows = around(), {status: tuple(each) for status, each in ended.items()}
    found = foreach_artifact(driver.flow, driver.attempt("l"), loop, tuple(rounds), rows).foreach_overview
    assert found is not None
    return found


def overview_of(statuses: Statuses) -> ForeachOverview:
    """What is told of iterations in these statuses."""
    counts: dict[RunStatus, int] = {}
    ended: dict[RunStatus, list[Row]] = {}
    for number, status in statuses.items():
        if status.is_terminal:
            counts[RunStatus(status)] = counts.get(RunStatus(status), 0) + 1
            ended.setdefault(RunStatus(status), []).append((number, number))
    loop = replace(loop_of(around()), ended=counts, next_index=max(statuses))
    rounds = [
        Round(number, 1, RunStatus(status), Rollup())
        for number, status in sorted(statuses.items())
        if not status.is_terminal
    ]
    return overview(loop, rounds, ended)


def statuses_of(record: dict[str, Any]) -> Statuses:
    found, problems = decode(dict[InstanceStatus, Ranges], record)
    assert not problems
    return {number: status for status, rows in found.items() for number in numbers_in(rows)}


def numbers_in(rows: Iterable[Row]) -> list[int]:
    return [number for first, last in rows for number in range(first, last + 1)]


def written(found: ForeachOverview) -> dict[str, Any]:
    """The details as JSON shows them."""
    ranges = codec_of(Ranges)
    return {status.value: ranges.encode(rows) for status, rows in (found.details or {}).items()}


def flat(found: ForeachOverview) -> dict[str, list[int]]:
    return {status.value: numbers_in(rows) for status, rows in (found.details or {}).items()}


# ------------------------------------------------------------------------------------------------- details
@RULES.case("foreach-details-flatten")
def check_flatten(given: Any, then: Then) -> None:
    found = overview_of(statuses_of(given["details"]))
    assert written(found) == given["details"]
    assert flat(found) == then.rest()


@RULES.case("foreach-details-add-refresh")
def check_refresh(given: Any, then: Then) -> None:
    statuses = statuses_of(given["details"])
    for status, iterations in given["added"].items():
        statuses |= dict.fromkeys(iterations, I(status))
    found = written(overview_of(statuses))
    for status, rows in then.rest().items():
        assert found[status] == rows
    assert found["STOPPED"] == given["details"]["STOPPED"]


def going_on(statuses: Statuses, *restarted: int) -> Driver:
    """A foreach that goes on, whose iterations have ended so; a restarted one goes on, too."""
    count = max(statuses)
    works = {
        (number, 1): RESULTS[statuses[number]].value if status.is_terminal else "FOREVER"
        for number in range(1, count + 1)
        for status in [statuses.get(number, I.IN_PROGRESS)]
    }
    works |= {(number, 2): "FOREVER" for number in restarted}
    driver = looping(works, count, step("b"), concurrency=count)
    ended = {number: status.value for number, status in statuses.items() if status.is_terminal}
    assert {number: status.value for number, status in ends(driver).items()} == ended
    return driver


def ends(driver: Driver) -> dict[int, RunStatus]:
    """How the newest run of each iteration that is not alive has ended."""
    runs = [each for each in driver.of(RunRecord) if each.key.workflow_id == loop_of(driver).inline_id]
    newest = {each.key.instance_id: each for each in sorted(runs, key=lambda each: each.key.run_id)}
    return {number: each.status for number, each in sorted(newest.items()) if each.status.is_terminal}


def told(driver: Driver) -> ForeachOverview:
    rows: dict[RunStatus, list[Row]] = {}
    for number, status in ends(driver).items():
        rows.setdefault(status, []).append((number, number))
    return overview(loop_of(driver), rounds_of(driver.flow, driver.flow.plan.numbers["l"]), rows)


@RULES.case("foreach-details-restartable")
def check_restartable(given: Any, then: Then) -> None:
    statuses = statuses_of(given["details"])
    driver = going_on(statuses, *statuses)
    for iteration, expected in then.rest().items():
        assert is_restartable(driver, int(iteration)) is expected


def is_restartable(driver: Driver, iteration: int) -> bool:
    """Whether the engine starts an iteration again while the others go on, when a user asks for it."""
    try:
        again(driver, iteration, restart_policy=RunPolicy.RESTART_FROM_BEGINNING).run(0)
    except Conflict:
        return False
    assert iteration in driver.live("l")
    return True


@RULES.case("foreach-details-reset")
def check_reset(given: Any, then: Then) -> None:
    driver = going_on(statuses_of(given["details"]), 8, 9)
    running = driver.live("l")
    assert is_restartable(driver, 8)
    pending = [
        each for each in driver.live("l") if each not in running
    ]  # an iteration of ours goes on at once
    assert pending == then.take("pending_CREATED_after_first")
    assert is_restartable(driver, 9)
    assert written(told(driver))["FAILED"] == then.take("FAILED_after_second")
    with pytest.raises(Conflict) as caught:
        again(driver, 1)
    assert then.take("error_unknown_iteration_1") == "Invalid: the restarted iteration [1] is missing"
    assert "iteration 1 of step" in caught.value.message


# ------------------------------------------------------------------------------------------------ overview
class Stored:
    """A foreach as Maestro has stored it: our record of the loop, and what is alive in it."""

    def __init__(self, path: str) -> None:
        record: ForeachOverview = fixture(path, ForeachOverview)
        details = record.details or {}
        self.ended = {RunStatus(status): rows for status, rows in details.items() if status.is_terminal}
        rollup = Rollup.of(record.rollup)
        self.loop = replace(
            loop_of(around()),
            total=100_000,
            next_index=max(numbers_in(self.ended[RunStatus.SUCCEEDED])),
            ended={RunStatus(status): count for status, count in record.stats.items()},
            leaves=dict(rollup.counts),
        )
        # Of those alive the sample names the oldest only, and counts all.
        names = numbers_in(details[I.IN_PROGRESS])
        rest = iter(range(names[-1] + 1, 80_000))
        self.rounds = [
            Round(
                names.pop(0) if names and status is I.IN_PROGRESS else next(rest),
                1,
                RunStatus(status),
                Rollup(),
            )
            for status, count in record.running_stats.items()
            for _ in range(count)
        ]
        self.rounds.sort()
        self.rounds[0].rollup.merge(Rollup.of(record.running_rollup))
        again = self.overview()
        assert (again.stats, again.running_stats) == (record.stats, record.running_stats)
        ended = {status: rows for status, rows in (again.details or {}).items() if status.is_terminal}
        assert ended == {status: rows for status, rows in details.items() if status.is_terminal}
        assert Rollup.of(again.running_rollup) == Rollup.of(record.running_rollup)
        assert Rollup.of(again.rollup) == rollup

    def overview(self) -> ForeachOverview:
        return overview(self.loop, self.rounds, self.ended)

    def count(self, iteration: int, state: ResultState) -> None:
        """Let the engine count an iteration that has ended, with the one leaf under it."""
        body = foreach("l", {"i": numbers(*range(iteration))}, step("x"), concurrency=1)
        driver = Driver(workflow(body), runtime=scripted(x=[FOREVER]), check=False).start().run(0)
        loop, before = loop_of(driver), driver.attempt("x", driver.child("l", 1))
        loop.ended, loop.leaves = dict(self.loop.ended), dict(self.loop.leaves)
        driver.send(Reported(attempt=before.key, launch=before.launch or 0, state=state))
        driver.run(0)
        [loop] = driver.of(LoopRecord)
        self.loop = replace(self.loop, ended=loop.ended, leaves=loop.leaves, failed=loop.failed)
        status = next(each for each, result in RESULTS.items() if result is state)
        rows = [*self.ended.get(RunStatus(status), ()), (iteration, iteration)]
        self.ended[RunStatus(status)] = Intervals(rows).rows()

    def running(self, *, strict: bool) -> int:
        """How many count as running, when the engine asks whether one more may begin."""
        loop = foreach("l", ITEMS, step("x"), strict_ordering=strict)
        return _running(
            loop, self.loop, cast("dict[int, Flow]", {each.iteration: None for each in self.rounds})
        )


def leaf(iteration: int, status: StepStatus) -> Rollup:
    rollup = Rollup()
    rollup.add(Leaf.of("maestro_foreach_x", iteration, 1, "job.2", 1), status)
    return rollup


@RULES.case("foreach-overview-add-terminal", "foreach-overview-add-running")
def check_add(given: Any, then: Then) -> None:
    stored = Stored(given["data_file"])
    added = given["add"]
    assert added["leaf"] == 1
    if added["status"] == "SUCCEEDED":
        stored.count(added["iteration"], ResultState.DONE)
        found = stored.overview()
        assert stored.running(strict=False) == then.take("running_count")
        assert stored.running(strict=True) == then.take("running_count_strict_ordering")
        assert found.stats[I.SUCCEEDED] == then.take("stats.SUCCEEDED")
        assert found.rollup is not None
        assert found.rollup.total_leaf_count == then.take("rollup.total_leaf_count")
    else:
        under = leaf(added["iteration"], StepStatus.SUCCEEDED)
        stored.rounds.append(Round(added["iteration"], 1, RunStatus(added["status"]), under))
        found = stored.overview()
        assert stored.running(strict=False) == then.take("running_count")
        assert found.running_stats[I.IN_PROGRESS] == then.take("running_stats.IN_PROGRESS")
        assert found.running_rollup is not None
        assert found.running_rollup.total_leaf_count == then.take("running_rollup.total_leaf_count")


@RULES.case("foreach-overview-refresh")
def check_overview_refresh(given: Any, then: Then) -> None:
    stored = Stored(given["data_file"])
    stored.ended[RunStatus.SUCCEEDED] += [(each, each) for each in given["add_SUCCEEDED"]]
    assert written(stored.overview())["SUCCEEDED"] == then.take("SUCCEEDED")


@RULES.case("foreach-overview-inflight-restart")
def check_inflight_restart(given: Any, then: Then) -> None:
    stored = Stored(given["data_file"])
    [iteration] = given["add_FAILED"]
    stored.count(iteration, ResultState.FATAL_ERROR)
    assert stored.overview().stats[I.FAILED] == 1
    driver = going_on({**dict.fromkeys(range(1, 127), I.CREATED), iteration: I.FAILED}, iteration)
    assert then.take("before") == "restartable"
    assert is_restartable(driver, iteration)
    after = then.take("after")
    assert after.pop("stats.FAILED") == "removed"
    stored.loop = replace(stored.loop, apart=loop_of(driver).apart)  # what the engine takes away for it
    [begun] = [each for each in rounds_of(driver.flow, 0) if each.iteration == iteration]
    stored.rounds.append(begun._replace(status=RunStatus.CREATED))  # ours goes on at once
    del stored.ended[RunStatus.FAILED]
    found = stored.overview()
    assert I.FAILED not in found.stats
    assert I.FAILED not in told(driver).stats
    assert found.running_stats[I.CREATED] == after.pop("running_stats.CREATED")
    assert found.restart_info == told(driver).restart_info == after.pop("restart_info")
    [pending] = after.pop("details_pending_CREATED")
    assert pending in flat(found)["CREATED"]
    assert not after
    with pytest.raises((Conflict, NotFound)) as caught:
        again(driver, 99)
    unknown = then.take("error_for_unknown")
    assert unknown == "Invalid: pending action tries to restart a non-restartable iteration"
    assert "iteration 99 of step" in caught.value.message


# ----------------------------------------------------------------------------------------- starting again
class Restarted:
    """A foreach that begins again, after iterations that have ended so."""

    def __init__(self, ended: Mapping[RunStatus, Iterable[Row]], config: RestartConfig) -> None:
        loop = foreach("job1", {"i": numbers(1, 2, 3)}, step("job2"))
        driver = Driver(workflow(loop, id="wf"), runtime=scripted(job2=[FOREVER]), check=False).start().run(0)
        self.driver, self.flow = driver, driver.flow
        self.attempt: AttemptRecord = driver.attempt("job1")
        self.plan: StepPlan = self.flow.plan.steps[self.flow.plan.numbers["job1"]]
        self.inline_id = inline_id = INLINE
        assert config.restart_policy is not None
        self.flow.run.policy, self.flow.run.restart = config.restart_policy, config
        before = EarlierLoop(rows={status: tuple(rows) for status, rows in ended.items() if rows})
        self.flow.fetched[iterations_key(inline_id, self.attempt.key)] = before
        begins = beginning_of(self.flow, self.plan, self.attempt, inline_id, Loop.FOREACH)
        assert isinstance(begins, Beginning)
        self.begins = begins
        taken = begins.taken
        live = self.flow.loops[self.plan.index]
        self.loop = replace(
            live,
            inline_id=inline_id,
            run_id=begins.run_id,
            kept=taken.kept,
            again=taken.again,
            apart=taken.ended,
        )

    def checkpoint(self) -> int:
        loop = replace(self.loop, next_index=0)
        artifact = foreach_artifact(self.flow, self.attempt, loop, (), {})
        assert artifact.foreach_overview is not None
        return artifact.foreach_overview.checkpoint

    def rerun(self, iteration: int) -> Rerun:
        """How the engine runs an iteration again."""
        key = earlier_key(self.inline_id, iteration)
        self.flow.fetched[key] = EarlierRun(run_id=1, statuses={"job2": StepStatus.FATALLY_FAILED})
        found = rerun_of(self.flow, self.plan, self.attempt, self.loop, iteration)
        assert isinstance(found, Rerun)
        return found


def restart_of(iteration: int | None) -> RestartConfig:
    root = RestartNode(workflow_id="wf", instance_id=1, step_id="job1")
    if iteration is None:
        whole = RestartNode(workflow_id="wf", instance_id=1)
        return RestartConfig(restart_path=(whole,), restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    inner = RestartNode(workflow_id=INLINE, instance_id=iteration, step_id="job2")
    return RestartConfig(restart_path=(inner, root), restart_policy=RunPolicy.RESTART_FROM_SPECIFIC)


@RULES.case("foreach-restart-keeps-succeeded", "foreach-restart-specific-keeps-terminal")
def check_kept(given: Any, then: Then) -> None:
    ended, chosen = Stored(given["previous"]).ended, given["restart_iteration"]
    found = Restarted(ended, restart_of(chosen))
    taken = found.begins.taken
    assert found.begins.ancestors == then.take("max_iteration")
    # The one that is meant was kept before it began again; ours is not among the kept ones to begin with.
    stay = {*numbers_in(taken.kept), *((chosen,) if chosen is not None else ())}
    kept = {
        status.value: [each for each in numbers_in(rows) if each in stay] for status, rows in ended.items()
    }
    assert {status: numbers for status, numbers in kept.items() if numbers} == then.take("kept")
    assert {status.value: count for status, count in taken.ended.items()} == {
        status: len([each for each in found if each != chosen]) for status, found in kept.items() if found
    }
    assert chosen is None or chosen in numbers_in(taken.again)
    assert found.checkpoint() == then.take("checkpoint")


@RULES.case("foreach-restart-checkpoint-prefix")
def check_checkpoint(given: Any, then: Then) -> None:
    checkpoints = []
    for variant in given["variants"]:
        ended: dict[RunStatus, list[Row]] = {}
        for span, status in variant.items():
            first, _, last = span.partition("..")
            ended.setdefault(RunStatus(status), []).append((int(first), int(last or first)))
        config = restart_of(given["restart_iteration"])
        checkpoints.append(Restarted(ended, config).checkpoint())
    assert checkpoints == then.take("checkpoints")


class Pages:
    """A store that remembers how many iterations were wanted of each page that was read."""

    def __init__(self, store: Store, inline_id: str) -> None:
        self._store = store
        self._inline_id = inline_id
        self.read: list[int] = []

    async def runs(self, selection: InstancePage) -> Any:
        workflow_id, cut = selection
        assert workflow_id == self._inline_id
        found = await self._store.runs(selection)
        assert cut.below is not None
        counted = await self._store.iteration_counts(workflow_id, cut.most)
        self.read.append(
            sum(each.number for each in counted if each.first <= cut.below - 1 < each.first + cut.most)
        )
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def ended_badly_if_odd(work: Work) -> StepResult | None:
    """So that no page holds iterations of one status alone, which are counted and not read."""
    return FatalError(message="no") if work.context.launch.attempt.run.instance_id % 2 else None


@RULES.case("foreach-restart-rollup-batches")
def check_batches(given: Any, then: Then) -> None:
    size = given["get_rollup_batch_limit"]
    queries = []
    for count in given["iterations_to_rerun"]:
        body = foreach("l", {"i": numbers(*range(count))}, step("x"), continue_on_failure=True)
        with Harness() as harness:
            harness.does("x", ended_badly_if_odd)
            run = harness.start(workflow(body))
            harness.advance(minutes=5)
            loop = run.iterations("l")[0].key.workflow_id
            pages = Pages(harness.store, loop)
            found = harness.ask(Earlier(cast("Store", pages), size).loop(loop))
            assert found is not None
        assert sorted(number for rows in found.rows.values() for number in numbers_in(rows)) == [
            *range(1, count + 1)
        ]
        queries.append(pages.read)
    assert [len(each) for each in queries] == then.take("queries")
    assert queries[0][-1] == then.take("last_batch_of_23")


# -------------------------------------------------------------------------------- ids, paths and limits
@RULES.case("foreach-inline-workflow-id", "while-inline-workflow-id")
def check_inline_id(given: Any, then: Then) -> None:
    expected = then.take("id")
    loop = Loop(expected.split("_")[1])
    found = inline_workflow_id(
        loop,
        given["internal_id"],
        given["workflow_id"],
        given["instance_id"],
        given["step_id"],
        given["non_inline_parent_instance"],
    )
    assert found == expected


INLINE = "maestro_foreach_7D3_1C_2fe596608afaef7a41b4ec3c0edc3973"


@RULES.case("foreach-restart-along-path")
def check_along_path(given: Any, then: Then) -> None:
    path = tuple(
        RestartNode(workflow_id=node["workflow"], instance_id=node["instance"], step_id=node["step"])
        for node in given["restart_path"]
    )
    config = RestartConfig(restart_path=path, restart_policy=RunPolicy(given["policy"]))
    iteration = iteration_on_path(config, INLINE)
    assert iteration is not None
    found = Restarted({RunStatus.SUCCEEDED: [(1, 3)]}, config)
    artifact = foreach_artifact(found.flow, found.attempt, found.loop)
    assert encode(artifact)["run_policy"] == then.take("artifact.run_policy")
    # The engine needs no action for it: the iteration is the one that begins again, after its newest run.
    action = then.take("pending_action")
    assert action.pop("action") == "RESTART"
    assert iteration == action.pop("instance_id")
    assert found.begins.taken.again == ((iteration, iteration),)
    rerun = found.rerun(iteration)
    assert (rerun.policy, rerun.run_id) == (RunPolicy(given["policy"]), found.loop.run_id + 1)
    assert action.pop("instance_run_id") == 0  # whichever is the newest
    assert rerun.earlier is found.flow.fetched[earlier_key(INLINE, iteration)]
    assert action.pop("user") == "maestro"  # no user has asked for this iteration alone
    assert not [line for line in found.driver.lines("job1") if line.startswith("User")]
    assert not action


@RULES.case("foreach-restart-not-along-path")
def check_not_along_path(given: Any, then: Then) -> None:
    other = RestartNode(workflow_id=given["restart_path_first"].split()[0], instance_id=2, step_id="job2")
    here = RestartNode(workflow_id="wf", instance_id=1, step_id="job1")
    assert iteration_on_path(RestartConfig(restart_path=(other, here)), INLINE) is then.take("pending_action")


@RULES.case("instance-step-concurrency")
def check_concurrency(given: Any, then: Then) -> None:
    found = []
    for each in given["variants"]:
        settings = EngineSettings(loop_concurrency=20, step_concurrency=each.get("step_concurrency"))
        body = foreach("l", ITEMS, step("x"), concurrency=None)
        driver = Driver(
            workflow(body, instance_step_concurrency=each.get("instance_step_concurrency")), settings=settings
        )
        found.append(concurrency_of(driver.flow, body))
    assert found == then.take("values")


@RULES.case("foreach-concurrency-validation")
def check_concurrency_limit(given: Any, then: Then) -> None:
    valid = []
    for concurrency in given["concurrency"]:
        inner = {"step": {"id": "job", "type": "NoOp"}}
        loop = {
            "id": "loop",
            "concurrency": concurrency,
            "params": {"loop_params": {"type": "MAP", "value": {"i": {"type": "LONG_ARRAY", "value": [1]}}}},
            "steps": [inner],
        }
        definition, problems = decode(Definition, {"workflow": {"id": "wf", "steps": [{"foreach": loop}]}})
        assert not problems
        valid.append(not validate(definition, MAESTRO_LIMITS))
    assert valid == then.take("valid")


@RULES.case("initiator-timeline-messages")
def check_initiators(given: Any, then: Then) -> None:
    records = loads(corpus(*given["data_file"].split("/")).read_text(encoding="utf-8"))
    for name, line in then.rest().items():
        initiator, problems = decode(Initiator, records[name])
        assert not problems
        assert started_by(initiator) == line


@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)
