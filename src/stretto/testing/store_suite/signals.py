"""Signals: numbered without gaps, waited for without misses, joined once each."""

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalTrigger, SignalTriggerEntry
from stretto.ports.commit import Decided
from stretto.ports.messages import FanOut, Fire
from stretto.ports.paging import Cut
from stretto.ports.places import group_of_signal, group_of_workflow
from stretto.ports.retention import Aged
from stretto.ports.rows import NodeId
from stretto.ports.signals import NewSignal, SignalPage, SignalWait, read_signal
from stretto.ports.triggers import SignalTriggerRow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, near

SUITE = Suite("signals")
HERE = NodeId("reader")


def signal(name: str, instance_id: str, **params: str | int) -> NewSignal:
    return NewSignal(name=name, instance_id=instance_id, params=params)


def any_fits(_signal: SignalInstance) -> bool:
    return True


def trigger(*names: str, trigger_id: str = "t", workflow_id: str = "wf") -> SignalTriggerRow:
    definitions = {name: SignalTriggerEntry() for name in names}
    return SignalTriggerRow(
        trigger_id=trigger_id,
        workflow_id=workflow_id,
        version_id=1,
        trigger=SignalTrigger(definitions=definitions),
    )


async def fires(world: World, workflow_id: str = "wf") -> list[dict[str, int]]:
    mail = await world.store.fetch(HERE, [group_of_workflow(workflow_id)])
    return [dict(each.body.seqs) for each in mail.messages if isinstance(each.body, Fire)]


@SUITE.check
async def announcements_are_numbered_by_name(world: World) -> None:
    for number in (1, 2, 3):
        done = await world.store.announce(signal("a", f"i{number}", x=number))
        assert (done.signal.seq_id, done.duplicate) == (number, False)
    other = await world.store.announce(
        NewSignal(name="b", instance_id="i1", payload={"k": 1}, request_time=5)
    )
    made = other.signal
    assert (made.name, made.seq_id, made.instance_id) == ("b", 1, "i1")
    assert (made.params, made.payload, made.request_time) == (None, {"k": 1}, 5)
    assert near(made.create_time, await world.store.now())
    assert (await world.store.announce(signal("a", "i2", x=9))).duplicate
    second = await read_signal(world.store, "a", 2)
    assert second is not None
    assert second.params == {"x": 2}
    newest = await read_signal(world.store, "a")
    assert newest is not None
    assert newest.seq_id == 3
    assert await read_signal(world.store, "a", 9) is None
    assert await read_signal(world.store, "nothing") is None


@SUITE.check
async def each_announcement_has_one_fan_out(world: World) -> None:
    await world.store.announce(signal("a", "i1"))
    await world.store.announce(signal("a", "i1"))
    await world.store.announce(signal("a", "i2"))
    mail = await world.store.fetch(HERE, [group_of_signal("a")])
    assert [each.body for each in mail.messages] == [FanOut(name="a", seq=1), FanOut(name="a", seq=2)]


@SUITE.check
async def the_first_that_fits_is_found_at_any_age(world: World) -> None:
    for number in range(1, 5):
        await world.store.announce(signal("a", f"i{number}", even=number % 2))

    def is_even(each: SignalInstance) -> bool:
        return (each.params or {})["even"] == 0

    found = await world.store.first_signal("a", is_even)
    assert found is not None
    assert found.seq_id == 2
    later = await world.store.first_signal("a", is_even, above=2)
    assert later is not None
    assert later.seq_id == 4
    assert await world.store.first_signal("a", is_even, above=4) is None
    assert await world.store.first_signal("b", any_fits) is None


@SUITE.check
async def a_wait_and_an_announcement_meet_in_either_order(world: World) -> None:
    owner = await world.owner()
    attempt = AttemptKey(RunKey("wf", 1, 1), "s", 1)
    wait = SignalWait(name="early", attempt=attempt, index=0, group=2)
    await owner.commit(2, Decided(waits=(wait,)))  # first the wait: the fan-out finds it
    await world.store.announce(signal("early", "i1"))
    assert await world.store.signal_waits("early", after=None, most=10) == [wait]
    await world.store.announce(signal("late", "i1"))  # first the signal: the look finds it
    late = SignalWait(name="late", attempt=attempt, index=1, group=2)
    await owner.commit(2, Decided(waits=(late,)))
    assert await world.store.first_signal("late", any_fits) is not None


@SUITE.check
async def waits_are_read_in_pages(world: World) -> None:
    owner = await world.owner()
    attempts = [AttemptKey(RunKey("wf", number, 1), "s", 1) for number in range(1, 4)]
    waits = [
        SignalWait(name="a", attempt=attempt, index=index, group=2)
        for attempt in attempts
        for index in (0, 1)
    ]
    other = SignalWait(name="b", attempt=attempts[0], index=2, group=2)
    await owner.commit(2, Decided(waits=(*reversed(waits), other)))
    read: list[SignalWait] = []
    after: tuple[AttemptKey, int] | None = None
    while page := await world.store.signal_waits("a", after=after, most=4):
        read += page
        after = (page[-1].attempt, page[-1].index)
    assert read == waits


@SUITE.check
async def a_trigger_takes_one_of_each_and_each_once(world: World) -> None:
    await world.store.announce(signal("a", "before"))  # announced before the activation: it does not count
    await world.publish(signal_triggers=(trigger("a", "b"),))
    for number in (1, 2, 3):
        await world.store.announce(signal("a", f"a{number}"))
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 0
    for number in (1, 2):
        await world.store.announce(signal("b", f"b{number}"))
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 2
    assert await world.store.match_trigger("t", "", lambda _name, _signal: True) == 0
    assert await fires(world) == [{"a": 2, "b": 1}, {"a": 3, "b": 2}]
    assert await world.store.match_trigger("unknown", "", lambda _name, _signal: True) == 0


@SUITE.check
async def join_keys_are_matched_apart(world: World) -> None:
    await world.publish(signal_triggers=(trigger("a", "b"),))
    for name, value, instance in (("a", 1, "1"), ("a", 2, "2"), ("b", 2, "3"), ("b", 1, "4")):
        await world.store.announce(signal(name, instance, key=value))

    async def match(value: int) -> int:
        return await world.store.match_trigger(
            "t", str(value), lambda _name, each: (each.params or {})["key"] == value
        )

    assert [await match(1), await match(2), await match(3)] == [1, 1, 0]
    assert await fires(world) == [{"a": 1, "b": 2}, {"a": 2, "b": 1}]


@SUITE.check
async def announcements_and_names_are_paged(world: World) -> None:
    owner = await world.owner()
    for number in range(1, 5):
        await world.store.announce(signal("a", f"i{number}"))
    wait = SignalWait(name="waited", attempt=AttemptKey(RunKey("wf", 1, 1), "s", 1), index=0, group=2)
    await owner.commit(2, Decided(waits=(wait,)))
    page = await world.store.signals(SignalPage("a", Cut(most=2, below=4)))
    assert [each.seq_id for each in page.elements] == [3, 2]
    assert (page.before, page.after) == (True, True)
    names = await world.store.signal_names(Cut())
    assert [(each.name, each.last_seq, each.waits) for each in names.elements] == [
        ("a", 4, 0),
        ("waited", 0, 1),
    ]


@SUITE.check
async def old_announcements_go_and_their_numbers_stay_used(world: World) -> None:
    await world.store.announce(signal("a", "i1"))
    await world.advance(1_000)
    await world.store.announce(signal("a", "i2"))
    second = await read_signal(world.store, "a", 2)
    assert second is not None
    limit = second.create_time or 0
    assert await world.store.prune(Aged.SIGNALS, limit, most=10) == 1
    assert await world.store.prune(Aged.SIGNALS, limit, most=10) == 0
    assert await read_signal(world.store, "a", 1) is None
    assert await world.store.prune(Aged.SIGNALS, limit + 1, most=10) == 1
    again = await world.store.announce(signal("a", "i1"))
    assert (again.signal.seq_id, again.duplicate) == (3, False)
