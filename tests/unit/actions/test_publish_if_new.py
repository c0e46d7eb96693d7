"""A version is made where something is new, and found where it is not."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from stretto.actions.activate import activate
from stretto.actions.caller import Caller
from stretto.actions.deactivate import deactivate
from stretto.actions.publish import publish
from stretto.actions.publish_if_new import publish_if_new
from stretto.actions.update_properties import update_properties
from stretto.definition import parse
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.model.errors import Conflict
from stretto.model.properties import AT_ONCE, Properties, PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.user import User
from stretto.model.workflow import Definition
from stretto.ports.workflows import read_workflow
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
        row = await read_workflow(store, "w")
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
            row = await read_workflow(store, "w")
            assert row is not None
            return row.active_version

        assert await publish_if_new(store, ANN, definition) == 1
        assert await active() == 0
        assert await publish_if_new(store, ANN, definition, triggers=True) == 1
        assert await active() == 1
        assert await publish_if_new(store, ANN, definition, triggers=True) == 1

    done(work())


@pytest.mark.parametrize("chosen", [0, 1])
def test_what_an_operator_switched_off_stays_off(chosen: int) -> None:
    """Also where an older version was chosen; a version that is new is switched on."""

    async def work() -> None:
        store = await open_store("memory:")
        definition = parse(DAILY)
        new = msgspec.structs.replace(
            definition, workflow=msgspec.structs.replace(definition.workflow, description="new")
        )

        async def active() -> int:
            row = await read_workflow(store, "w")
            assert row is not None
            return row.active_version

        for number, each in ((1, definition), (2, new)):
            assert await publish_if_new(store, ANN, each, triggers=True) == number
            assert await active() == number
        await (activate(store, ANN, "w", "1") if chosen else deactivate(store, ANN, "w"))
        for _ in range(2):
            assert await publish_if_new(store, ANN, new, triggers=True) == 2
            assert await active() == chosen
        assert await publish_if_new(store, ANN, definition, triggers=True) == 3
        assert await active() == 3

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


# ----------------------------------------------------------------------------------- what an operator has set
def by_program(definition: Definition, **properties: Any) -> Definition:
    """As a workflow in Python says it."""
    given = Properties(**{"run_strategy": AT_ONCE, **properties})
    return msgspec.structs.replace(definition, properties=given)


def test_a_workflow_of_an_earlier_release_runs_at_once_from_now_on() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        assert await publish_if_new(store, ANN, parse(PLAIN)) == 1  # it left the strategy open
        row = await read_workflow(store, "w")
        assert row is not None
        assert row.properties.run_strategy is None
        assert await publish_if_new(store, ANN, by_program(parse(PLAIN))) == 2
        row = await read_workflow(store, "w")
        assert row is not None
        assert row.strategy == AT_ONCE
        assert await publish_if_new(store, ANN, by_program(parse(PLAIN))) == 2

    done(work())


def test_a_program_that_starts_again_keeps_what_an_operator_set() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        await publish_if_new(store, ANN, by_program(parse(PLAIN)))
        two = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=2)
        await update_properties(store, ANN, "w", PropertiesUpdate(run_strategy=two, step_concurrency=3))
        changed = parse(PLAIN.replace("id: w", "id: w, description: new"))
        for definition, version in ((parse(PLAIN), 1), (changed, 2), (changed, 2), (parse(PLAIN), 3)):
            assert await publish_if_new(store, ANN, by_program(definition)) == version
            row = await read_workflow(store, "w")
            assert row is not None
            assert (row.strategy, row.properties.step_concurrency) == (two, 3)
        with_text = by_program(parse(PLAIN), description="of a program")
        assert await publish_if_new(store, ANN, with_text) == 4
        row = await read_workflow(store, "w")
        assert row is not None
        assert (row.strategy, row.properties.description) == (two, "of a program")

    done(work())


def test_what_the_program_names_wins() -> None:
    async def work() -> None:
        store = await open_store("memory:")
        one = RunStrategy(rule=RunStrategyRule.SEQUENTIAL)
        await publish_if_new(store, ANN, by_program(parse(PLAIN), run_strategy=one))
        await update_properties(store, ANN, "w", PropertiesUpdate(run_strategy=AT_ONCE))
        assert await publish_if_new(store, ANN, by_program(parse(PLAIN), run_strategy=one)) == 2
        row = await read_workflow(store, "w")
        assert row is not None
        assert row.strategy == one
        assert await publish_if_new(store, ANN, by_program(parse(PLAIN))) == 3  # it no longer names one
        row = await read_workflow(store, "w")
        assert row is not None
        assert row.strategy == AT_ONCE

    done(work())
