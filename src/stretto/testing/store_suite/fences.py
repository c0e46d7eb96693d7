"""Commits that are fenced: nobody writes for a group but under its current generation."""

from stretto.engine.records import RunKey
from stretto.ports.commit import Decided
from stretto.ports.messages import Letter, Log
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId, Phase
from stretto.ports.run_snapshot import read_attempt
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.world import World, attempt_record, near

SUITE = Suite("fences")
A, B = NodeId("node-a"), NodeId("node-b")


async def two_runs(world: World, owner: Owner) -> tuple[RunKey, RunKey]:
    """Live runs in two different groups."""
    first = await world.live(owner)
    second = await world.live(owner)
    while await owner.group_of(first) == await owner.group_of(second):
        second = await world.live(owner)
    return first, second


@SUITE.check
async def a_fenced_group_leaves_the_batch_and_the_others_commit(world: World) -> None:
    await world.publish()
    owner = await world.owner("node-a")
    lost, kept = await two_runs(world, owner)
    groups = [await owner.group_of(run) for run in (lost, kept)]
    await world.store.give_up(A, [owner.leases[groups[0]]])
    await world.store.join(B)
    await world.store.claim(B, 1)
    attempts = [attempt_record(run, "step") for run in (lost, kept)]
    parts = [
        owner.part(
            group,
            Decided(
                root=run,
                records=(attempt,),
                events=(event("x"),),
                sent=(Letter(ref="hello", to_group=group, body=Log(at=1)),),
            ),
        )
        for group, run, attempt in zip(groups, (lost, kept), attempts, strict=True)
    ]
    done = await world.store.commit(A, parts)
    assert done.fenced == {groups[0]}
    assert await read_attempt(world.store, attempts[0].key) is None
    assert await read_attempt(world.store, attempts[1].key) is not None
    assert (await world.store.fetch(B, [groups[0]])).messages == ()
    assert len((await world.store.fetch(B, [groups[1]])).messages) == 1
    seqs = await world.store.newest_seqs()
    assert (seqs[groups[0]], seqs[groups[1]]) == (0, 1)


@SUITE.check
async def every_way_to_lose_a_group_fences(world: World) -> None:
    async def bury(_owner: Owner) -> None:
        await world.store.bury(A, 1, expired=False)

    async def leave(owner: Owner) -> None:
        await world.store.leave(owner.node)

    async def claim_again(owner: Owner) -> None:
        await world.store.claim_again(owner.node, list(owner.leases.values()))

    await world.publish()
    for number, lose in enumerate((bury, leave, claim_again)):
        owner = await world.owner("node-a" if number == 0 else f"node-{number}")
        run = await world.live(owner)
        record = attempt_record(run, "step")
        await lose(owner)
        done = await owner.decide(run, records=(record,))
        assert done.fenced == {await owner.group_of(run)}
        assert await read_attempt(world.store, record.key) is None


@SUITE.check
async def a_fenced_launch_leaves_the_run_to_the_next_owner(world: World) -> None:
    await world.publish()
    first = await world.owner("node-a")
    run = await world.start()
    await world.store.bury(A, 1, expired=False)
    await first.launch(run)
    assert (await world.row(run)).phase is Phase.ADMITTED
    second = await world.owner("node-b")
    await second.launch(run)
    assert (await world.row(run)).phase is Phase.LIVE


@SUITE.check
async def an_empty_commit_and_a_wholly_fenced_one_are_no_errors(world: World) -> None:
    owner = await world.owner("node-a")
    done = await world.store.commit(A, [])
    assert done.fenced == frozenset()
    assert near(done.now, await world.store.now())
    await world.store.leave(A)
    parts = [owner.part(group, Decided()) for group in range(GROUPS)]
    assert (await world.store.commit(A, parts)).fenced == frozenset(range(GROUPS))
