"""Triggers: replaced with an activation, due in order."""

from stretto.model.trigger import CronTrigger
from stretto.ports.paging import Cut, Slice
from stretto.ports.places import group_of_workflow
from stretto.ports.rows import NodeId
from stretto.ports.triggers import (
    FiresBetween,
    FiresDue,
    NamedSignalTrigger,
    TimeTriggerPage,
    TimeTriggerRow,
    TriggersOn,
)
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.signals import signal, trigger
from stretto.testing.store_suite.workflows import gone
from stretto.testing.store_suite.world import World

SUITE = Suite("triggers")


def timer(trigger_id: str, due: int | None, workflow_id: str = "wf", version_id: int = 1) -> TimeTriggerRow:
    return TimeTriggerRow(
        trigger_id=trigger_id,
        workflow_id=workflow_id,
        version_id=version_id,
        trigger=CronTrigger(cron="0 * * * *"),
        next_fire_at=due,
    )


@SUITE.check
async def timers_are_due_at_home_in_order(world: World) -> None:
    await world.publish(time_triggers=(timer("late", 300), timer("soon", 100), timer("never", None)))
    await world.publish("other", time_triggers=(timer("theirs", 200, "other"),))
    homes = {group_of_workflow("wf"), group_of_workflow("other")}

    async def due(at: int, most: int = 100) -> list[str]:
        return [
            each.trigger_id
            for each in (await world.store.time_triggers(FiresDue(homes, at, most=most))).elements
        ]

    assert await due(99) == []
    assert await due(200) == ["soon", "theirs"]
    assert await due(999, most=2) == ["soon", "theirs"]
    assert await due(999) == ["soon", "theirs", "late"]
    assert await world.store.next_trigger_due(homes) == 100
    assert await world.store.next_trigger_due(homes, after=100) == 200
    assert await world.store.next_trigger_due(homes, after=300) is None
    assert await world.store.next_fires(["wf", "other", "unknown"]) == {"wf": 100, "other": 200}
    assert [
        each.trigger_id for each in (await world.store.time_triggers(FiresBetween(0, 300, most=9))).elements
    ] == ["soon", "theirs"]
    assert [
        each.trigger_id for each in (await world.store.time_triggers(FiresBetween(101, 999, most=9))).elements
    ] == ["theirs", "late"]
    assert [
        each.trigger_id for each in (await world.store.time_triggers(FiresBetween(0, 999, most=1))).elements
    ] == ["soon"]
    assert [each.trigger_id for each in (await world.store.time_triggers(FiresDue(None, 999))).elements] == [
        "soon",
        "theirs",
        "late",
    ]
    assert [
        each.trigger_id for each in (await world.store.time_triggers(FiresDue(None, 200, most=1))).elements
    ] == ["soon"]
    assert await world.store.next_trigger_due(None) == 100
    assert await world.store.next_trigger_due(None, after=200) == 300
    assert await world.store.next_trigger_due(None, after=300) is None
    elsewhere = set(range(128)) - homes
    assert await world.store.next_trigger_due(elsewhere) is None
    assert await world.store.time_triggers(FiresDue(elsewhere, 999)) == Slice()
    page = await world.store.time_triggers(TimeTriggerPage(Cut(most=2)))
    assert [each.trigger_id for each in page.elements] == ["late", "never"]
    assert (page.before, page.after) == (False, True)


@SUITE.check
async def a_beat_says_when_the_next_timer_of_all_is_due(world: World) -> None:
    assert (await world.store.join(NodeId("first"))).next_fire_at is None
    await world.publish(time_triggers=(timer("late", 300), timer("never", None)))
    await world.publish("other", time_triggers=(timer("theirs", 200, "other"),))
    heard = await world.store.beat(NodeId("first"))
    assert heard is not None
    assert heard.next_fire_at == 200
    assert (await world.store.join(NodeId("second"))).next_fire_at == 200


@SUITE.check
async def a_known_trigger_stays_as_it_is(world: World) -> None:
    await world.publish(time_triggers=(timer("t", 100),), signal_triggers=(trigger("a"),))
    await world.store.announce(signal("a", "i1"))
    new = trigger("a", trigger_id="new")
    await world.publish(time_triggers=(timer("t", 900, version_id=2),), signal_triggers=(trigger("a"), new))
    times, signals = await world.store.triggers_of("wf")
    assert [(each.version_id, each.next_fire_at) for each in times] == [(2, 100)]
    assert {each.trigger_id: dict(each.since) for each in signals} == {"t": {"a": 0}, "new": {"a": 1}}
    (found,) = await world.store.signal_triggers(NamedSignalTrigger("new"))
    assert found is not None
    assert dict(found.since) == {"a": 1}


@SUITE.check
async def triggers_that_are_not_named_go(world: World) -> None:
    await world.publish(time_triggers=(timer("t", 100),), signal_triggers=(trigger("a", "b"),))
    await world.store.announce(signal("a", "i1"))
    await world.store.match_trigger("t", "k", lambda _name, _signal: True)
    await world.publish()  # says nothing about triggers: they stay
    assert [each.trigger_id for each in await world.store.signal_triggers(TriggersOn("a"))] == ["t"]
    await world.publish(time_triggers=(), signal_triggers=())
    assert await world.store.triggers_of("wf") == ([], [])
    assert await world.store.signal_triggers(TriggersOn("a")) == []
    assert await world.store.signal_triggers(NamedSignalTrigger("t")) == []


@SUITE.check
async def a_trigger_that_comes_back_forgets_what_it_took(world: World) -> None:
    await world.publish(signal_triggers=(trigger("a"),))
    await world.store.announce(signal("a", "i1"))
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 1
    await world.publish(signal_triggers=())
    await world.store.announce(signal("a", "nobody listens"))
    await world.publish(signal_triggers=(trigger("a"),))
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 0
    await world.store.announce(signal("a", "i2"))
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 1


@SUITE.check
async def a_deleted_workflow_has_no_triggers(world: World) -> None:
    await world.publish(time_triggers=(timer("t", 100),), signal_triggers=(trigger("a"),))
    await world.store.delete_workflow("wf", gone)
    assert await world.store.triggers_of("wf") == ([], [])
    assert await world.store.next_trigger_due(range(128)) is None
