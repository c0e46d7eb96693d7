"""Bulk jobs: made once, held by one at a time, noted item by item, ended once."""

import msgspec

from stretto.model.run_config import RunPolicy
from stretto.model.user import User
from stretto.ports.bulk import (
    BulkChange,
    BulkItem,
    BulkJob,
    BulkProgress,
    BulkState,
    BulkTarget,
    ItemState,
)
from stretto.ports.paging import Cut
from stretto.ports.retention import Aged
from stretto.ports.store import Store
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World

SUITE = Suite("bulk")

HOLD = 60_000


def job(name: str, total: int = 3, at: int = 1_000) -> BulkJob:
    return BulkJob(
        job_id=name,
        action="RESTART",
        by=User(name="ann"),
        reason="because",
        restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE,
        create_time=at,
        total=total,
    )


def state_of(found: BulkJob | None) -> BulkState | None:
    return None if found is None else found.state


async def progress(store: Store, job_id: str) -> BulkProgress:
    found = await store.bulk_progress(job_id)
    assert found is not None
    return found


def items(count: int = 3) -> list[BulkItem]:
    return [
        BulkItem(
            number=number,
            target=BulkTarget(workflow_id="w\u00e9", workflow_instance_id=number + 1, step_id="s"),
        )
        for number in range(count)
    ]


@SUITE.check
async def a_job_is_made_once(world: World) -> None:
    store = world.store
    assert await store.bulk_progress("j") is None
    assert await store.put_bulk(job("j"), items()) is True
    assert await store.put_bulk(job("j", at=5), items(1)) is False
    assert (await progress(store, "j")).job == job("j")
    assert (await store.bulk_items("j", Cut())).elements == tuple(items())
    assert (await progress(store, "j")).counts == {ItemState.WAITING: 3}
    assert (await store.bulk_items("other", Cut())).elements == ()


@SUITE.check
async def a_job_is_held_by_one(world: World) -> None:
    store = world.store
    assert await store.take_bulk(HOLD) is None
    await store.put_bulk(job("a"), items())
    await store.put_bulk(job("b"), items())
    taken = [await store.take_bulk(HOLD) for _ in range(3)]
    assert sorted(each.job_id for each in taken if each is not None) == ["a", "b"]
    assert taken[2] is None


@SUITE.check
async def a_job_that_is_not_held_any_more_is_taken_again(world: World) -> None:
    store = world.store
    await store.put_bulk(job("j"), items())
    assert await store.take_bulk(0) == job("j")
    assert await store.take_bulk(0) == job("j")
    assert state_of(await store.change_bulk("j", BulkChange(hold=HOLD))) is BulkState.RUNNING
    assert await store.take_bulk(HOLD) is None
    assert state_of(await store.change_bulk("j", BulkChange(hold=0))) is BulkState.RUNNING
    assert await store.take_bulk(HOLD) == job("j")


@SUITE.check
async def a_clock_that_was_ahead_holds_no_job(world: World) -> None:
    store = world.store
    await store.put_bulk(job("j"), items())
    await world.advance(60 * HOLD)
    assert await store.take_bulk(HOLD) == job("j")
    await world.advance(-60 * HOLD)
    assert await store.take_bulk(HOLD) == job("j")
    assert await store.take_bulk(HOLD) is None


@SUITE.check
async def items_are_noted(world: World) -> None:
    store = world.store
    await store.put_bulk(job("j"), items())
    await store.put_bulk(job("k"), items())
    done = msgspec.structs.replace(items()[1], state=ItemState.DONE, message="fine", at=7)
    bad = msgspec.structs.replace(items()[0], state=ItemState.REFUSED, message="no", at=8)
    assert (
        state_of(await store.change_bulk("j", BulkChange(items=(bad, done), hold=HOLD))) is BulkState.RUNNING
    )
    assert (await store.bulk_items("j", Cut())).elements == (bad, done, items()[2])
    assert (await progress(store, "j")).counts == dict.fromkeys(
        (ItemState.WAITING, ItemState.DONE, ItemState.REFUSED), 1
    )
    waiting = await store.bulk_items("j", Cut(), ItemState.WAITING)
    assert waiting.elements == (items()[2],)
    assert (await progress(store, "k")).counts == {ItemState.WAITING: 3}
    assert await store.change_bulk("gone", BulkChange(items=(done,), hold=HOLD)) is None


@SUITE.check
async def items_are_cut_into_pages(world: World) -> None:
    await world.store.put_bulk(job("j", 5), items(5))
    page = await world.store.bulk_items("j", Cut(most=2, above=1))
    assert [each.number for each in page.elements] == [2, 3]
    assert (page.before, page.after) == (True, True)
    page = await world.store.bulk_items("j", Cut(most=2, below=2), ItemState.WAITING)
    assert [each.number for each in page.elements] == [0, 1]


@SUITE.check
async def a_job_ends_once(world: World) -> None:
    store = world.store
    await store.put_bulk(job("j"), items())
    done = msgspec.structs.replace(items()[0], state=ItemState.DONE)
    await store.change_bulk("j", BulkChange(items=(done,), hold=0))
    ended = await store.change_bulk("j", BulkChange(ends=BulkState.CANCELLED))
    assert ended is not None
    assert ended.state is BulkState.CANCELLED
    assert ended.end_time is not None
    assert (await progress(store, "j")).job == ended
    assert await store.change_bulk("j", BulkChange(ends=BulkState.DONE)) == ended
    assert (await progress(store, "j")).counts == {ItemState.DONE: 1, ItemState.CANCELLED: 2}
    assert [each.state for each in (await store.bulk_items("j", Cut())).elements] == [
        ItemState.DONE,
        ItemState.CANCELLED,
        ItemState.CANCELLED,
    ]
    assert await store.take_bulk(HOLD) is None
    assert state_of(await store.change_bulk("j", BulkChange(hold=HOLD))) is BulkState.CANCELLED
    assert await store.change_bulk("gone", BulkChange(ends=BulkState.DONE)) is None


@SUITE.check
async def jobs_are_listed_newest_first(world: World) -> None:
    store = world.store
    for name, at in (("b", 2), ("a", 2), ("c", 1)):
        await store.put_bulk(job(name, at=at), ())
    page = await store.bulk_jobs(Cut(most=2))
    assert [each.job_id for each in page.elements] == ["b", "a"]
    assert page.after
    rest = await store.bulk_jobs(Cut(most=2, below=(2, "a")))
    assert [each.job_id for each in rest.elements] == ["c"]


@SUITE.check
async def old_jobs_are_forgotten_once_they_have_ended(world: World) -> None:
    store = world.store
    for name, at in (("a", 1), ("b", 2), ("c", 3), ("d", 9)):
        await store.put_bulk(job(name, at=at), items())
    for name in ("a", "b", "d"):
        await store.change_bulk(name, BulkChange(ends=BulkState.DONE))
    assert await store.prune(Aged.BULKS, 5, most=1) == 1
    assert await store.bulk_progress("a") is None
    assert (await store.bulk_items("a", Cut())).elements == ()
    assert await store.prune(Aged.BULKS, 5) == 1
    assert await store.prune(Aged.BULKS, 5) == 0
    assert [each.job_id for each in (await store.bulk_jobs(Cut())).elements] == ["d", "c"]
