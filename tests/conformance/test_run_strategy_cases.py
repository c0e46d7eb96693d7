"""The behaviour cases of area `run-strategy`, one test for each."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.behaviour import cases_of
from tests.unit.strategies.table import run_key
from tests.unit.strategies.world import Phase, World

from stretto.definition import validate
from stretto.model import wire
from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.response import StartStatus
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.workflow import Definition
from stretto.strategies import (
    Accepted,
    Admission,
    Answer,
    Batch,
    Duplicate,
    Refused,
    Request,
    Restart,
    Start,
    admit,
    refuse_all,
)

pytestmark = pytest.mark.conformance

CASES = cases_of("run-strategy")
PARSE = [f"runstrategy-parse-{number}" for number in range(1, 14)]
NO_RULE = ["runstrategy-parse-no-rule"]
BAD_CONCURRENCY = [case_id for case_id in CASES if case_id.startswith("runstrategy-parse-bad-concurrency-")]
START = [
    "runstrategy-new-start",
    "runstrategy-new-start-resets-run-id",
    "runstrategy-same-uuid-is-duplicate",
    "runstrategy-restart-new-run",
    "runstrategy-slo-restart-replaces-queued",
]
SEQUENCE = ["runstrategy-first-only", "runstrategy-last-only", "runstrategy-slo-replaces-queued"]
BATCH = [
    "runstrategy-batch-parallel",
    "runstrategy-batch-first-only",
    "runstrategy-batch-last-only",
    "runstrategy-batch-serial-latest-only",
]
DELETED = ["runstrategy-deleted-workflow"]
RESTART_OF_OPEN = ["runstrategy-restart-while-running"]
MANY_OPEN = ["runstrategy-switch-with-many-open-runs"]
RETRY = ["runstrategy-batch-retry-on-40001"]
STOPS_ALL = ["runstrategy-slo-stops-all-queued"]
DEQUEUE_TWICE = ["runstrategy-slo-dequeue"]
DEQUEUE = ["runstrategy-dequeue-by-rule", "runstrategy-dequeue-strict-blocked-by-failure"]
DEQUEUE_SIZE = ["runstrategy-dequeue-size"]
KEPT_FAILED = ["runstrategy-persist-failed-run"]
GROUPS = [
    *(PARSE, NO_RULE, BAD_CONCURRENCY, START, SEQUENCE, BATCH, DELETED, RESTART_OF_OPEN, MANY_OPEN, RETRY),
    *(STOPS_ALL, DEQUEUE_TWICE, DEQUEUE, DEQUEUE_SIZE, KEPT_FAILED),
]

CODES = {StartStatus.CREATED: 1, StartStatus.DUPLICATED: 0, StartStatus.STOPPED: -1}


def joins(admission: Admission) -> bool:
    return any(isinstance(each, Accepted) and each.status is RunStatus.CREATED for each in admission.answers)


def ends(admission: Admission) -> bool:
    at_birth = [each for each in admission.answers if isinstance(each, Accepted) and each.note]
    return bool(at_birth or admission.replaced)


# Maestro launches and tells by jobs that it puts into a queue. Here the transaction itself admits, and writes
# a `log` for what ends in it. So a job of Maestro stands for a fact about the admission.
STOPPING_RULES = {RunStrategyRule.FIRST_ONLY, RunStrategyRule.LAST_ONLY}
FACTS: dict[str, Callable[[RunStrategyRule, Admission], bool]] = {
    "START_WORKFLOW": lambda rule, made: joins(made) and rule not in STOPPING_RULES,
    "TERMINATE_THEN_RUN": lambda rule, made: joins(made) and rule in STOPPING_RULES,
    "WORKFLOW_INSTANCE_UPDATE": lambda _, made: ends(made),
}
# What Stretto does instead of Maestro, and why.
DEVIATIONS = {
    ("runstrategy-dequeue-strict-blocked-by-failure", RunStrategyRule.FIRST_ONLY): 1,
    ("runstrategy-dequeue-strict-blocked-by-failure", RunStrategyRule.LAST_ONLY): 1,
    # Maestro's dequeue leaves these two to the job TERMINATE_THEN_RUN, which starts the run a moment later.
    # There is no such job here: the dequeue admits it, as nothing else would.
}


def test_every_case_is_tested() -> None:
    assert sorted(case_id for group in GROUPS for case_id in group) == sorted(CASES)


def facts(world: World, admission: Admission) -> dict[str, int]:
    return {name: 1 for name, holds in FACTS.items() if holds(world.strategy.rule, admission)}


def told(answer: Answer) -> tuple[int, int]:
    """Code and instance id as Maestro answers; for a duplicate, Stretto knows the first one's ids besides."""
    assert not isinstance(answer, Refused)
    return CODES[answer.start_status], 0 if isinstance(answer, Duplicate) else answer.run.instance_id


def held(rule: str) -> RunStrategy:
    """No slots: in the cases nothing is launched yet, as the job that would do it has not run."""
    return RunStrategy(rule=RunStrategyRule(rule), workflow_concurrency=0)


def world_of(given: dict[str, Any], strategy: RunStrategy) -> World:
    world = World(strategy)
    for row in given.get("existing", []):
        run = run_key(row["instance_id"], row.get("run_id", 1))
        status = row["status"].split()[0]
        phase = {"CREATED": Phase.QUEUED, "running": Phase.RUNNING}.get(status, Phase.ENDED)
        raw = RunStatus.IN_PROGRESS if status == "running" else status
        world.put(run, phase, raw, row.get("uuid", f"made {run}"))
    return world


def request_of(given: dict[str, Any]) -> Request:
    uuid = given.get("uuid", "test-uuid")
    return Restart(uuid, given["instance_id"]) if given.get("instance_id") else Start(uuid)


@pytest.mark.parametrize("case_id", PARSE)
def test_parse(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    strategy, problems = wire.decode(RunStrategy, given["run_strategy"])
    assert problems == []
    assert strategy.workflow_concurrency == then["workflow_concurrency"]
    assert wire.decode(RunStrategy, wire.encode(strategy))[0] == strategy


@pytest.mark.parametrize("case_id", NO_RULE)
def test_parse_without_rule(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    _, [problem] = wire.decode(RunStrategy, given["run_strategy"])
    assert then["error"] in str(problem)


@pytest.mark.parametrize("case_id", BAD_CONCURRENCY)
def test_parse_with_a_concurrency_that_the_rule_has_not(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    workflow = {"id": "etl", "steps": [{"step": {"id": "a", "type": "NoOp"}}]}
    definition, problems = wire.decode(Definition, {"properties": given, "workflow": workflow})
    assert problems == []
    [problem] = validate(definition)
    assert then["error"] in str(problem)


@pytest.mark.parametrize("case_id", START)
def test_start(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = world_of(given, held(given["strategy"]))
    admission = world.ask(request_of(given["request"]))
    [answer] = admission.answers
    assert not isinstance(answer, Refused)
    assert told(answer)[0] == then["code"]
    if "instance_id" in then:
        assert answer.run == run_key(then["instance_id"], then["run_id"])
    if "enqueued" in then:
        assert facts(world, admission) == then["enqueued"]
    if "run_1_raw_status" in then:
        raw = world.rows[run_key(1, 1)].raw
        assert (raw, InstanceStatus(raw)) == (then["run_1_raw_status"], then["run_1_status"])
    for name, status in then.get("statuses", {}).items():
        instance_id, _, run_id = name.rstrip(")").partition(" (run ")
        assert world.rows[run_key(int(instance_id), int(run_id or 1))].raw == status


@pytest.mark.parametrize("case_id", SEQUENCE)
def test_one_after_another(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = world_of(given, held(given["strategy"]))
    admissions = [world.ask(Start(uuid)) for uuid in given["requests"]]
    assert [told(answer)[0] for each in admissions for answer in each.answers] == then["codes"]
    assert [facts(world, each) for each in admissions] == then["enqueued_per_call"]
    for instance, status in (then.get("instances") or then["statuses"]).items():
        row = world.rows[run_key(int(instance), 1)]
        if status == "untouched (running)":
            assert (row.phase, row.notes, world.stops) == (Phase.RUNNING, [], set())
        else:
            assert row.raw == status
    if "timeline_of_2_contains" in then:
        assert then["timeline_of_2_contains"] in world.rows[run_key(2, 1)].notes[0]


@pytest.mark.parametrize("case_id", SEQUENCE[:2])
def test_one_after_another_when_each_is_launched_at_once(case_id: str) -> None:
    """The same ends as in the case, on the way that Stretto takes: the first one is running by then."""
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = World(RunStrategy(rule=RunStrategyRule(given["strategy"])))
    for uuid in given["requests"]:
        world.ask(Start(uuid))
        for run in list(world.stops):
            world.end(run, RunStatus.STOPPED)
    world.ask()
    assert {str(run.instance_id): raw for run, raw in world.statuses().items()} == then["instances"]
    assert len(world.running) == 1


def start_batch(case_id: str) -> tuple[World, Admission]:
    given = CASES[case_id]["given"]
    world = world_of(given, held(given["strategy"]))
    return world, world.ask(*(Start(uuid) for uuid in given["batch_uuids"]))


@pytest.mark.parametrize("case_id", BATCH)
def test_batch(case_id: str) -> None:
    then = CASES[case_id]["then"]
    world, admission = start_batch(case_id)
    expected = list(zip(then["codes"], then["instance_ids"], strict=True))
    assert [told(answer) for answer in admission.answers] == expected
    assert {str(run.instance_id): raw for run, raw in world.statuses().items()} == then["statuses"]
    assert facts(world, admission) == then["enqueued"]
    duplicate = admission.answers[1]
    assert isinstance(duplicate, Duplicate)
    assert duplicate.run == run_key(1, 1)  # where Maestro says 0


@pytest.mark.parametrize("case_id", RETRY)
def test_a_batch_that_is_repeated(case_id: str) -> None:
    """The roll-back itself is the store's. Here is what makes it harmless: nothing is kept between calls."""
    requests = tuple(Start(uuid) for uuid in CASES[case_id]["given"]["batch_uuids"])
    strategy = held(CASES[case_id]["given"]["strategy"])
    first = admit(strategy, [], 0, 0, Batch("etl", requests, 1))
    assert first == admit(strategy, [], 0, 0, Batch("etl", requests, 1))
    assert [told(answer)[0] for answer in first.answers] == CASES[case_id]["then"]["codes"]


@pytest.mark.parametrize("case_id", DELETED)
def test_deleted_workflow(case_id: str) -> None:
    """That it is deleted is found by who locks its row; the answer is ours."""
    [answer] = refuse_all(Batch("sample-dag-test-3", (Start("test-uuid"),), 1)).answers
    assert isinstance(answer, Refused)
    with pytest.raises(NotFound) as caught:
        raise answer.error()
    assert CASES[case_id]["then"]["error"] in caught.value.message


def refused(admission: Admission) -> str:
    [answer] = admission.answers
    assert isinstance(answer, Refused)
    error = answer.error()
    assert isinstance(error, WrongState)
    return error.message


@pytest.mark.parametrize("case_id", RESTART_OF_OPEN)
def test_restart_of_an_open_run(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = world_of(given, held("SEQUENTIAL"))
    world.workflow_id = "sample-dag-test-3"
    assert then["error"] in refused(world.ask(request_of(given["request"])))


@pytest.mark.parametrize("case_id", MANY_OPEN)
def test_many_open_runs(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    for rule in STOPPING_RULES:
        message = refused(world_of(given, held(rule)).ask(Start("test-uuid")))
        assert message.startswith(then[f"error_{rule.lower()}_prefix"])


@pytest.mark.parametrize("case_id", STOPS_ALL)
def test_all_queued_are_stopped(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = world_of(given, held(given["strategy"]))
    [answer] = world.ask(Start("test-uuid")).answers
    assert told(answer) == (then["code"], 4)
    for instance, status in then["statuses"].items():
        assert world.rows[run_key(int(instance), 1)].raw == status


@pytest.mark.parametrize("case_id", DEQUEUE_TWICE)
def test_dequeue_twice(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = world_of(given, RunStrategy(rule=RunStrategyRule(given["strategy"])))
    assert [run.instance_id for run in world.ask().admitted] == then["first_dequeue"]
    world.end(run_key(1, 1), RunStatus.SUCCEEDED)
    assert [run.instance_id for run in world.ask().admitted] == then["second_dequeue"]


@pytest.mark.parametrize("case_id", DEQUEUE)
def test_dequeue(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    for name, count in then.items():
        rule = RunStrategyRule(name)
        admission = world_of(given, RunStrategy(rule=rule)).ask()
        assert len(admission.admitted) == DEVIATIONS.get((case_id, rule), count or 0), rule


@pytest.mark.parametrize("case_id", DEQUEUE_SIZE)
def test_dequeue_size(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    existing = [{"instance_id": n, "status": "CREATED"} for n in range(1, given["queued_instances"] + 1)]
    for concurrency, count in then["dequeued"].items():
        strategy = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=int(concurrency))
        admission = world_of({"existing": existing}, strategy).ask()
        assert (len(admission.admitted), admission.more) == (count, concurrency == "51")


@pytest.mark.parametrize("case_id", KEPT_FAILED)
def test_kept_as_failed(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    world = World(held("SEQUENTIAL"))
    admission = world.ask(Start("test-uuid", failure=given["request"]["timeline"][0]["message"]))
    [answer] = admission.answers
    assert told(answer)[0] == then["code"]
    assert world.rows[run_key(1, 1)].raw == then["instance_status"]
    assert facts(world, admission) == then["enqueued"]
    with pytest.raises(InvalidRequest) as caught:
        Start("test-uuid", failure="")
    assert then["error_if_timeline_missing"] in caught.value.message
