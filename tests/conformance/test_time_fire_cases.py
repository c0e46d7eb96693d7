"""Behaviour cases about what a time trigger starts, one test for each."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.test_time_trigger_cases import OF_ACTIONS
from tests.unit.actions.world import ANN, NOOP, World, flow

from stretto.actions.activate import activate
from stretto.actions.deactivate import deactivate
from stretto.actions.fire_timer import fire_timer
from stretto.actions.parts.firing import Fired
from stretto.model.initiator import TimeInitiator
from stretto.ports.failures import Poison
from stretto.ports.triggers import TimeTriggerRow

pytestmark = pytest.mark.conformance

CASES: dict[str, Case] = {key: case for key, case in cases_of("time-trigger").items() if key in OF_ACTIONS}
CHECKS: dict[str, Callable[[Any, Then], None]] = {}
HOUR = 3_600_000
HOURLY = "  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n"
ONCE = "  time_triggers: [{type: CRON, cron: '0 0 12 1 1 ? 2024'}]\n"


def case(*case_ids: str) -> Callable[[Callable[[Any, Then], None]], Callable[[Any, Then], None]]:
    def register(check: Callable[[Any, Then], None]) -> Callable[[Any, Then], None]:
        CHECKS.update(dict.fromkeys(case_ids, check))
        return check

    return register


def test_every_case_has_its_check() -> None:
    assert sorted(CHECKS) == sorted(CASES) == sorted(OF_ACTIONS)


@pytest.mark.parametrize("case_id", CASES)
def test_case(case_id: str) -> None:
    then = Then(CASES[case_id])
    CHECKS[case_id](CASES[case_id]["given"], then)
    then.assert_all_taken()


def made(more: str) -> World:
    world = World()
    world.publish(flow(NOOP, more=more))
    return world


def rows(world: World) -> list[TimeTriggerRow]:
    times, _signals = world.do(world.store.triggers_of("flow"))
    return times


def fire(world: World) -> list[Fired]:
    return world.do(fire_timer(world.store, rows(world)))


@case("time-nothing-due")
def check_nothing_due(given: Any, then: Then) -> None:
    world = made(HOURLY)
    assert len(fire(world)) == given["planned"] == then.take("start_batch_calls")
    assert len([row for row in rows(world) if row.next_fire_at]) == then.take("next_messages")


@case("time-no-future")
def check_no_future(given: Any, then: Then) -> None:
    world = made(ONCE)
    world.advance(100 * 24 * HOUR)
    assert len(fire(world)) == given["planned"] == then.take("start_batch_calls")
    assert given["earliest_next"] is rows(world)[0].next_fire_at is None
    assert then.take("next_messages") == 0


@case("time-run-request")
def check_run_request(given: Any, then: Then) -> None:
    bad = "{expression: \"return params.getFromSignal('go', 'x');\", type: LONG}"
    world = made(f"{HOURLY}  signal_triggers: [{{definitions: {{go: {{}}}}}}]\n  params: {{bad: {bad}}}\n")
    world.advance(HOUR)
    (row,) = rows(world)
    at = row.next_fire_at
    fire(world)
    record = world.row().record
    assert given["execution_time_ms"] == then.take("initiator.trigger_time") == 123456789
    assert then.take("run_params") == {"RUN_TS": 123456789}
    assert isinstance(record.initiator, TimeInitiator)
    assert record.initiator.trigger_time == at
    assert then.take("persist_failed_run") is True
    assert record.status == "FAILED"  # it is kept, though it can not be evaluated
    good = made(HOURLY)
    good.advance(HOUR)
    fire(good)
    assert good.row().record.params["RUN_TS"].evaluated_result == at


@case("time-start-errors")
def check_start_errors(given: Any, then: Then) -> None:
    """What ends a subscription there takes the row away here; nothing starts, and nothing is raised."""
    effects = then.take("effect")
    assert effects[:4] == ["subscription ends"] * 4
    world = made(HOURLY)
    world.advance(HOUR)
    due = rows(world)
    world.do(deactivate(world.store, ANN, "flow"))
    assert world.do(fire_timer(world.store, due)) == []
    world.publish(flow(NOOP))
    assert world.do(fire_timer(world.store, due)) == []
    stranger = [msgspec.structs.replace(row, workflow_id="other") for row in due]
    assert world.do(fire_timer(world.store, stranger)) == []
    assert len(given["errors"]) == len(effects)

    async def broken(*_args: Any) -> Any:
        raise Poison("disk")

    world.swap("transact", broken)
    with pytest.raises(Poison):
        world.do(fire_timer(world.store, due))


@case("time-subscription")
def check_subscription(given: Any, then: Then) -> None:
    assert len(given["variants"]) == 3
    world = World()
    counts = []
    for more in (HOURLY, "", HOURLY):
        before = {row.trigger_id: row.next_fire_at for row in rows(world)}
        world.publish(flow(NOOP, more=more))
        counts.append(len([row for row in rows(world) if row.trigger_id not in before]))
    assert counts == [1, 0, 1]
    first = rows(world)
    world.advance(10)
    world.publish(flow(NOOP, more=HOURLY))
    unchanged = len([row for row in rows(world) if row.next_fire_at != first[0].next_fire_at])
    assert [*counts[:2], unchanged] == then.take("messages_pushed")


@case("trigger-upsert-on-push")
def check_upsert_on_push(given: Any, then: Then) -> None:
    """Maestro tells its scheduler; here the rows are what counts: how many are there after each push."""
    assert len(given["pushes"]) == len(then.take("calls")) == 5
    world = World()

    def pushed(more: str, head: str = "") -> int:
        world.publish(head + flow(NOOP, more=more))
        return len(rows(world))

    assert pushed(HOURLY, "is_active: false\n") == 0
    assert pushed(HOURLY) == 1
    assert pushed("") == 0
    off = flow(NOOP, more=HOURLY).replace("{owner: ann,", "{owner: ann, time_trigger_disabled: true,")
    world.publish(off)
    assert rows(world) == []
    world.publish(off.replace("disabled: true", "disabled: false"))
    assert pushed(ONCE, "is_active: false\n") == 1  # those of the version that is still active
    world.do(activate(world.store, ANN, "flow", "latest"))
    assert [row.trigger.cron for row in rows(world)] == ["0 0 12 1 1 ? 2024"]  # type: ignore[union-attr]
