"""Schedules whose fires nobody came to in time: one run for a workflow in Python, each for Maestro's."""

from typing import Any

import pytest

from stretto.definition import parse
from stretto.engine.records import RunKey
from stretto.flow import Flow, TraceError, run_time, step, workflow
from stretto.flow.workflow_options import Cron
from stretto.model.initiator import TimeInitiator
from stretto.ports.run_snapshot import read_run
from stretto.testing.harness import Harness

HOUR = 3_600_000
MAESTRO = """
properties: {owner: ann, run_strategy: PARALLEL}
workflow:
  id: every_hour
  time_triggers: [{type: CRON, cron: "0 * * * *", timezone: UTC}]
  steps: [{step: {id: only, type: NoOp}}]
"""


@step
def tick() -> str:
    return "tick"


@workflow(schedule="0 * * * *")
def plain_text() -> str:
    return tick()


@workflow(schedule=Cron("0 * * * *", timezone="Asia/Tokyo"))
def in_tokyo() -> str:
    return tick()


@workflow(schedule="@hourly")
def by_name() -> str:
    return tick()


SEEN: list[int] = []


@step
def note(at: int) -> int:
    SEEN.append(at)
    return at


@workflow(schedule=Cron("0 * * * *", catch_up="all"))
def noting() -> int:
    return note(run_time())


@workflow
def later() -> int:
    return note(run_time() + 3)


def scheduled(**options: Any) -> Flow[..., Any]:
    @workflow(id="chosen", schedule=Cron("0 * * * *", **options))
    def chosen() -> str:
        return tick()

    return chosen


def started_after_six_hours(given: Any, workflow_id: str, through_yaml: bool) -> list[int]:
    """Which of the full hours that passed without a process were started by the next one."""
    with Harness() as harness:
        if through_yaml:
            harness.functions.registry.register(*given.functions)
            given = parse(given.to_yaml())
        harness.publish(given)
        harness.crash()
        first = harness.now // HOUR + 1
        harness.advance(hours=6)
        if harness.now % HOUR < 10 * 60_000:  # what is due just now is not missed
            harness.advance(minutes=10)
        harness.recover()
        harness.settle()
        begun: list[int] = []
        while row := harness.ask(read_run(harness.store, RunKey(workflow_id, len(begun) + 1, 1))):
            assert isinstance(row.record.initiator, TimeInitiator)
            begun.append((row.record.initiator.trigger_time or 0) // HOUR - first)
        return sorted(begun)


@pytest.mark.parametrize("through_yaml", [False, True])
@pytest.mark.parametrize("flow", [plain_text, in_tokyo, by_name], ids=lambda each: each.id)
def test_a_workflow_in_python_is_started_once(flow: Flow[..., Any], through_yaml: bool) -> None:
    assert started_after_six_hours(flow, flow.id, through_yaml) == [5]


def test_a_definition_of_maestro_is_started_for_each() -> None:
    assert started_after_six_hours(MAESTRO, "every_hour", through_yaml=False) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("through_yaml", [False, True])
@pytest.mark.parametrize(
    ("options", "hours"),
    [
        ({"catch_up": "all"}, [0, 1, 2, 3, 4, 5]),
        ({"catch_up": "all", "catch_up_limit": 2}, [4, 5]),
        ({"catch_up": "none"}, []),
    ],
)
def test_a_schedule_says_what_becomes_of_them(
    options: dict[str, Any], hours: list[int], through_yaml: bool
) -> None:
    assert started_after_six_hours(scheduled(**options), "chosen", through_yaml) == hours


def test_a_run_of_a_missed_fire_knows_the_time_of_the_fire() -> None:
    SEEN.clear()
    with Harness() as harness:
        harness.publish(noting)
        harness.crash()
        first = harness.now // HOUR + 1
        harness.advance(hours=3)
        harness.recover()
        harness.settle()
    assert sorted(SEEN) == [(first + each) * HOUR for each in range(len(SEEN))]
    assert len(SEEN) >= 3


def test_the_time_of_a_run_is_a_reference() -> None:
    with Harness() as harness:
        run = harness.start(later)
        assert run.result == run.params["RUN_TS"] + 3
    with pytest.raises(TraceError, match="`run_time` means something only in a function with `@workflow`"):
        run_time()
