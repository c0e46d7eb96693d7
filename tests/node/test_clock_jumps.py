"""Somebody sets the database's clock: timers keep the time that they have left, time triggers follow it."""

import pytest
from tests.node.tank import ANN, BEGIN, Fish, Tank, flow
from tests.node.test_time_triggers import HOUR, MINUTELY, started, timed

from stretto.actions.pause import pause, resume
from stretto.model.trigger import CatchUp, CronTrigger
from stretto.node.asks import Ask, GrantTags
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.runtime import Done, PlatformError

JUMPS = [-HOUR, -5_000, 5_000, HOUR]
MINUTE = 60_000


def nap(seconds: int) -> str:
    return flow(f"{{id: nap, type: Sleep, params: {{sleep_seconds: {{value: {seconds}, type: LONG}}}}}}")


def set_clock(tank: Tank, millis: int) -> None:
    """Set it, and wait until all nodes have heard it."""
    tank.clock.ahead += millis
    tank.advance(tank.settings.beat_every + 100)


def in_memory() -> Tank:
    """Nobody parks runs."""
    return Tank(park_after=100 * HOUR)


@pytest.mark.parametrize("millis", JUMPS)
def test_a_clock_that_was_ahead_or_behind_once_stops_no_timer(millis: int) -> None:
    tank = Tank()
    tank.fish()
    tank.advance(1_000)
    set_clock(tank, millis)
    set_clock(tank, -millis)
    run = tank.start(nap(10))
    tank.advance(9_900)
    assert tank.status(run) == "IN_PROGRESS"
    tank.advance(200)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize("millis", JUMPS)
def test_timers_of_runs_in_memory_keep_the_time_that_they_have_left(millis: int) -> None:
    tank = in_memory()
    tank.fish()
    tank.advance(1_000)
    run = tank.start(nap(100))
    tank.advance(50_000)
    set_clock(tank, millis)
    tank.advance(49_800 - tank.settings.beat_every - 100)
    assert tank.status(run) == "IN_PROGRESS"
    tank.advance(300)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize("millis", JUMPS)
def test_timers_that_are_set_after_a_jump_are_punctual(millis: int) -> None:
    tank = Tank()
    tank.fish()
    tank.advance(1_000)
    set_clock(tank, millis)
    run = tank.start(nap(10))
    tank.advance(9_900)
    assert tank.status(run) == "IN_PROGRESS"
    tank.advance(200)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize(("millis", "left"), [(-20_000, 50_000), (20_000, 10_000), (HOUR, 0)])
def test_a_timer_that_is_read_at_load_follows_its_row(millis: int, left: int) -> None:
    tank = in_memory()
    first = tank.fish()
    tank.advance(1_000)
    run = tank.start(nap(100))
    tank.advance(50_000)
    tank.crash(first)
    tank.clock.ahead += millis
    tank.fish()
    tank.advance(20_000)  # it has buried the other one, and taken over: 30 s are left, less what was set
    if left:
        tank.advance(left - 500)
        assert tank.status(run) == "IN_PROGRESS"
        tank.advance(1_000)
    assert tank.status(run) == "SUCCEEDED"


def test_time_stamps_of_a_run_never_go_back() -> None:
    tank = in_memory()
    tank.fish()
    tank.advance(1_000)
    run = tank.start(nap(10))
    tank.advance(5_000)
    set_clock(tank, -HOUR)
    tank.advance(6_000)
    (attempt,) = tank.do(tank.store.attempts(NewestAttempts((run,))))
    record = attempt.record
    assert record.status.value == "SUCCEEDED"
    assert BEGIN <= record.create_time <= record.start_time
    assert record.end_time == record.start_time + 10_000
    whole = tank.row(run).record
    assert [whole.create_time, whole.start_time, whole.end_time] == sorted(
        each or 0 for each in (whole.create_time, whole.start_time, whole.end_time)
    )
    assert tank.row(tank.start_again("flow")).record.create_time < BEGIN  # that of another one may


# The newest moment is in time: it is no missed fire.
@pytest.mark.parametrize(("catch_up", "more"), [(CatchUp.ALL, 10), (CatchUp.LATEST, 1), (CatchUp.NONE, 1)])
def test_moments_that_a_clock_leaves_out_are_missed_fires(catch_up: CatchUp, more: int) -> None:
    tank = Tank(sweep_every=1_000 * HOUR)
    tank.fish()
    tank.advance(1_000)
    timed(tank, "w", CronTrigger(cron="* * * * *", timezone="UTC", catch_up=catch_up))
    tank.advance(2 * MINUTE)
    assert started(tank, "w") == 2
    set_clock(tank, 10 * MINUTE)
    assert started(tank, "w") == 2 + more


def test_time_triggers_fire_no_moment_twice_after_the_clock_was_set_back() -> None:
    tank = Tank(sweep_every=1_000 * HOUR)
    tank.fish()
    tank.advance(1_000)
    timed(tank, "w", MINUTELY)
    tank.advance(2 * MINUTE)
    set_clock(tank, -10 * MINUTE)
    tank.advance(9 * MINUTE)
    assert started(tank, "w") == 2
    tank.advance(2 * MINUTE)
    assert started(tank, "w") in {3, 4}  # the minutes come again, and then the next ones


@pytest.mark.parametrize("millis", JUMPS)
def test_observers_are_told_how_far_the_clock_was_set(millis: int) -> None:
    tank = Tank()
    fish = tank.fish()
    tank.advance(3_000)
    assert not [line for line in fish.seen.lines if line.startswith("clock_set")]
    set_clock(tank, millis)
    assert [line for line in fish.seen.lines if line.startswith("clock_set")] == [f"clock_set {millis}"]


def paced(millis: int) -> tuple[Tank, Fish]:
    """A run has started under a rate while the clock was so far ahead. Nobody sweeps."""
    tank = Tank(sweep_every=1_000 * HOUR)
    fish = tank.fish()
    tank.advance(1_000)
    set_clock(tank, millis)
    run = tank.start(flow("{id: a, type: NoOp, rate: 1/minute}"))
    tank.advance(1_000)
    assert tank.status(run) == "SUCCEEDED"
    return tank, fish


@pytest.mark.parametrize("millis", JUMPS)
def test_who_comes_after_a_jump_waits_no_longer_than_the_time_of_a_rate(millis: int) -> None:
    tank, _fish = paced(millis)
    set_clock(tank, -millis)
    run = tank.start_again("flow")
    tank.advance(MINUTE + 100)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize("millis", JUMPS)
def test_who_waits_for_a_rate_waits_no_longer_than_its_time_after_a_jump(millis: int) -> None:
    tank, _fish = paced(millis)
    run = tank.start_again("flow")
    tank.advance(20_000)
    assert tank.status(run) == "IN_PROGRESS"
    set_clock(tank, -millis)
    tank.advance(MINUTE + 100)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize("millis", [-HOUR, -5_000])
def test_a_rate_is_looked_at_seldom_while_a_node_has_not_heard_of_a_jump(millis: int) -> None:
    tank, fish = paced(0)
    looks: list[Ask] = []

    def noted(ask: Ask) -> bool:
        looks.extend([ask] if isinstance(ask, GrantTags) else ())
        return False

    fish.held = noted
    tank.clock.ahead += millis
    tank.start_again("flow")
    tank.advance(tank.settings.beat_every)
    assert 1 <= len(looks) <= 4


@pytest.mark.parametrize("millis", JUMPS)
@pytest.mark.parametrize("waits", [2_000, 15_000])
def test_a_back_off_keeps_its_time_while_its_run_is_paused(millis: int, waits: int) -> None:
    """Whether it is over when the run goes on, or not."""
    tank = in_memory()
    fish = tank.fish()
    tank.advance(1_000)
    fish.runtime.answers = {"start a": [PlatformError(message="boom"), Done()]}
    policy = "{platform_retry_limit: 1, backoff: {type: FIXED_BACKOFF, platform_retry_backoff_in_secs: 10}}"
    run = tank.start(flow(f"{{id: a, type: Python, retry_policy: {policy}}}"))
    tank.advance(1_000)
    tank.do(pause(tank.store, ANN, "flow", 1, hints=tank))
    set_clock(tank, millis)
    tank.advance(waits)
    tank.do(resume(tank.store, ANN, "flow", 1, hints=tank))
    tank.advance(max(10_000 - waits, 1_000))
    assert tank.status(run) == "SUCCEEDED"
