"""Records of functions, which nodes advertise them, and results of theirs that are kept for a while."""

import asyncio

import msgspec

from stretto.ports.functions import FunctionRecord
from stretto.ports.retention import Aged
from stretto.ports.rows import NodeId
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World

SUITE = Suite("functions")

EXTRACT = FunctionRecord(
    name="flows:extract",
    module="flows",
    qualname="extract",
    params={"day": "date", "limit": "int | None"},
    source_hash="1f" * 32,
)


@SUITE.check
async def a_function_is_remembered_by_its_name(world: World) -> None:
    assert await world.store.function_records(["flows:extract"]) == []
    assert await world.store.put_function(EXTRACT) is None
    assert await world.store.function_records(["flows:extract", "other"]) == [EXTRACT]
    changed = msgspec.structs.replace(EXTRACT, source_hash="2e" * 32, params={})
    assert await world.store.put_function(changed) == EXTRACT
    assert await world.store.function_records(["flows:extract"]) == [changed]
    assert await world.store.function_records([]) == []


@SUITE.check
async def functions_are_listed_by_name(world: World) -> None:
    assert await world.store.function_records() == []
    made = [
        msgspec.structs.replace(EXTRACT, name=name) for name in ("b:f", "B:f", "a:z", "a:\u00e9", "a" * 512)
    ]
    for each in made:
        await world.store.put_function(each)
    assert await world.store.function_records() == sorted(made, key=lambda each: each.name)


@SUITE.check
async def a_result_is_kept_until_its_time(world: World) -> None:
    assert await world.store.cached("k", 0) is None
    await world.store.keep("k", '{"rows": 3}', 1_000)
    await world.store.keep("other", "4", 5_000)
    assert await world.store.cached("k", 999) == '{"rows": 3}'
    assert await world.store.cached("k", 1_000) is None
    await world.store.keep("k", '"\u00e9"', 2_000)
    assert await world.store.cached("k", 1_000) == '"\u00e9"'


@SUITE.check
async def one_of_several_gets_a_key(world: World) -> None:
    store = world.store
    found = await asyncio.gather(
        *(store.keep_first("k", f"claim {number}", 1_000, 500) for number in range(8))
    )
    assert found.count(None) == 1
    winner = f"claim {found.index(None)}"
    assert set(found) == {None, winner}
    assert await store.cached("k", 1_499) == winner
    assert await store.cached("k", 1_500) is None


@SUITE.check
async def a_key_is_held_until_its_time(world: World) -> None:
    store = world.store
    assert await store.keep_first("k", "first", 1_000, 500) is None
    assert await store.keep_first("k", "first", 1_200, 500) is None  # the same one again
    assert await store.keep_first("k", "second", 1_699, 500) == "first"
    assert await store.keep_first("k", "second", 1_700, 500) is None
    await store.keep("k", "answer", 9_000)
    assert await store.keep_first("k", "third", 8_999, 500) == "answer"


@SUITE.check
async def only_the_holder_lets_go_of_a_key(world: World) -> None:
    store = world.store
    assert await store.keep_first("k", "first", 1_000, 500) is None
    await store.forget("k", "second")
    assert await store.keep_first("k", "second", 1_000, 500) == "first"
    await store.forget("k", "first")
    await store.forget("k", "first")
    assert await store.keep_first("k", "second", 1_000, 500) is None


@SUITE.check
async def a_large_result_is_kept_whole(world: World) -> None:
    text = '"' + "x" * 3_000_000 + '"'
    await world.store.keep("k", text, 1_000)
    assert await world.store.cached("k", 0) == text


@SUITE.check
async def results_past_their_time_are_deleted(world: World) -> None:
    for number in range(5):
        await world.store.keep(f"k{number}", "1", 1_000 + number)
    assert await world.store.prune(Aged.RESULTS, 1_000) == 0
    assert await world.store.prune(Aged.RESULTS, 1_003, most=2) == 2
    assert await world.store.prune(Aged.RESULTS, 1_003) == 1
    assert await world.store.cached("k3", 0) == "1"
    assert await world.store.cached("k2", 0) is None


# -------------------------------------------------------------------------------------------- advertisements
async def _versions(world: World) -> dict[NodeId, int]:
    return {row.node: row.advertised for row in await world.store.nodes()}


@SUITE.check
async def a_node_advertises_functions_when_it_joins(world: World) -> None:
    store = world.store
    heard = await store.join(NodeId("old"), None, ["flows:a"])
    assert [row.advertised for row in heard.nodes] == [1]
    await store.join(NodeId("new"), None, ["flows:b", "flows:a"])
    await store.join(NodeId("none"))
    assert await _versions(world) == {"new": 1, "none": 0, "old": 1}
    assert await store.advertised() == {"new": {"flows:a", "flows:b"}, "old": {"flows:a"}}
    assert await store.advertised([NodeId("new"), NodeId("none"), NodeId("nobody")]) == {
        "new": {"flows:a", "flows:b"}
    }
    assert await store.advertised([]) == {}


@SUITE.check
async def a_change_of_what_a_node_advertises_shows_in_its_row(world: World) -> None:
    store = world.store
    await store.join(NodeId("n"))
    assert await store.advertise(NodeId("n"), ["a", "é" * 200])
    assert await _versions(world) == {"n": 1}
    assert await store.advertise(NodeId("n"), ["b"])
    assert await _versions(world) == {"n": 2}
    assert await store.advertised() == {"n": {"b"}}
    heard = await store.beat(NodeId("n"))
    assert heard is not None
    assert [row.advertised for row in heard.nodes] == [2]
    assert await store.advertise(NodeId("n"), [])
    assert await _versions(world) == {"n": 3}
    assert await store.advertised() == {}


@SUITE.check
async def a_node_that_is_gone_advertises_nothing(world: World) -> None:
    store = world.store
    for name in ("left", "leaving", "dead"):
        await store.join(NodeId(name), None, ["f"])
    await store.leave(NodeId("left"))
    await store.start_leaving(NodeId("leaving"))
    assert await store.bury(NodeId("dead"), 1, expired=False) is not None
    assert await store.advertised() == {}
    assert await store.advertised([NodeId("left"), NodeId("leaving"), NodeId("dead")]) == {"leaving": {"f"}}
    assert await store.advertise(NodeId("leaving"), ["g"])
    assert not await store.advertise(NodeId("dead"), ["g"])
    assert not await store.advertise(NodeId("left"), ["g"])
    assert not await store.advertise(NodeId("unknown"), ["g"])
    assert await store.advertised([NodeId("leaving"), NodeId("dead")]) == {"leaving": {"g"}}
