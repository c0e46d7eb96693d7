"""Permits that a decision takes: its commit checks that there is room, and refuses it otherwise."""

import asyncio
from collections.abc import Mapping, Sequence

from stretto.engine.permits import PermitUse, granted
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.permit import TagPermit
from stretto.ports.commit import Committed, Decided, PermitAsk
from stretto.ports.failures import NoPermits
from stretto.ports.paging import Cut
from stretto.ports.permits import HoldersOf, TagUse
from stretto.ports.store import Store
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, near, refusal

SUITE = Suite("taken permits")
Limits = Mapping[str, int | None]


class Taker:
    """A live run whose attempts take permits."""

    def __init__(self, owner: Owner, run: RunKey, group: int) -> None:
        self.owner = owner
        self.run = run
        self.group = group

    @classmethod
    async def several(cls, world: World, count: int) -> list["Taker"]:
        await world.publish()
        owner = await world.owner()
        runs = [await world.live(owner) for _ in range(count)]
        return [cls(owner, run, await owner.group_of(run)) for run in runs]

    def key(self, step_id: str) -> AttemptKey:
        return AttemptKey(self.run, step_id, 1)

    def ask(
        self, step_id: str, limits: Limits, *, taken: bool = True, rates: Mapping[str, str] | None = None
    ) -> PermitAsk:
        return PermitAsk(attempt=self.key(step_id), limits=limits, since=1, rates=rates or {}, taken=taken)

    def decided(self, *asks: PermitAsk, ended: Sequence[str] = (), freed: Sequence[str] = ()) -> Decided:
        """Attempts end that hold the tags `freed`; then others ask for permits."""
        uses: dict[str, PermitUse] = {tag: PermitUse().changed(-1) for tag in freed}
        for ask in asks:
            for tag, limit in ask.limits.items():
                use = uses.get(tag, PermitUse())
                uses[tag] = use.taken(limit) if ask.taken else use.changed(1)
        return Decided(root=self.run, permits=asks, uses=uses, returned=tuple(map(self.key, ended)))

    async def take(self, step_id: str, limits: Limits, rates: Mapping[str, str] | None = None) -> Committed:
        return await self.commit(self.decided(self.ask(step_id, limits, rates=rates)))

    async def commit(self, *decided: Decided) -> Committed:
        return await self.owner.commit(self.group, *decided)


async def limit(world: World, tag: str, most: int | None, rate: str | None = None) -> None:
    await world.store.change_tag(tag, lambda _before: TagPermit(tag=tag, max_allowed=most, rate=rate))


async def holders(world: World, tag: str) -> list[str]:
    return [each.attempt.step_id for each in (await world.store.permits(HoldersOf(tag, Cut()))).elements]


@SUITE.check
async def who_takes_a_permit_holds_it_and_is_told_nothing(world: World) -> None:
    (taker,) = await Taker.several(world, 1)
    await limit(world, "x", 3)
    done = await taker.take("a", {"x": None, "free": None})
    assert done.left == {"free": None, "x": 2}
    (row,) = (await world.store.permits(HoldersOf("x", Cut()))).elements
    assert (row.attempt, row.granted) == (taker.key("a"), True)
    assert near(row.granted_at, await world.store.now())
    mail = await world.store.fetch(taker.owner.node, [taker.group])
    assert not mail.messages
    assert (await world.store.grant(["x", "free"], granted)).attempts == []


@SUITE.check
async def what_is_not_left_is_refused_and_nothing_is_written(world: World) -> None:
    one, two = await Taker.several(world, 2)
    await limit(world, "x", 1)
    await one.take("a", {"x": None})
    decided = two.decided(two.ask("b", {"x": None, "y": None}))
    error = await refusal(NoPermits, two.commit(decided))
    assert error.runs == {two.run}
    assert error.tags == {"x"}
    assert error.groups == {two.group}
    assert await holders(world, "y") == []
    await one.commit(one.decided(ended=["a"], freed=["x"]))
    assert (await two.commit(decided)).left == {"x": 0, "y": None}
    assert await holders(world, "x") == ["b"]


@SUITE.check
async def a_refused_run_is_named_and_the_others_are_not(world: World) -> None:
    one, two, three = await Taker.several(world, 3)
    await limit(world, "x", 2)
    decisions = [taker.decided(taker.ask("a", {"x": None})) for taker in (one, two, three)]
    by_group: dict[int, list[Decided]] = {}
    for taker, decided in zip((one, two, three), decisions, strict=True):
        by_group.setdefault(taker.group, []).append(decided)
    parts = [one.owner.part(group, *each) for group, each in sorted(by_group.items())]
    error = await refusal(NoPermits, one.owner.store.commit(one.owner.node, parts))
    (last,) = error.runs
    assert last == [each.root for part in parts for each in part.decisions][-1]
    assert await holders(world, "x") == []


@SUITE.check
async def the_limit_that_attempts_bring_along_counts(world: World) -> None:
    one, two = await Taker.several(world, 2)
    assert (await one.take("a", {"x": 2})).left == {"x": 1}
    assert (await two.take("a", {"x": 9})).left == {"x": 0}  # the first holder's
    await refusal(NoPermits, two.take("b", {"x": 9}))
    await refusal(NoPermits, two.take("b", {"x": None}))
    await one.commit(one.decided(ended=["a"], freed=["x"]))
    assert (await two.take("b", {"x": 2})).left == {"x": 7}
    await limit(world, "x", 2)  # a user's goes before
    await refusal(NoPermits, one.take("c", {"x": 9}))


@SUITE.check
async def a_limit_that_is_set_later_counts_who_holds_the_tag(world: World) -> None:
    (taker,) = await Taker.several(world, 1)
    for step_id in ("a", "b"):
        assert (await taker.take(step_id, {"x": None})).left == {"x": None}
    await limit(world, "x", 2)
    await refusal(NoPermits, taker.take("c", {"x": None}))
    page = await world.store.tags(Cut())
    assert page.elements == (TagUse(tag="x", max_allowed=2, held=2),)
    assert await world.store.delete_tag("x")
    assert (await taker.take("c", {"x": None})).left == {"x": None}


@SUITE.check
async def nobody_passes_those_who_wait(world: World) -> None:
    one, two = await Taker.several(world, 2)
    await limit(world, "x", 2)
    await limit(world, "y", 0)
    await one.commit(one.decided(one.ask("a", {"x": None, "y": None}, taken=False)))
    assert (await two.take("a", {"x": None})).left == {"x": 0}
    await refusal(NoPermits, two.take("b", {"x": None}))  # one place is the waiter's
    # An attempt that ends makes room for those who wait, not for the next step of its run.
    waits = one.decided(one.ask("b", {"x": None}, taken=False))
    await one.commit(waits)
    await refusal(NoPermits, two.commit(two.decided(two.ask("b", {"x": None}), ended=["a"], freed=["x"])))
    assert (await world.store.grant(["x"], granted)).waited_for == {"x"}


@SUITE.check
async def the_next_step_takes_what_the_one_before_it_returns(world: World) -> None:
    (taker,) = await Taker.several(world, 1)
    await limit(world, "x", 1)
    await taker.take("a", {"x": None})
    done = await taker.commit(taker.decided(taker.ask("b", {"x": None}), ended=["a"], freed=["x"]))
    assert done.left == {"x": 0}
    assert await holders(world, "x") == ["b"]


@SUITE.check
async def what_is_handed_over_keeps_to_limits_and_rates(world: World) -> None:
    one, two = await Taker.several(world, 2)
    await limit(world, "x", 2)
    for taker in (one, two):
        await taker.take("a", {"x": None})
    await limit(world, "x", 1)
    handed_over = one.decided(one.ask("b", {"x": None}), ended=["a"], freed=["x"])
    await refusal(NoPermits, one.commit(handed_over))
    assert await holders(world, "x") == ["a", "a"]
    await limit(world, "x", 5, "3/hour")
    assert (await one.commit(handed_over)).left == {"x": 2}  # one start of three
    assert sorted(await holders(world, "x")) == ["a", "b"]


@SUITE.check
async def who_hands_over_what_it_holds_passes_nobody_and_takes_nothing_more(world: World) -> None:
    """Three of four permits are handed over again and again, while others take the fourth, wait and go."""
    takers = await Taker.several(world, 6)
    await limit(world, "x", 4)
    stores = {each.run: await world.another() for each in takers}
    most: list[int] = []

    async def commit(taker: Taker, decided: Decided) -> bool:
        try:
            await stores[taker.run].commit(taker.owner.node, [taker.owner.part(taker.group, decided)])
        except NoPermits:
            return False
        return True

    async def hand_over(taker: Taker) -> None:
        for number in range(8):
            ask = taker.ask(f"s{number + 1}", {"x": None})
            if not await commit(taker, taker.decided(ask, ended=[f"s{number}"], freed=["x"])):
                return

    async def interfere(taker: Taker, number: int) -> None:
        for turn in range(4):
            ask = taker.ask(f"w{turn}", {"x": None}, taken=bool(number))
            if await commit(taker, taker.decided(ask)):
                await stores[taker.run].grant(["x"], granted)
                most.append(len(await holders(world, "x")))
                await commit(taker, taker.decided(ended=[f"w{turn}"], freed=["x"]))

    for taker in takers[:3]:
        assert await commit(taker, taker.decided(taker.ask("s0", {"x": None})))
    await asyncio.gather(
        *(hand_over(each) for each in takers[:3]),
        *(interfere(each, number) for number, each in enumerate(takers[3:])),
    )
    assert len(await holders(world, "x")) == 3
    assert max(most) <= 4


@SUITE.check
async def attempts_that_pass_within_a_decision_need_room_for_one(world: World) -> None:
    one, two = await Taker.several(world, 2)
    passed = Decided(root=one.run, uses={"x": PermitUse().passed(1, 50)})
    assert (await one.commit(passed)).left == {"x": 1}
    assert await holders(world, "x") == []
    await two.take("a", {"x": 1})
    await refusal(NoPermits, one.commit(passed))


@SUITE.check
async def starts_that_are_taken_count_for_the_rate(world: World) -> None:
    one, two = await Taker.several(world, 2)
    assert (await one.take("a", {"r": None}, {"r": "3/hour"})).left == {"r": 2}
    done = await two.commit(Decided(root=two.run, uses={"r": PermitUse().passed(None, 2)}))
    assert done.left == {"r": 0}
    await one.commit(one.decided(ended=["a"], freed=["r"]))
    await refusal(NoPermits, two.take("b", {"r": None}, {"r": "3/hour"}))
    await one.commit(one.decided(one.ask("b", {"r": None}, taken=False)))
    found = await world.store.grant(["r"], granted)
    assert (found.attempts, list(found.slots_in)) == ([], ["r"])
    await limit(world, "r", None, "4/hour")
    assert (await world.store.grant(["r"], granted)).attempts == [one.key("b")]


@SUITE.check
async def several_who_take_at_once_never_take_more_than_is_left(world: World) -> None:
    """Two limits that a user set, one that attempts bring along, and who stands in line goes meanwhile."""
    takers = await Taker.several(world, 12)
    await limit(world, "x", 3)
    waiting = takers[-1]
    await waiting.commit(waiting.decided(waiting.ask("w", {"x": None, "z": 2}, taken=False)))
    stores = [await world.another() for _ in takers]
    wanted: list[Limits] = [{"x": None}, {"x": None, "z": 2}, {"z": 2, "free": None}]

    async def take(taker: Taker, store: Store, number: int) -> bool:
        limits = wanted[number % 3]
        part = taker.owner.part(taker.group, taker.decided(taker.ask("a", limits)))
        try:
            await store.commit(taker.owner.node, [part])
        except NoPermits:
            return False
        return True

    took = asyncio.gather(*(take(each, stores[n], n) for n, each in enumerate(takers[:-1])))
    found, _ = await asyncio.gather(took, world.store.grant(["x", "z"], granted))
    assert any(found)
    assert not all(found)
    assert len(await holders(world, "x")) <= 3
    assert len(await holders(world, "z")) <= 2
