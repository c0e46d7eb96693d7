"""The output of a deleted workflow is deleted before its id is free again."""

import asyncio

from stretto.actions.caller import Caller
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.publish import publish
from stretto.definition import parse_all
from stretto.model.user import User
from stretto.node.retention import forget, purge
from stretto.node.settings import RetentionSettings
from stretto.ports.store import Store
from stretto.store.opening import open_store

ANN = Caller(user=User(name="ann"))
FLOW = "{properties: {owner: ann}, workflow: {id: etl, steps: [{step: {id: a, type: NoOp}}]}}"


def test_output_goes_first() -> None:
    async def work() -> list[tuple[str, bool]]:
        store: Store = await open_store("memory://")
        seen: list[tuple[str, bool]] = []

        async def forget_output(workflow_id: str) -> None:
            seen.append((workflow_id, bool(await store.purgeable())))

        for clean in (purge, forget):
            (definition,) = parse_all(FLOW)
            await publish(store, ANN, definition)
            await delete_workflow(store, ANN, "etl")
            await clean(store, RetentionSettings(), forget_output)
            assert await store.purgeable() == []
        await store.close()
        return seen

    assert asyncio.run(work()) == [("etl", True), ("etl", True)]
