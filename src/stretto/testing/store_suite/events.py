"""The change log: in order, without gaps, kept until it is delivered."""

from stretto.ports.commit import Decided
from stretto.ports.events import Trimmed
from stretto.ports.places import GROUPS
from stretto.ports.retention import Aged
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.world import World, refusal

SUITE = Suite("events")


async def log(world: World, owner: Owner, group: int, count: int) -> None:
    """Rows of the log, a second apart."""
    for _ in range(count):
        await owner.commit(group, Decided(events=(event(f"{group}"),)))
        await world.advance(1_000)


@SUITE.check
async def a_reader_sees_what_follows_its_cursor(world: World) -> None:
    owner = await world.owner()
    await log(world, owner, 1, 3)
    await log(world, owner, 2, 2)
    newest = await world.store.newest_seqs()
    assert (newest[1], newest[2], newest[3]) == (3, 2, 0)
    assert len(newest) == GROUPS
    rows = await world.store.read_log({2: 0, 1: 1})
    assert [(each.group, each.seq) for each in rows] == [(1, 2), (1, 3), (2, 1), (2, 2)]
    assert rows[0].events == (event("1"),)
    few = await world.store.read_log({1: 0, 2: 0}, most=1)
    assert [(each.group, each.seq) for each in few] == [(1, 1), (2, 1)]
    assert await world.store.read_log(newest) == []
    assert await world.store.read_log({}) == []


@SUITE.check
async def a_long_log_is_read_in_parts(world: World) -> None:
    """Who comes back after a long time is behind in many groups."""
    owner = await world.owner()
    for group, count in ((1, 5), (2, 1), (3, 4)):
        await log(world, owner, group, count)
    rows = await world.store.read_log({1: 0, 2: 0, 3: 0, 4: 0}, most=6)
    assert [(each.group, each.seq) for each in rows] == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2)]
    rows = await world.store.read_log({1: 2, 2: 1, 3: 2, 4: 0}, most=6)
    assert [(each.group, each.seq) for each in rows] == [(1, 3), (1, 4), (1, 5), (3, 3), (3, 4)]


@SUITE.check
async def a_reader_of_another_log_is_told(world: World) -> None:
    """Else it would hear nothing until the log has grown beyond its cursor."""
    owner = await world.owner()
    await log(world, owner, 1, 2)
    error = await refusal(Trimmed, world.store.read_log({1: 3, 2: 0}))
    assert error.groups == {1}
    error = await refusal(Trimmed, world.store.read_log({1: 0, 2: 7}))
    assert error.groups == {2}


@SUITE.check
async def a_reader_is_told_what_it_missed(world: World) -> None:
    owner = await world.owner()
    await log(world, owner, 1, 4)
    await log(world, owner, 2, 1)
    third = (await world.store.read_log({1: 2}))[0]
    assert await world.store.prune(Aged.LOG, third.at) == 2
    error = await refusal(Trimmed, world.store.read_log({1: 1, 2: 0}))
    assert error.groups == {1}
    rows = await world.store.read_log({1: 2, 2: 0})
    assert [(each.group, each.seq) for each in rows] == [(1, 3), (1, 4), (2, 1)]


@SUITE.check
async def the_newest_row_of_a_group_stays(world: World) -> None:
    owner = await world.owner()
    await log(world, owner, 1, 3)
    end = await world.store.now()
    assert await world.store.prune(Aged.LOG, end + 1, most=1) == 1
    assert await world.store.prune(Aged.LOG, end + 1) == 1
    assert await world.store.prune(Aged.LOG, end + 1) == 0
    assert (await world.store.newest_seqs())[1] == 3
    assert [each.seq for each in await world.store.load_groups([1])] == [3]


@SUITE.check
async def a_row_stays_as_long_as_one_before_it(world: World) -> None:
    """A clock that is set back makes rows older than those before them; a gap would be taken for a loss."""
    owner = await world.owner()
    await log(world, owner, 1, 1)
    await world.advance(-100_000)
    await log(world, owner, 1, 3)
    first, second, third, _newest = await world.store.read_log({1: 0})
    assert first.at > third.at > second.at
    assert await world.store.prune(Aged.LOG, third.at + 1) == 0
    assert [each.seq for each in await world.store.read_log({1: 0})] == [1, 2, 3, 4]
    assert await world.store.prune(Aged.LOG, first.at + 1, most=2) == 2
    assert [each.seq for each in await world.store.read_log({1: 2})] == [3, 4]
    assert await world.store.prune(Aged.LOG, first.at + 1) == 1


@SUITE.check
async def what_a_sink_has_not_delivered_stays(world: World) -> None:
    owner = await world.owner()
    await log(world, owner, 1, 4)
    end = await world.store.now()
    assert await world.store.mark_delivered("hooks", {}) == {}
    await world.store.mark_delivered("hooks", {1: 2, 5: 0})
    await world.store.mark_delivered("hooks", {1: 1})  # it never goes back
    await world.store.mark_delivered("stream", {1: 3})
    assert await world.store.mark_delivered("hooks", {}) == {1: 2, 5: 0}
    assert await world.store.prune(Aged.LOG, end + 1) == 2
    assert await world.store.mark_delivered("hooks", None) == {}
    assert await world.store.mark_delivered("hooks", None) == {}
    assert await world.store.mark_delivered("hooks", {}) == {}
    assert await world.store.prune(Aged.LOG, end + 1) == 1
