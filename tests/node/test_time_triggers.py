"""Time triggers in virtual time: what is due is fired at once, and a fire that fails holds no other one."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.node.tank import ANN, Fish, Tank

from stretto.actions.fire_timer import MOST_FIRES
from stretto.actions.publish import publish
from stretto.model.errors import Unavailable
from stretto.model.properties import Properties
from stretto.model.trigger import CronTrigger
from stretto.model.workflow import Definition
from stretto.ports.admission import Question
from stretto.ports.failures import Poison
from stretto.testing.shapes import noop, workflow

HOUR = 3_600_000
MINUTELY = CronTrigger(cron="* * * * *", timezone="UTC")
NO_SWEEP = 1_000 * HOUR
Failing = Callable[[str, Question], Exception | None]


def timed(tank: Tank, name: str, *crons: CronTrigger) -> None:
    definition = Definition(
        properties=Properties(owner=ANN.user),
        workflow=workflow(noop("a"), id=name, time_triggers=list(crons)),
    )
    tank.do(publish(tank.store, ANN, definition, hints=tank))


def started(tank: Tank, name: str) -> int:
    ids = tank.do(tank.store.instance_ids(name))
    return 0 if ids is None else ids.highest


def failures(fish: Fish) -> int:
    return sum(line.startswith("store_failed") for line in fish.seen.lines)


@pytest.fixture
def tank() -> Tank:
    """Nobody sweeps: what is late stays late, unless the node retries it by itself."""
    return Tank(sweep_every=NO_SWEEP)


def transact(tank: Tank, monkeypatch: pytest.MonkeyPatch, failing: Failing) -> list[int]:
    """T6 fails as told. Returns how many runs each transaction with a time trigger asked for."""
    real, sizes = tank.store.transact, []

    async def shaky(workflow_id: str, question: Question, decide: Any) -> Any:
        if question.timers:
            sizes.append(len(question.requests))
            error = failing(workflow_id, question)
            if error is not None:
                raise error
        return await real(workflow_id, question, decide)

    monkeypatch.setattr(tank.store, "transact", shaky)
    return sizes


def test_a_look_that_fails_does_not_wait_for_the_next_sweep(
    tank: Tank, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(tank, "w", MINUTELY)
    due_triggers, left = tank.store.due_triggers, [Unavailable("not now")] * 3

    async def failing(*arguments: Any, **named: Any) -> Any:
        if left:
            raise left.pop()
        return await due_triggers(*arguments, **named)

    monkeypatch.setattr(tank.store, "due_triggers", failing)
    fish = tank.fish()
    tank.advance(61_000)
    assert started(tank, "w") == 1
    assert (left, failures(fish)) == ([], 3)


def test_a_fire_that_fails_once_does_not_wait_for_the_next_sweep(
    tank: Tank, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(tank, "w", MINUTELY)
    left = [Unavailable("not now")] * 7
    transact(tank, monkeypatch, lambda _name, _question: left.pop() if left else None)
    fish = tank.fish()
    tank.advance(61_000)
    assert (started(tank, "w"), failures(fish)) == (1, 1)


@pytest.mark.parametrize("error", [Unavailable("not now"), Poison("not this")])
def test_a_workflow_that_can_not_be_fired_does_not_hold_the_others(
    tank: Tank, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    names = [f"w{number:03}" for number in range(250)]
    for name in names:
        timed(tank, name, MINUTELY)
    bad = names[:120]  # more than one look returns
    cured: list[str] = []
    transact(tank, monkeypatch, lambda name, _: error if name in bad and not cured else None)
    tank.fish()
    tank.advance(61_000)
    assert [name for name in names if not started(tank, name)] == bad
    cured.append("all")
    tank.advance(tank.settings.retry_most)
    assert [name for name in names if not started(tank, name)] == []


def test_a_trigger_that_can_not_be_fired_does_not_hold_the_others_of_its_workflow(
    tank: Tank, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = CronTrigger(cron="*/1 * * * *", timezone="Asia/Tokyo")
    timed(tank, "w", MINUTELY, second)
    rows, _signals = tank.do(tank.store.triggers_of("w"))
    bad = rows[0].trigger_id

    def failing(_name: str, question: Question) -> Exception | None:
        return Poison("not this") if any(each.trigger_id == bad for each in question.timers) else None

    sizes = transact(tank, monkeypatch, failing)
    tank.fish()
    tank.advance(61_000)
    assert started(tank, "w") == 1
    tank.advance(HOUR)
    assert started(tank, "w") == 61
    assert len(sizes) < 61 * 3 + HOUR // tank.settings.retry_most + 10  # the bad one is tried with pauses


def test_a_fire_that_can_not_be_committed_does_not_hold_those_before_it(
    tank: Tank, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(tank, "w", CronTrigger(cron="0 * * * *", timezone="UTC"))
    tank.clock.millis += 50 * HOUR
    left = [Poison("not this")] * 30

    def failing(_name: str, question: Question) -> Exception | None:
        stuck = started(tank, "w") + len(question.requests) > 37
        return left.pop() if stuck and left else None

    transact(tank, monkeypatch, failing)
    fish = tank.fish()
    tank.advance(1_000)
    assert started(tank, "w") == 37
    assert failures(fish) < 20
    tank.advance(HOUR)
    assert started(tank, "w") == 51


def test_missed_fires_are_committed_in_small_batches(tank: Tank, monkeypatch: pytest.MonkeyPatch) -> None:
    timed(tank, "w", CronTrigger(cron="0 * * * *", timezone="UTC"))
    tank.clock.millis += 99 * HOUR
    sizes = transact(tank, monkeypatch, lambda _name, _question: None)
    tank.fish()
    tank.settle()
    assert started(tank, "w") == sum(sizes) == 99
    assert max(sizes) == MOST_FIRES == 10


def test_a_crash_between_two_batches_keeps_the_first(tank: Tank, monkeypatch: pytest.MonkeyPatch) -> None:
    timed(tank, "w", CronTrigger(cron="0 * * * *", timezone="UTC"))
    tank.clock.millis += 99 * HOUR
    sizes = transact(tank, monkeypatch, lambda _name, _question: None)
    fish = tank.fish()
    fish.held = lambda ask: type(ask).__name__ == "FireTimers" and len(sizes) == 4
    tank.settle()
    assert started(tank, "w") == 40
    tank.crash(fish)
    tank.fish()
    tank.advance(60_000)
    assert started(tank, "w") == 99


def test_a_node_waits_with_one_alarm(tank: Tank) -> None:
    timed(tank, "w", CronTrigger(cron="0 0 1 1 *", timezone="UTC"))
    fish = tank.fish()
    tank.settle()
    alarms = len(fish.node._desk._alarms)
    for _ in range(100):
        fish.node._book.timers_changed = True
        tank.settle()
    assert len(fish.node._desk._alarms) == alarms
