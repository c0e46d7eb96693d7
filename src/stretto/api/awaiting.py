"""Requests that wait for something to change: while they have time, a client, and a server that runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from stretto.api.desk import Call
from stretto.api.feed import LOOK_EVERY
from stretto.model.durations import MINUTE, NoDuration, duration_text, millis_in
from stretto.model.errors import InvalidRequest

LONGEST: Final = 10 * MINUTE
PART: Final = 0.1  # of the time waited so far is the rest between two looks: many may wait at once

Again = Callable[[], Awaitable[bool]]


def wait_in(text: str) -> int:
    """The milliseconds that a request wants to wait; `InvalidRequest`, if it does not say how long."""
    try:
        millis = millis_in(text)
    except NoDuration as wrong:
        raise InvalidRequest(f"Invalid wait [{text[:80]}]: it {wrong.reason}", hint=wrong.hint) from None
    if millis > LONGEST:
        hint = f"at most {duration_text(LONGEST)}; then ask again, with the same request_id"
        raise InvalidRequest(f"Invalid wait [{text[:80]}]: it is too long", hint=hint)
    return millis


@asynccontextmanager
async def awaiting(call: Call, millis: int) -> AsyncIterator[Again]:
    """What waits until something may have changed, and says whether it is worth another look."""
    desk, began = call.desk, call.desk.clock.steady()
    leaving = asyncio.ensure_future(call.gone())

    async def again() -> bool:
        waited = (desk.clock.steady() - began) * 1_000
        if waited >= millis or leaving.done() or desk.feed.closed.is_set():
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout((millis - waited) / 1_000):
                await asyncio.sleep(min(LOOK_EVERY, waited / 1_000 * PART))
                await desk.feed.wait()
        return True

    try:
        yield again
    finally:
        leaving.cancel()
