"""A definition whose functions no running process knows is refused with the way out."""

import asyncio

import pytest

from stretto.actions.parts.function_checks import check_functions, known_functions
from stretto.definition.parse import Options, load
from stretto.model.errors import InvalidDefinition
from stretto.node.clock import SystemClock
from stretto.ports.rows import NodeId
from stretto.store.memory import Database, MemoryStore

TEXT = """
workflow:
  id: w
  steps:
    - step: {id: a, type: Python, params: {function: {type: STRING, value: "flows:extract"}}}
    - step: {id: b, type: Python, params: {function: {type: STRING, value: "flows:load"}}}
"""


def test_functions_that_nobody_knows_are_refused() -> None:
    async def work() -> None:
        store = MemoryStore(Database(SystemClock()))
        (definition,) = load(TEXT, Options())
        assert await known_functions(store) == frozenset()
        with pytest.raises(InvalidDefinition) as caught:
            await check_functions(store, [definition])
        first, second = caught.value.problems
        assert first.message == (
            "step `a` of workflow `w` calls the function `flows:extract`, which no running process knows"
        )
        assert "stretto serve --app MODULE" in str(first.hint)
        assert second.path == "workflow.steps[b]"
        await store.join(NodeId("n"), None, ["flows:extract", "flows:loads"])
        with pytest.raises(InvalidDefinition) as caught:
            await check_functions(store, [definition], way_out="use --app")
        (problem,) = caught.value.problems
        assert "flows:loads" in str(problem.hint)
        assert str(problem.hint).endswith("use --app")
        await check_functions(store, [definition], {"flows:load"})
        await check_functions(store, [definition], {"flows:load", "flows:extract"})
        await store.advertise(NodeId("n"), ["flows:extract", "flows:load"])
        await check_functions(store, [definition])
        await store.leave(NodeId("n"))
        with pytest.raises(InvalidDefinition):
            await check_functions(store, [definition])

    asyncio.run(work())
