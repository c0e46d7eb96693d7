"""Rows of the union table that a node shows: custom runtimes, and changes that are compared before set."""

import asyncio

import pytest
from tests.node.tank import GOING_ON, Tank, flow, work

from stretto.engine.records import AttemptRecord
from stretto.model.status import StepStatus
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.failures import Stale
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    PlatformError,
    StepResult,
    Stopped,
    TimedOut,
    UserError,
)
from stretto.store.memory import Database, MemoryStore
from stretto.testing.clock import VirtualClock


def test_row_43_a_custom_runtime_is_polled_until_it_is_done() -> None:
    tank = Tank()
    fish = tank.fish()
    again = Continue(after=1_000)
    fish.runtime.answers["start a"] = [again]
    fish.runtime.answers["execute a"] = [again, again, again, Done()]
    run = tank.settle().start(flow(work("a")))
    tank.advance(10_000)
    assert tank.status(run) == "SUCCEEDED"
    assert [verb for verb, _, _ in fish.runtime.calls] == ["start", *["execute"] * 4]


def test_row_43_every_state_that_a_runtime_can_be_in() -> None:
    ends: list[tuple[StepResult, str]] = [
        (Done(), "SUCCEEDED"),
        (UserError(message="x"), "FATALLY_FAILED"),  # no try is left
        (PlatformError(message="x"), "FATALLY_FAILED"),
        (FatalError(message="x"), "FATALLY_FAILED"),
        (Stopped(), "STOPPED"),
        (TimedOut(message="x"), "TIMED_OUT"),
    ]
    no_retry = ", retry_policy: {error_retry_limit: 0, platform_retry_limit: 0}"
    for result, expected in ends:
        tank = Tank()
        fish = tank.fish()
        fish.runtime.answers["start a"] = [result]
        run = tank.settle().start(flow(work("a", more=no_retry)))
        tank.advance(5_000)
        assert tank.steps(run) == {"a": expected}


def test_row_43_a_runtime_that_raises_or_talks_nonsense_never_leaves_a_run_stuck() -> None:
    for answer in (ValueError("broken"), "nonsense"):
        tank = Tank()
        fish = tank.fish()
        fish.runtime.answers["start a"] = [answer]  # type: ignore[list-item]
        run = tank.settle().start(flow(work("a", more=", retry_policy: {platform_retry_limit: 1}")))
        tank.advance(3_600_000)
        assert tank.status(run) == "FAILED"
        assert [verb for verb, _, _ in fish.runtime.calls] == ["start", "start"]


def test_row_109_of_twenty_who_claim_at_once_one_wins() -> None:
    async def race() -> list[int]:
        store = MemoryStore(Database(VirtualClock()))
        nodes = [NodeId(f"node-{number}") for number in range(20)]
        for node in nodes:
            await store.join(node)
        (lease, *_) = await store.claim(nodes[0], 128)
        await store.give_up(nodes[0], [lease])
        claims = await asyncio.gather(*(store.claim(node, 1) for node in nodes))
        return [len(leases) for leases in claims]

    assert sorted(asyncio.run(race())) == [*[0] * 19, 1]


def test_row_109_what_has_ended_stays_as_it_is() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(flow(work("a")))
    tank.settle()
    group = tank.group_of(fish, run)
    fish.report(run, "a", Done())
    tank.settle()
    assert tank.status(run) == "SUCCEEDED"
    key = tank.do(tank.store.attempts(NewestAttempts((run,))))[0].key
    late = AttemptRecord(key=key, sequence=1, status=StepStatus.RUNNING)
    part = GroupPart(lease=group.lease, decisions=(Decided(root=run, records=(late,)),), seq=99)
    with pytest.raises(Stale, match="is not LIVE"):
        tank.do(tank.store.commit(fish.node.id, [part]))
    assert tank.steps(run) == {"a": "SUCCEEDED"}
