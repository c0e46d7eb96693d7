"""Faults on demand: before a call nothing happened, after it everything has."""

import asyncio

import pytest

from stretto.model.errors import Unavailable
from stretto.ports.failures import OutcomeUnknown
from stretto.ports.messages import Letter, Log
from stretto.ports.rows import NodeId
from stretto.store.memory import Database, MemoryStore
from stretto.testing.clock import VirtualClock
from stretto.testing.faults import Moment, interfered

LETTER = Letter(ref="a", to_group=1, body=Log(at=1))


@pytest.mark.parametrize(
    ("moment", "error", "left"), [(Moment.BEFORE, Unavailable, 0), (Moment.AFTER, OutcomeUnknown, 1)]
)
def test_a_call_fails_before_or_after(moment: Moment, error: type[Exception], left: int) -> None:
    async def fail(call: str, at: Moment) -> None:
        if (call, at) == ("send", moment):
            raise error("no answer")

    async def run() -> None:
        plain = MemoryStore(Database(VirtualClock()))
        store = interfered(plain, fail)
        with pytest.raises(error):
            await store.send(LETTER)
        assert len((await store.fetch(NodeId("x"), [1])).messages) == left
        await plain.send(LETTER)  # who repeats it sends it once
        assert len((await store.fetch(NodeId("x"), [1])).messages) == 1

    asyncio.run(run())
