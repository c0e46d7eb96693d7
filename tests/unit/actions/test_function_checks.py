"""A definition whose functions no running process knows is refused with the way out."""

import asyncio

import pytest

from stretto.actions.parts.function_checks import check_functions, known_functions
from stretto.definition.parse import Options, load
from stretto.model.errors import InvalidDefinition
from stretto.node.clock import SystemClock
from stretto.ports.rows import NodeId
from stretto.runtimes.python import function_of
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


UNDONE = """
workflow:
  id: w
  steps:
    - foreach:
        id: loop
        params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1]}}}}
        steps:
          - step:
              id: a
              type: Python
              params: {function: {type: STRING, value: book}}
              compensation: {step: {id: b, type: Python, params: {function: {type: STRING, value: cancel}}}}
"""


def test_functions_with_a_cache_are_refused_where_something_is_undone() -> None:
    def book() -> None: ...
    def cancel() -> None: ...

    async def problems(store: MemoryStore, *cached: str) -> list[str]:
        for call in (book, cancel):
            ttl = 60 if call.__name__ in cached else None
            await store.put_function(function_of(call, call.__name__, cache_ttl_s=ttl).record())
        try:
            await check_functions(store, load(UNDONE, Options()))
        except InvalidDefinition as refused:
            return [f"{each.message}; {each.hint}" for each in refused.problems]
        return []

    async def work() -> None:
        store = MemoryStore(Database(SystemClock()))
        await store.join(NodeId("n"), None, ["book", "cancel"])
        assert await problems(store) == []
        (first, second) = await problems(store, "book", "cancel")
        assert first == (
            "step `a` of workflow `w` has a compensation, and it calls `book`, which has a cache: a result "
            "that is undone must not be handed out from the cache; remove `cache`, or the compensation"
        )
        assert second == (
            "step `a` of workflow `w` has a compensation, and that calls `cancel`, which has a cache: "
            "taken from it, it undoes nothing; remove `cache` from `cancel`"
        )
        assert await problems(store) == []

    asyncio.run(work())
