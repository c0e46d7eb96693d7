"""Everything at a glance: what fails, runs, waits, ended and comes."""

import msgspec
import pytest
from tests.unit.actions.test_lists import EVE, keep
from tests.unit.actions.world import ANN, NOOP, World, failing, flow

from stretto.actions.caller import Caller
from stretto.actions.pause import pause
from stretto.actions.reading import overview as reading
from stretto.actions.reading.histogram import histogram, width_of
from stretto.actions.reading.overview import OverviewOfAll, get_overview
from stretto.actions.reading.percentiles import rank, spread
from stretto.actions.reading.windows import DAY, HOUR, window_in
from stretto.actions.stop import stop
from stretto.engine.records import RunKey
from stretto.model.errors import Forbidden, InvalidRequest
from stretto.model.page import Count
from stretto.model.status import RunStatus
from stretto.model.user import User
from stretto.ports.rows import RunGlance
from stretto.ports.workflows import TOTALS_EVERY


def seen(world: World, caller: Caller = ANN, window: int = DAY) -> OverviewOfAll:
    return world.do(get_overview(world.store, caller, world.clock, window))


def test_an_empty_database_is_well() -> None:
    found = seen(World())
    assert (found.failing, found.late, found.next, found.waits) == ((), (), (), {})
    nothing = Count(value=0, exact=True)
    counts = (found.failing_count, found.running, found.paused, found.queued, found.quarantined, found.parked)
    assert set(counts) == {nothing}
    assert (len(found.ended.buckets), found.ended.width) == (48, HOUR // 2)
    assert all(bucket == {} for bucket in found.ended.buckets)
    assert (found.duration.p50, found.duration.sample) == (None, 0)
    assert found.nodes.dead == 0
    assert found.version


def test_what_fails_in_a_row() -> None:
    world = World(failing("x"))
    world.publish(flow("{id: x, type: Python}", name="bad"))
    world.publish(flow(NOOP, name="good"))
    for workflow_id in ("bad", "good", "bad", "bad"):
        world.start(workflow_id)
        world.advance(1_000)
    world.settle()
    found = seen(world)
    (bad,) = found.failing
    assert (bad.workflow_id, bad.streak) == ("bad", Count(value=3, exact=True))
    assert (bad.run.workflow_instance_id, bad.status) == (3, "FAILED")
    assert found.failing_count == Count(value=1, exact=True)
    assert sum(bucket.get("F", 0) for bucket in found.ended.buckets) == 3
    assert found.ended.buckets[-1]["s"] == 1
    assert (found.duration.sample, found.start_delay.sample) == (1, 1)
    keep(world, "bad")
    assert seen(world, EVE).failing == ()
    world.advance(2 * DAY)
    assert (seen(world).failing, seen(world).duration.sample) == ((), 0)


def test_nobody_without_a_role_sees_it() -> None:
    with pytest.raises(Forbidden):
        seen(World(), Caller(user=User(name="x"), roles=frozenset()))


def glance(number: int, status: RunStatus) -> RunGlance:
    return RunGlance(key=RunKey("w", number, 1), version_id=1, status=status, create_time=number)


@pytest.mark.parametrize(
    ("letters", "streak"),
    [
        ("", None),
        ("s", None),
        ("rsF", None),
        ("F", Count(value=1, exact=True)),
        ("F" * 14, Count(value=14, exact=False)),
        ("F" * 13 + "s", Count(value=13, exact=True)),
        ("rSFTs", Count(value=2, exact=True)),
        ("FrSFsF", Count(value=2, exact=True)),
    ],
)
def test_a_streak(letters: str, streak: Count | None) -> None:
    words = {
        "s": RunStatus.SUCCEEDED,
        "r": RunStatus.IN_PROGRESS,
        "F": RunStatus.FAILED,
        "T": RunStatus.TIMED_OUT,
        "S": RunStatus.STOPPED,
    }
    runs = [glance(99 - place, words[letter]) for place, letter in enumerate(letters)]
    found = reading._streak(runs)
    assert (found and found.streak) == streak


def test_what_goes_on_and_waits() -> None:
    world = World()
    world.publish(flow("{id: w, type: Wait}", name="asks"))
    world.publish(
        flow("{id: s, type: Sleep, params: {sleep_seconds: {value: 9, type: LONG}}}", name="sleeps")
    )
    for workflow_id in ("asks", "asks", "sleeps"):
        world.start(workflow_id)
    world.settle()
    world.do(pause(world.store, ANN, "sleeps", 1))
    world.settle()
    found = seen(world)
    assert [each.value for each in (found.running, found.paused, found.queued)] == [2, 1, 0]
    world.do(stop(world.store, ANN, "asks", 1))
    world.settle()
    assert seen(world).ended.buckets[-1] == {"S": 1}


def test_what_is_counted_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_FAILED", 2)
    monkeypatch.setattr(reading, "MOST_WAITING", 1)
    world = World(failing("x"))
    for name in ("a", "b", "c"):
        world.publish(flow("{id: x, type: Python}", name=name))
        world.start(name)
    world.publish(flow("{id: w, type: Wait}", name="asks"))
    world.start("asks")
    world.settle()
    found = seen(world)
    assert found.failing_count == Count(value=2, exact=False)
    assert found.waits_exact is False
    monkeypatch.setattr(reading, "MOST_FAILED", 300)
    monkeypatch.setattr(reading, "MOST_FAILING", 1)
    assert seen(world).failing_count == Count(value=1, exact=False)


def test_what_fires_and_what_should_have() -> None:
    world = World()
    cron = "  time_triggers: [{{type: CRON, cron: '0 {} * * *'}}]\n"
    for name, hour in (("early", 1), ("noon", 12)):
        world.publish(flow(NOOP, name=name, more=cron.format(hour)))
    found = seen(world)
    assert found.late == ()
    assert {fire.workflow_id for fire in found.next} == {"early", "noon"}
    assert [fire.time for fire in found.next] == sorted(fire.time for fire in found.next)
    first = found.next[0]
    world.advance(first.time - world.clock.now() + 61_000)
    later = seen(world)
    assert [fire.workflow_id for fire in later.late] == [first.workflow_id]
    assert [fire.workflow_id for fire in later.next] == [found.next[1].workflow_id]
    keep(world, "noon")
    assert "noon" not in {fire.workflow_id for fire in (*seen(world, EVE).late, *seen(world, EVE).next)}


# ------------------------------------------------------------------------------------------------------ parts
def test_percentiles_are_values_that_were_there() -> None:
    assert rank([], 50) is None
    assert [rank([4, 1, 3, 2], percent) for percent in (1, 50, 75, 95, 100)] == [1, 2, 3, 4, 4]
    assert msgspec.to_builtins(spread([1, None, 3])) == {"p50": 1, "p95": 3, "p99": 3, "sample": 2}


def test_buckets() -> None:
    assert (width_of(0, 48), width_of(100, 48), width_of(DAY, 48, TOTALS_EVERY)) == (1, 3, HOUR // 2)
    assert width_of(HOUR, 48, TOTALS_EVERY) == TOTALS_EVERY
    found = histogram(100, 10, 3, [(100, {RunStatus.FAILED: 2}), (109, {RunStatus.FAILED: 1}), (129, {})])
    assert (found.buckets, found.until) == (({"F": 3}, {}, {}), 130)


def test_windows() -> None:
    assert (window_in(None), window_in("24h"), window_in("7 days")) == (DAY, DAY, 7 * DAY)
    for text in ("", "soon", "59 minutes", "32d", "9" * 999):
        with pytest.raises(InvalidRequest, match="Invalid window"):
            window_in(text)
