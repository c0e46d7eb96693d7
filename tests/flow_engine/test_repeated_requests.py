"""A request id that is used again: the same request is answered with its run, another one is refused."""

from typing import Any

import pytest
from tests.flow_engine.flows import finish, say

from stretto.flow.engine import Engine
from stretto.flow.workflow import workflow
from stretto.model.errors import Conflict


@workflow(run_strategy="parallel")
def letter(word: str = "hello", options: dict[str, int] | None = None) -> str:  # noqa: ARG001
    return say(word)


FIRST: dict[str, Any] = {"word": "hi", "options": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("again", "names"),
    [
        ({**FIRST, "word": "bye"}, "word"),
        ({**FIRST, "options": {"a": 1, "b": 3}}, "options"),
        ({"word": "hi"}, "options"),
        ({}, "options, word"),
        ({**FIRST, "step_params": {"say": {"word": "x"}}}, "say:word"),
    ],
)
def test_another_request_is_refused(url: str, again: dict[str, Any], names: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(letter, request_id="order-7", **FIRST)
            with pytest.raises(Conflict) as raised:
                await engine.submit(letter, request_id="order-7", **again)
            assert f"[order-7] of workflow [letter] belongs to run {run.id}" in raised.value.message
            assert raised.value.message.endswith(f"with other parameters: {names}")
            assert [each.id for each in await engine.runs(letter)] == [run.id]

    finish(work())


@pytest.mark.parametrize(
    "again", [FIRST, {**FIRST, "options": {"b": 2, "a": 1}}, {**FIRST, "tags": ["other"]}], ids=str
)
def test_the_same_request_gets_the_first_run(url: str, again: dict[str, Any]) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(letter, request_id="order-7", **FIRST)
            assert await engine.submit(letter, request_id="order-7", **again) == run
            assert await engine.submit(letter, request_id="order-8", word="bye") != run

    finish(work())
