"""Permits: all or none, in order, never more than allowed, and gone with the attempt."""

from collections.abc import Mapping

from stretto.engine.permits import granted, rank_of
from stretto.engine.records import AttemptKey
from stretto.model.permit import TagPermit
from stretto.model.workflow import Criticality
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.messages import Grant
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import Grants, HoldersOf, LineFor, PermitsOf, TagStanding, TagUse
from stretto.ports.places import group_of_tag
from stretto.ports.rows import NodeId
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, near

SUITE = Suite("permits")
HERE = NodeId("reader")
MINUTE, HOUR = 60_000, 3_600_000


class Line:
    """Attempts of one live run that stand in line for tags."""

    def __init__(self, world: World, owner: Owner, group: int, keys: list[AttemptKey]) -> None:
        self._world = world
        self._owner = owner
        self._group = group
        self.keys = keys

    @classmethod
    async def of(cls, world: World, count: int) -> "Line":
        await world.publish()
        owner = await world.owner()
        run = await world.live(owner)
        keys = [AttemptKey(run, f"s{number}", 1) for number in range(count)]
        return cls(world, owner, await owner.group_of(run), keys)

    async def ask(
        self,
        place: int,
        limits: Mapping[str, int | None],
        since: int = 0,
        criticality: Criticality | None = None,
        rates: Mapping[str, str] | None = None,
    ) -> AttemptKey:
        key = self.keys[place]
        ask = PermitAsk(
            attempt=key, limits=limits, since=since or place, criticality=criticality, rates=rates or {}
        )
        await self._owner.commit(self._group, Decided(permits=(ask,)))
        return key

    async def end(self, place: int) -> None:
        await self._owner.commit(self._group, Decided(released=(self.keys[place],)))

    async def grant(self, *tags: str) -> list[int]:
        """The places of those who go."""
        lucky = (await self._world.store.grant(tags, granted)).attempts
        return [self.keys.index(key) for key in lucky]

    async def told(self) -> list[AttemptKey]:
        mail = await self._world.store.fetch(HERE, [self._group])
        return [each.body.event.attempt for each in mail.messages if isinstance(each.body, Grant)]


async def limit(world: World, tag: str, most: int) -> None:
    await world.store.change_tag(tag, lambda _before: TagPermit(tag=tag, max_allowed=most))


@SUITE.check
async def who_is_granted_is_told_once(world: World) -> None:
    line = await Line.of(world, 2)
    await limit(world, "x", 1)
    first = await line.ask(0, {"x": None})
    second = await line.ask(1, {"x": None})
    assert await line.grant("x") == [0]
    assert await line.grant("x") == []
    assert await line.told() == [first]
    holders = (await world.store.permits(HoldersOf("x", Cut()))).elements
    assert [(each.attempt, each.granted) for each in holders] == [(first, True)]
    assert near(holders[0].granted_at, await world.store.now())
    waiters = (await world.store.permits(LineFor("x", Cut()))).elements
    assert [(each.attempt, each.granted) for each in waiters] == [(second, False)]


@SUITE.check
async def the_next_goes_when_a_holder_ends(world: World) -> None:
    line = await Line.of(world, 3)
    await limit(world, "x", 1)
    for place in range(3):
        await line.ask(place, {"x": None})
    assert await line.grant("x") == [0]
    await line.end(1)  # it gives up waiting
    await line.end(0)
    assert await line.grant("x") == [2]


@SUITE.check
async def asking_again_changes_nothing(world: World) -> None:
    line = await Line.of(world, 2)
    await limit(world, "x", 1)
    for _ in range(2):
        await line.ask(0, {"x": None}, since=1)
        await line.ask(1, {"x": None}, since=2)
    assert await line.grant("x") == [0]
    await line.ask(0, {"x": None}, since=9)
    await line.ask(1, {"x": None}, since=9)
    assert await line.grant("x") == []
    assert [
        each.attempt for each in (await world.store.permits(HoldersOf("x", Cut()))).elements
    ] == line.keys[:1]
    assert [each.since for each in (await world.store.permits(LineFor("x", Cut()))).elements] == [2]


@SUITE.check
async def urgent_ones_go_first_then_older_ones(world: World) -> None:
    line = await Line.of(world, 4)
    await limit(world, "x", 1)
    await line.ask(0, {"x": None}, since=10)
    await line.ask(1, {"x": None}, since=5)
    await line.ask(2, {"x": None}, since=99, criticality=Criticality.CRITICAL)
    await line.ask(3, {"x": None}, since=1, criticality=Criticality.LOW)
    told = (await world.store.permits(LineFor("x", Cut()))).elements
    assert [each.attempt for each in told] == [line.keys[place] for place in (2, 1, 0, 3)]
    second = (rank_of(None), 5, line.keys[1])
    behind = await world.store.permits(LineFor("x", Cut(most=1, above=second)))
    assert ([each.attempt for each in behind.elements], behind.before, behind.after) == (
        line.keys[:1],
        True,
        True,
    )
    before = await world.store.permits(LineFor("x", Cut(below=second)))
    assert [each.attempt for each in before.elements] == [line.keys[2]]
    order = []
    while places := await line.grant("x"):
        order += places
        await line.end(places[0])
    assert order == [2, 1, 0, 3]


@SUITE.check
async def all_tags_or_none(world: World) -> None:
    line = await Line.of(world, 3)
    await limit(world, "x", 1)
    await limit(world, "y", 1)
    await line.ask(0, {"x": None})
    await line.ask(1, {"x": None, "y": None})
    await line.ask(2, {"y": None})
    assert await line.grant("x", "y") == [0]
    # The second holds nothing while it waits, and the third does not pass it for `y`.
    assert [each.attempt for each in (await world.store.permits(HoldersOf("y", Cut()))).elements] == []
    await line.end(0)
    assert await line.grant("x") == [1]
    await line.end(1)
    assert await line.grant("y") == [2]


@SUITE.check
async def nobody_passes_an_earlier_waiter_for_another_tag(world: World) -> None:
    line = await Line.of(world, 3)
    await limit(world, "y", 1)
    await line.ask(0, {"y": None, "z": None})
    await line.ask(1, {"x": None, "y": None})
    # Whoever looks at `x` only must not let the second have the `y` that the first one comes before it for.
    assert await line.grant("x") == []
    assert await line.grant("z") == [0]
    await line.end(0)
    assert await line.grant("x") == [1]


@SUITE.check
async def a_tag_without_a_limit_is_free(world: World) -> None:
    line = await Line.of(world, 3)
    for place in range(3):
        await line.ask(place, {"free": None})
    assert await line.grant("free") == [0, 1, 2]
    assert await line.grant("unknown") == []


@SUITE.check
async def a_limit_is_the_users_else_the_first_holders_else_what_is_asked(world: World) -> None:
    line = await Line.of(world, 6)
    await line.ask(0, {"t": 1})
    await line.ask(1, {"t": 3})
    assert await line.grant("t") == [0]
    await line.ask(2, {"t": 5})
    assert await line.grant("t") == []  # the first holder brought a limit of 1
    await line.end(0)
    assert await line.grant("t") == [1, 2]  # now it is the first waiter's: 3
    await line.ask(3, {"t": 1})
    assert await line.grant("t") == [3]  # the first holder's 3 counts, not its own 1
    await limit(world, "t", 0)
    await line.ask(4, {"t": 9})
    assert await line.grant("t") == []
    assert len((await world.store.permits(HoldersOf("t", Cut()))).elements) == 3  # nothing is taken away
    await limit(world, "t", 4)
    assert await line.grant("t") == [4]
    await line.ask(5, {"t": None})
    assert await world.store.delete_tag("t")
    assert not await world.store.delete_tag("t")
    assert await line.grant("t") == []  # the first holder's limit again


@SUITE.check
async def no_more_start_than_the_rate_of_a_tag_says(world: World) -> None:
    """Starts count from their grant on, whether they have ended or not."""
    line, store = await Line.of(world, 6), world.store
    for place in range(6):
        await line.ask(place, {"r": None}, rates={"r": "2/hour"})
    now = await store.now()
    assert await line.grant("r") == [0, 1]
    found = await store.grant(["r"], granted)
    assert found.attempts == []
    assert near(found.slots_in["r"], HOUR)
    for place in (0, 1):
        await line.end(place)
    assert await line.grant("r") == []
    (standing,) = (await store.standings(["r"], most=5)).values()
    assert near(standing.next_slot, now + HOUR)
    assert standing.blocks(line.keys[2])
    await line.ask(2, {"r": None}, rates={"r": "3/hour"})  # the newest rate counts, and what was granted
    assert await line.grant("r") == [2]
    assert await line.grant("r") == []
    for place in range(2, 6):
        await line.end(place)
    assert await store.grant(["r"], granted) == Grants([])  # nobody waits: there is no slot to wait for


@SUITE.check
async def a_clock_that_was_ahead_holds_nobody_longer_than_its_rate(world: World) -> None:
    """Starts that are later than now count from the first look on, and from then on they grow old."""
    line, store = await Line.of(world, 3), world.store
    for place in range(3):
        await line.ask(place, {"r": None}, rates={"r": "1/minute"})
    await world.advance(HOUR)
    assert await line.grant("r") == [0]
    await world.advance(-HOUR)
    assert near((await store.standings(["r"], most=5))["r"].next_slot, await store.now() + MINUTE)
    assert near((await store.grant(["r"], granted)).slots_in["r"], MINUTE)
    await world.advance(MINUTE // 2)
    assert near((await store.grant(["r"], granted)).slots_in["r"], MINUTE // 2)
    await world.advance(MINUTE // 2 + 1)
    assert await line.grant("r") == [1]
    assert await line.grant("r") == []


@SUITE.check
async def a_user_sets_a_rate_and_takes_it_away(world: World) -> None:
    line, store = await Line.of(world, 6), world.store

    async def set_rate(rate: str | None, most: int | None = None) -> None:
        await store.change_tag("t", lambda _before: TagPermit(tag="t", max_allowed=most, rate=rate))

    await set_rate("1/day")
    assert await store.tag("t") == TagPermit(tag="t", rate="1/day")
    for place in range(6):
        await line.ask(place, {"t": None, "other": None})
    assert await line.grant("other") == [0]
    assert await line.grant("t") == []
    await set_rate("4/day", 3)  # a rate beside a limit: both hold
    assert await line.grant("t") == [1, 2]
    await line.end(0)
    assert await line.grant("t") == [3]
    await line.end(1)
    assert await line.grant("t") == []  # the limit has room, the rate has none
    await set_rate(None, 3)
    assert await line.grant("t") == [4]
    await set_rate("1/day")
    assert await line.grant("t") == [5]  # what was granted without a rate does not count
    assert await store.delete_tag("t")
    assert (await store.standings(["t"], most=1))["t"].next_slot is None


@SUITE.check
async def a_tag_is_changed_from_what_it_was(world: World) -> None:
    seen: list[TagPermit | None] = []

    def raise_by_one(before: TagPermit | None) -> TagPermit:
        seen.append(before)
        return TagPermit(tag="x", max_allowed=1 if before is None else (before.max_allowed or 0) + 1)

    assert await world.store.tag("x") is None
    for _ in range(2):
        await world.store.change_tag("x", raise_by_one)
    assert seen == [None, TagPermit(tag="x", max_allowed=1)]
    assert await world.store.tag("x") == TagPermit(tag="x", max_allowed=2)


@SUITE.check
async def a_tag_says_who_has_it_and_who_is_next(world: World) -> None:
    line = await Line.of(world, 6)
    await limit(world, "a", 2)
    for place in (0, 1, 2):
        await line.ask(place, {"a": None, "b": 9})
    assert await line.grant("a") == [0, 1]
    await line.ask(3, {"c": 2, "free": None})
    await line.ask(4, {"c": 5})
    await line.ask(5, {"c": 5})
    keys = line.keys
    found = await world.store.standings(["c", "a", "free", "unknown", "b"], most=1)
    assert found == {
        "a": TagStanding(limit=2, held=2, holders=(keys[0],)),
        "b": TagStanding(limit=9, held=2, holders=(keys[0],), next=(keys[2],)),
        "c": TagStanding(limit=2, next=(keys[3], keys[4])),
        "free": TagStanding(),
        "unknown": TagStanding(),
    }
    assert [found[tag].blocks(keys[2]) for tag in ("a", "b")] == [True, False]
    assert [found["c"].blocks(keys[place]) for place in (3, 4, 5)] == [False, False, True]
    assert not found["free"].blocks(keys[3])
    rows = (await world.store.permits(PermitsOf([keys[3], keys[2], keys[2]]))).elements
    assert [(row.attempt, row.tag, row.granted) for row in rows] == [
        (keys[2], "a", False),
        (keys[2], "b", False),
        (keys[3], "c", False),
        (keys[3], "free", False),
    ]
    assert await world.store.permits(PermitsOf([])) == Slice()
    assert await world.store.standings([], most=5) == {}


@SUITE.check
async def tags_are_listed_with_their_use(world: World) -> None:
    line = await Line.of(world, 3)
    await limit(world, "a", 1)
    await limit(world, "idle", 9)
    await line.ask(0, {"a": None}, since=7)
    await line.ask(1, {"a": None, "b": 1}, since=8)
    await line.grant("a")
    page = await world.store.tags(Cut())
    assert page.elements == (
        TagUse(tag="a", max_allowed=1, held=1, waiting=1, oldest=8),
        TagUse(tag="b", waiting=1, oldest=8),
        TagUse(tag="idle", max_allowed=9),
    )
    second = await world.store.tags(Cut(most=1, above="a"))
    assert [each.tag for each in second.elements] == ["b"]
    assert (second.before, second.after) == (True, True)
    assert await world.store.tags_waited_for([group_of_tag("a"), group_of_tag("b")]) == ["a", "b"]
    elsewhere = [group for group in range(128) if group not in {group_of_tag("a"), group_of_tag("b")}]
    assert await world.store.tags_waited_for(elsewhere) == []
