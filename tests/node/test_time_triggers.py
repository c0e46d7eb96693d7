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
from stretto.node.asks import Ask, FindDueTriggers, FireTimers
from stretto.ports.admission import TransactionScope
from stretto.ports.failures import Poison
from stretto.ports.places import group_of_workflow
from stretto.ports.triggers import TimeTriggerSelection
from stretto.testing.shapes import noop, workflow

HOUR = 3_600_000
MINUTELY = CronTrigger(cron="* * * * *", timezone="UTC")
NO_SWEEP = 1_000 * HOUR
Failing = Callable[[str, TransactionScope], Exception | None]


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


SECONDLY = CronTrigger(cron="* * * * * ?", timezone="UTC")
PUNCTUAL = 2_000  # milliseconds from due to committed, while some node lives and the database answers


def lags(tank: Tank, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how many milliseconds each fire that was committed was late."""
    real = tank.store.transact
    found: list[int] = []

    async def noting(workflow_id: str, scope: TransactionScope, decide: Any) -> Any:
        done = await real(workflow_id, scope, decide)
        found.extend(tank.clock.now() - each.due for each in scope.timers)
        return done

    monkeypatch.setattr(tank.store, "transact", noting)
    return found


def dies(tank: Tank, fish: Fish) -> None:
    tank.crash(fish)


def stands_still(tank: Tank, fish: Fish) -> None:
    """Until it has been buried, and wakes with what it believed before."""
    fish.alive = False
    tank.advance(30_000)
    fish.alive = True


def can_not_reach_the_database(_tank: Tank, fish: Fish) -> None:
    """It lives, and each of its calls fails."""

    async def failing(ask: Ask) -> Any:
        raise Unavailable(f"the network is away: {ask}")

    fish.performer.answer = failing  # type: ignore[method-assign]


def fires_nothing(_tank: Tank, fish: Fish) -> None:
    """It beats, and what it asks about time triggers is never answered."""
    fish.held = lambda ask: isinstance(ask, FindDueTriggers | FireTimers)


TROUBLES = [dies, stands_still, can_not_reach_the_database, fires_nothing]


@pytest.fixture
def tank() -> Tank:
    """Nobody sweeps: what is late stays late, unless the node retries it by itself."""
    return Tank(sweep_every=NO_SWEEP)


def transact(tank: Tank, monkeypatch: pytest.MonkeyPatch, failing: Failing) -> list[int]:
    """T6 fails as told. Returns how many runs each transaction with a time trigger asked for."""
    real, sizes = tank.store.transact, []

    async def shaky(workflow_id: str, scope: TransactionScope, decide: Any) -> Any:
        if scope.timers:
            sizes.append(len(scope.requests))
            error = failing(workflow_id, scope)
            if error is not None:
                raise error
        return await real(workflow_id, scope, decide)

    monkeypatch.setattr(tank.store, "transact", shaky)
    return sizes


def test_a_look_that_fails_does_not_wait_for_the_next_sweep(
    tank: Tank, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(tank, "w", MINUTELY)
    time_triggers, left = tank.store.time_triggers, [Unavailable("not now")] * 3

    async def failing(selection: TimeTriggerSelection) -> Any:
        if left:
            raise left.pop()
        return await time_triggers(selection)

    monkeypatch.setattr(tank.store, "time_triggers", failing)
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

    def failing(_name: str, scope: TransactionScope) -> Exception | None:
        return Poison("not this") if any(each.trigger_id == bad for each in scope.timers) else None

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

    def failing(_name: str, scope: TransactionScope) -> Exception | None:
        stuck = started(tank, "w") + len(scope.requests) > 37
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
    alarms = len(fish.node._context._alarms)
    for _ in range(100):
        fish.node._owned.timers_changed = True
        tank.settle()
    assert len(fish.node._context._alarms) == alarms


# ----------------------------------------------------------------------------------------- of other nodes
@pytest.mark.parametrize("moment", range(0, 2_000, 400))
@pytest.mark.parametrize("trouble", TROUBLES)
def test_any_live_node_fires_what_is_late(
    tank: Tank, monkeypatch: pytest.MonkeyPatch, trouble: Callable[[Tank, Fish], None], moment: int
) -> None:
    names = [f"w{number}" for number in range(8)]
    owner = tank.fish()
    tank.advance(1_000)
    for name in names:
        timed(tank, name, SECONDLY)
    tank.fish()
    tank.advance(30_000 + moment)
    before = {name: started(tank, name) for name in names}
    late, begin = lags(tank, monkeypatch), tank.clock.millis
    trouble(tank, owner)
    tank.advance(30_000 - (tank.clock.millis - begin))
    assert max(late) < PUNCTUAL
    fired = {name: started(tank, name) - before[name] for name in names}
    assert all(28 <= count <= 30 for count in fired.values()), fired


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_hundred_triggers_that_are_due_when_their_node_dies(
    tank: Tank, monkeypatch: pytest.MonkeyPatch, trouble: Callable[[Tank, Fish], None]
) -> None:
    names = [f"w{number:03}" for number in range(100)]
    for name in names:
        timed(tank, name, MINUTELY)
    owner, _second, _third = tank.fish(), tank.fish(), tank.fish()
    tank.advance(60_000 - tank.clock.now() % 60_000 - 1)  # to the last millisecond before they are due
    late = lags(tank, monkeypatch)
    assert not late
    trouble(tank, owner)
    tank.advance(5_000)
    assert {started(tank, name) for name in names} <= {1, 2}
    assert all(
        row.next_fire_at > tank.clock.now()
        for name in names
        for row in tank.do(tank.store.triggers_of(name))[0]
    )
    assert max(late) < PUNCTUAL


def test_a_node_without_groups_fires_what_is_late(tank: Tank, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner of all groups has died, and was not buried yet."""
    timed(tank, "w", MINUTELY)
    owner = tank.fish()
    tank.advance(60_000 - tank.clock.now() % 60_000 - 500)
    tank.crash(owner)
    late = lags(tank, monkeypatch)
    second = tank.fish()
    tank.advance(PUNCTUAL + 500)
    assert not second.node.groups
    assert len(late) == 1
    assert max(late) < PUNCTUAL


def test_nodes_that_live_do_not_fire_for_each_other(tank: Tank) -> None:
    names = [f"w{number}" for number in range(40)]
    for name in names:
        timed(tank, name, SECONDLY)
    fishes = [tank.fish(), tank.fish()]
    tank.advance(30_000)
    fired: list[tuple[int, str]] = []

    def noted_by(number: int) -> Callable[[Ask], bool]:
        def noted(ask: Ask) -> bool:
            if isinstance(ask, FireTimers):
                fired.append((number, ask.rows[0].workflow_id))
            return False

        return noted

    for number, fish in enumerate(fishes):
        fish.held = noted_by(number)
    tank.advance(10_000)
    assert len(fired) == len(names) * 10
    assert all(group_of_workflow(name) in fishes[number].node.groups for number, name in fired)
