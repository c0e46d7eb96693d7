"""Permits that are taken in the one statement of a PostgreSQL commit, and those that are counted first."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.ports.postgresql_bench import Schema
from tests.ports.postgresql_one_way import RUN, going_on, on_store, plan_of, world_of

from stretto.engine.permits import PermitUse, granted
from stretto.ports.commit import PermitAsk
from stretto.ports.failures import NoPermits
from stretto.ports.permits import PermitsOf
from stretto.store.postgresql import open_postgresql
from stretto.store.sql.at_once import Answer, at_once_of
from stretto.store.sql.granting import LOCK_TAGS
from stretto.testing.store_suite.taken_permits import Taker, holders, limit
from stretto.testing.store_suite.world import World, attempt_record, refusal

Answers = list[Answer | None]


# ---------------------------------------------------------------------------------------- what goes at once
def taking(most: int | None) -> Any:
    ask = PermitAsk(attempt=attempt_record(RUN, "s").key, limits={"t": most}, since=1, taken=True)
    return plan_of(going_on(keeps_due=True, permits=(ask,)))


def test_permits_of_tags_without_a_limit_go_along() -> None:
    rows = at_once_of([taking(None)], {"t": PermitUse().taken(None)})
    assert rows is not None
    assert (rows.tags, [row[:6] for row in rows.takes]) == ([("t", 1, None)], [(*RUN, "s", 1, "t")])


def test_of_a_tag_with_a_limit_only_what_is_returned_before() -> None:
    assert at_once_of([taking(5)], {"t": PermitUse().taken(5)}) is None
    rows = at_once_of([taking(5)], {"t": PermitUse().changed(-1).taken(5)})
    assert rows is not None
    assert rows.tags == [("t", 0, 5)]


# -------------------------------------------------------------------------------------------------- commits
async def takers(store: Any, answers: Answers, count: int = 1) -> tuple[World, list[Taker]]:
    """Runs whose beat was renewed just now."""
    world = world_of(store)
    made = await Taker.several(world, count)
    await made[0].owner.decide(made[0].run)
    answers.clear()
    return world, made


async def hand_over(
    taker: Taker, before: str, after: str, most: int | None = None, tags: Sequence[str] = ("x",)
) -> Any:
    ask = taker.ask(after, dict.fromkeys(tags, most))
    return await taker.commit(taker.decided(ask, ended=[before], freed=tags))


def written(answers: Answers) -> list[bool | None]:
    return [each and each.is_written for each in answers]


def test_permits_of_a_tag_without_a_limit(one_way: Schema, answers: Answers) -> None:
    async def use(store: Any) -> None:
        _world, (taker,) = await takers(store, answers)
        done = await taker.take("a", {"x": None})
        assert done.left == {"x": None}
        (held,) = (await store.permits(PermitsOf([taker.key("a")]))).elements
        assert (held.tag, held.granted, held.granted_at) == ("x", True, done.now)
        await taker.commit(taker.decided(ended=["a"], freed=["x"]))
        assert not (await store.permits(PermitsOf([taker.key("a")]))).elements

    on_store(one_way.url, use)
    assert written(answers) == [True, True]


def test_permits_of_a_tag_with_a_limit_are_counted(one_way: Schema, answers: Answers) -> None:
    """A limit that is set holds from the next commit on, also where the tag had none before."""

    async def use(store: Any) -> None:
        world, (taker,) = await takers(store, answers)
        await taker.take("a", {"x": None})
        await limit(world, "x", 1)
        assert (await refusal(NoPermits, taker.take("b", {"x": None}))).tags == {"x"}
        await taker.commit(taker.decided(ended=["a"], freed=["x"]))
        assert (await taker.take("b", {"x": None})).left == {"x": 0}
        await taker.commit(taker.decided(ended=["b"], freed=["x"]))
        assert (await taker.take("c", {"x": None})).left == {"x": 0}

    on_store(one_way.url, use)
    # The limit was not known, and the commit in one way wrote nothing; once it is known none is tried.
    assert written(answers) == [True, False, True, False, True]


@pytest.mark.parametrize("brought", [False, True], ids=["set", "brought along"])
def test_a_permit_is_handed_over_in_one_way(one_way: Schema, answers: Answers, brought: bool) -> None:
    most = 3 if brought else None

    async def use(store: Any) -> None:
        world, (one, two) = await takers(store, answers, 2)
        if not brought:
            await limit(world, "x", 3)
        await one.take("a", {"x": most, "free": None})
        await two.take("a", {"x": most})
        answers.clear()
        tags = {"x": most, "free": None}
        done = await one.commit(one.decided(one.ask("b", tags), ended=["a"], freed=list(tags)))
        assert done.left == {"free": None, "x": 1}
        assert (await hand_over(two, "a", "b", most)).left == {"x": 1}
        assert await holders(world, "x") == ["b", "b"]
        assert await holders(world, "free") == ["b"]

    on_store(one_way.url, use)
    assert written(answers) == [True, True]


def test_several_hand_over_in_one_commit(one_way: Schema, answers: Answers) -> None:
    """Also one after the other what but one of them returns; not what is taken before it is returned."""

    async def use(store: Any) -> None:
        world, (taker,) = await takers(store, answers)
        await limit(world, "x", 2)
        await taker.take("a", {"x": None})
        answers.clear()
        first = taker.decided(taker.ask("b", {"x": None}), ended=["a"], freed=["x"])
        second = taker.decided(taker.ask("c", {"x": None}), ended=["b"], freed=["x"])
        # The permit of `b` is released before it is taken: nothing is left of it.
        await taker.commit(msgspec.structs.replace(first, permits=()), second)
        assert await holders(world, "x") == ["c"]
        late = taker.decided(ended=["c"], freed=["x"])
        assert (await taker.commit(taker.decided(taker.ask("d", {"x": None})), late)).left == {"x": 1}
        assert await holders(world, "x") == ["d"]

    on_store(one_way.url, use)
    assert written(answers) == [True]


def test_nothing_is_handed_over_while_somebody_waits(one_way: Schema, answers: Answers) -> None:
    async def use(store: Any) -> None:
        world, (one, two) = await takers(store, answers, 2)
        await limit(world, "x", 2)
        await limit(world, "y", 0)
        await one.take("a", {"x": None})
        await two.commit(two.decided(two.ask("w", {"x": None, "y": None}, taken=False)))
        answers.clear()
        assert (await hand_over(one, "a", "b")).left == {"x": 0}  # there is room for both
        await two.commit(two.decided(two.ask("v", {"x": None}, taken=False)))
        await refusal(NoPermits, hand_over(one, "b", "c"))
        assert await holders(world, "x") == ["b"]

    on_store(one_way.url, use)
    assert written(answers) == [False, False]


def test_who_waited_has_nothing_to_hand_over(one_way: Schema, answers: Answers) -> None:
    """It ends while it stands in line, and the next step takes a permit that nobody held."""

    async def use(store: Any) -> None:
        world, (taker,) = await takers(store, answers)
        await limit(world, "x", 2)
        await taker.commit(taker.decided(taker.ask("a", {"x": None}, taken=False)))
        answers.clear()
        assert (await hand_over(taker, "a", "b")).left == {"x": 1}

    on_store(one_way.url, use)
    assert written(answers) == [False]


def test_a_limit_that_was_lowered_is_kept(one_way: Schema, answers: Answers) -> None:
    async def use(store: Any) -> None:
        world, (one, two) = await takers(store, answers, 2)
        await limit(world, "x", 2)
        for taker in (one, two):
            await taker.take("a", {"x": None})
        await limit(world, "x", 1)
        answers.clear()
        await refusal(NoPermits, hand_over(one, "a", "b"))
        assert await holders(world, "x") == ["a", "a"]

    on_store(one_way.url, use)
    assert written(answers) == [False]


def test_starts_under_a_rate_are_counted(one_way: Schema, answers: Answers) -> None:
    async def use(store: Any) -> None:
        world, (taker,) = await takers(store, answers)
        await limit(world, "x", 5, "2/hour")
        await taker.take("a", {"x": None})
        answers.clear()
        assert (await hand_over(taker, "a", "b")).left == {"x": 0}
        await refusal(NoPermits, hand_over(taker, "b", "c"))

    on_store(one_way.url, use)
    assert written(answers) == [False, False]


def test_if_holders_brought_other_limits_along_the_first_one_counts(
    one_way: Schema, answers: Answers
) -> None:
    async def use(store: Any) -> None:
        _world, (one, two) = await takers(store, answers, 2)
        await one.take("a", {"x": 2})
        await two.take("a", {"x": 9})
        answers.clear()
        assert (await hand_over(two, "a", "b", 9)).left == {"x": 0}
        assert (await hand_over(one, "a", "b", 2)).left == {"x": 0}
        assert (await hand_over(one, "b", "c", 2)).left == {"x": 7}

    on_store(one_way.url, use)
    assert written(answers) == [False, False, False]


def test_to_hand_over_waits_for_nobody_who_counts(one_way: Schema, answers: Answers) -> None:
    """The tag is locked, and its holders are counted: there are as many before, meanwhile and after."""

    async def use(store: Any) -> None:
        world, (one, two) = await takers(store, answers, 2)
        await limit(world, "x", 1)
        await one.take("a", {"x": None})
        other: Any = await open_postgresql(one_way.url)
        try:
            locked, free = asyncio.Event(), asyncio.Event()

            async def hold(tx: Any) -> None:
                await tx.all(LOCK_TAGS, tags=["x"])
                locked.set()
                await free.wait()

            holding = asyncio.create_task(other._db.write(hold))
            await locked.wait()
            answers.clear()
            assert (await hand_over(one, "a", "b")).left == {"x": 0}
            free.set()
            await holding
        finally:
            await other.close()
        await two.commit(two.decided(two.ask("w", {"x": None}, taken=False)))
        assert (await store.grant(["x"], granted)).attempts == []

    on_store(one_way.url, use)
    assert written(answers) == [True]
