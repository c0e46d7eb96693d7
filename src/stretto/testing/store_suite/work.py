"""Pool work: taken by one, free again with its taker's death."""

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.commit import Decided
from stretto.ports.paging import Cut
from stretto.ports.rows import NodeId
from stretto.ports.work import FreeWork, PoolUse, Work, WorkPage
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World

SUITE = Suite("work")
A, B = NodeId("worker-a"), NodeId("worker-b")


def attempt(number: int) -> AttemptKey:
    return AttemptKey(RunKey("wf", number, 1), "s", 1)


async def offer(owner: Owner, number: int, pool: str = "gpu") -> None:
    work = Work(attempt=attempt(number), launch=1, pool=pool, group=1)
    await owner.commit(1, Decided(work=(work,)))


@SUITE.check
async def the_oldest_is_taken_first_and_once(world: World) -> None:
    owner = await world.owner()
    await world.store.join(A)
    await world.store.join(B)
    for number in (2, 1):
        await offer(owner, number)
        await world.advance(10)
    await offer(owner, 3, pool="cpu")
    first = await world.store.take_work(A, "gpu")
    second = await world.store.take_work(B, "gpu")
    assert first is not None
    assert second is not None
    assert (first.attempt, first.taken_by, first.take) == (attempt(2), A, 1)
    assert (second.attempt, second.taken_by) == (attempt(1), B)
    assert await world.store.take_work(A, "gpu") is None


@SUITE.check
async def a_message_says_which_to_take(world: World) -> None:
    owner = await world.owner()
    await world.store.join(A)
    for number in (1, 2):
        await offer(owner, number)
    found = await world.store.take_work(A, "gpu", attempt(2))
    assert found is not None
    assert found.attempt == attempt(2)
    assert await world.store.take_work(A, "gpu", attempt(2)) is None
    assert await world.store.take_work(A, "gpu", attempt(9)) is None


@SUITE.check
async def only_the_living_take(world: World) -> None:
    owner = await world.owner()
    await offer(owner, 1)
    assert await world.store.take_work(A, "gpu") is None
    await world.store.join(A)
    await world.store.start_leaving(A)
    assert await world.store.take_work(A, "gpu") is None


@SUITE.check
async def a_new_launch_is_free_and_counts_from_the_start(world: World) -> None:
    owner = await world.owner()
    await world.store.join(A)
    await offer(owner, 1)
    await world.store.take_work(A, "gpu")
    again = Work(attempt=attempt(1), launch=2, pool="gpu", group=1, take=5, taken_by=B)
    await owner.commit(1, Decided(work=(again,)))  # who takes it is not the sender's to say
    (row,) = (await world.store.pool_work(WorkPage("gpu", Cut()))).elements
    assert (row.launch, row.take, row.taken_by) == (2, 0, None)


@SUITE.check
async def what_stays_free_is_found_by_a_sweep(world: World) -> None:
    owner = await world.owner()
    await world.store.join(A)
    for number in (1, 2, 3):
        await offer(owner, number)
        await world.advance(1_000)
    taken = await world.store.take_work(A, "gpu")
    assert taken is not None
    now = await world.store.now()
    free = (await world.store.pool_work(FreeWork("gpu", before=now))).elements
    await offer(owner, 4, "cpu")
    await world.store.take_work(A, "cpu")
    assert await world.store.pools() == [
        PoolUse(pool="cpu", busy=1),
        PoolUse(pool="gpu", ready=2, busy=1, oldest=free[0].since),
    ]
    assert [each.ready for each in await world.store.pools(most=1)] == [0, 1]
    assert [each.attempt for each in free] == [attempt(2), attempt(3)]
    assert (await world.store.pool_work(FreeWork("gpu", before=now, most=1))).elements == free[:1]
    assert (await world.store.pool_work(FreeWork("gpu", before=free[0].since))).elements == ()
    await world.store.bury(A, 1, expired=False)
    freed = (await world.store.pool_work(FreeWork("gpu", before=await world.store.now() + 1))).elements
    assert [each.attempt for each in freed] == [attempt(2), attempt(3), attempt(1)]
    again = await world.store.take_work(owner.node, "gpu", attempt(1))
    assert again is not None
    assert again.take == 2
