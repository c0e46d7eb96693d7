"""Requests that somebody sends again: the first is carried out, and the others get its answer."""

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Final, TypeVar
from uuid import uuid4

from stretto.model.durations import DAY, MINUTE, SECOND
from stretto.model.errors import Conflict
from stretto.model.wire import codec_of, loads, to_json
from stretto.ports.clock import Clock
from stretto.ports.store import Store

T = TypeVar("T")

# Milliseconds.
KEPT_FOR: Final = 7 * DAY
CLAIMED_FOR: Final = MINUTE  # who has not answered by then has died
WAITS_FOR: Final = 10 * SECOND
LOOK_EVERY: Final = 50
CLAIM: Final = "claimed by "  # no answer begins so: they are JSON


class InProgress(Conflict):
    """The same request is being carried out, and takes its time."""

    id, retryable = "in-progress", True


async def once(
    store: Store, who: tuple[str, ...], tp: Any, work: Callable[[], Awaitable[T]], clock: Clock
) -> T:
    """The answer of `work`, or the one that was given to the same request: `who` asked, for what and under
    which id. Of several that come at the same time one is carried out, and the others wait for its answer,
    at most ten seconds; then they are refused with `InProgress`. What is refused may be tried again, and who
    has died while it was at it is followed by another one after a minute.
    """
    key, codec = _key(who), codec_of(tp)
    now, end = await store.now(), clock.steady() + WAITS_FOR / 1_000
    mine = f"{CLAIM}{uuid4()} at {now}"
    while (kept := await store.keep_first(key, mine, now, CLAIMED_FOR)) is not None:
        if kept and not kept.startswith(CLAIM):
            known: T = codec.decode(loads(kept), None, [])
            return known
        left = round((end - clock.steady()) * 1_000)
        if left <= 0 and _claimed_at(kept) > now:  # the clock was set back: it would not end for long
            await store.forget(key, kept)
        elif left <= 0:
            hint = "ask again in a while, with the same request id"
            raise InProgress("The same request is still being carried out", hint=hint)
        await clock.sleep_until(clock.now() + min(left, LOOK_EVERY))
        now = await store.now()
    try:
        answer = await work()
        await _keep(store, key, codec.encode(answer))
    except BaseException:
        await store.forget(key, mine)
        raise
    return answer


async def remembered(store: Store, who: tuple[str, ...], tp: Any, work: Callable[[], Awaitable[T]]) -> T:
    """As `once`, for who is alone with it: an answer that was given before counts, and nobody is awaited."""
    key, codec = _key(who), codec_of(tp)
    kept = await store.cached(key, await store.now())
    if kept is not None:
        known: T = codec.decode(loads(kept), None, [])
        return known
    answer = await work()
    await _keep(store, key, codec.encode(answer))
    return answer


def _key(who: tuple[str, ...]) -> str:
    return f"request {sha256(to_json(list(who))).hexdigest()}"


def _claimed_at(claim: str) -> int:
    """When it was made, on the database's clock; 0: an older version has made it, and does not say."""
    _who, _, at = claim.partition(" at ")
    return int(at) if at.isdecimal() else 0


async def _keep(store: Store, key: str, answer: Any) -> None:
    await store.keep(key, to_json(answer).decode(), await store.now() + KEPT_FOR)
