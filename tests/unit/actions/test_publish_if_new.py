"""A version is made where something is new, and found where it is not."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from stretto.actions.caller import Caller
from stretto.actions.parts.run_text import run_text
from stretto.actions.publish import publish
from stretto.actions.publish_if_new import publish_if_new
from stretto.definition import parse
from stretto.engine.records import RunKey
from stretto.model.errors import Conflict
from stretto.model.user import User
from stretto.store.opening import open_store

T = TypeVar("T")
ANN = Caller(user=User(name="ann"))
PLAIN = "workflow: {id: w, steps: [{step: {id: s, type: NoOp}}]}"
DAILY = (
    "workflow: {id: w, time_triggers: [{type: CRON, cron: 0 6 * * *}], steps: [{step: {id: s, type: NoOp}}]}"
)


def done(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def test_the_same_content_is_the_same_version() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        definition = parse(PLAIN)
        assert [await publish_if_new(store, ANN, definition) for _ in range(2)] == [1, 1]
        row = await store.workflow("w")
        assert row is not None
        assert row.properties.owner == ANN.user
        changed = msgspec.structs.replace(definition.workflow, description="another")
        assert await publish_if_new(store, ANN, msgspec.structs.replace(definition, workflow=changed)) == 2

    done(work())


def test_triggers_are_switched_on_for_who_asks() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        definition = parse(DAILY)

        async def active() -> int:
            row = await store.workflow("w")
            assert row is not None
            return row.active_version

        assert await publish_if_new(store, ANN, definition) == 1
        assert await active() == 0
        assert await publish_if_new(store, ANN, definition, triggers=True) == 1
        assert await active() == 1
        assert await publish_if_new(store, ANN, definition, triggers=True) == 1

    done(work())


def test_how_people_write_a_run() -> None:
    assert run_text(RunKey("etl", 3, 1)) == "etl/3"
    assert run_text(RunKey("etl", 3, 2)) == "etl/3/2"


def test_of_many_who_publish_the_same_at_once_one_does(tmp_path: Path) -> None:
    async def work() -> None:
        store = await open_store(f"sqlite:///{tmp_path / 'w.db'}")
        try:
            definition = parse(PLAIN)
            many = (publish_if_new(store, ANN, definition) for _ in range(20))
            assert await asyncio.gather(*many) == [1] * 20
        finally:
            await store.close()

    done(work())


def test_nothing_is_published_on_top_of_what_the_caller_has_not_seen() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        definition = parse("{properties: {owner: ann}, " + PLAIN + "}")
        await publish(store, ANN, definition, if_latest=0)
        with pytest.raises(Conflict, match=r"The newest version of workflow \[w\] is \[1\], not \[0\]"):
            await publish(store, ANN, definition, if_latest=0)
        await publish(store, ANN, definition, if_latest=1)

    done(work())
