"""Forgetting what is old: the node that has the first flow group does it for all."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from stretto.node.retention_settings import RetentionSettings
from stretto.ports.observer import Observer
from stretto.ports.store import Store

FIRST_LOOK: Final = 1.0  # seconds after the start: a program that ends soon should forget something, too
PURGE_EVERY: Final = 2.0  # seconds: until it is done, nobody can publish under the id of a deleted workflow
PAGE: Final = 100  # workflows that are looked at together


async def forget(store: Store, settings: RetentionSettings) -> int:
    """Delete what was kept for long enough, in small transactions. Returns how many rows that were."""
    now, most = await store.now(), settings.rows_at_once
    gone = await _repeated(partial(store.prune_cache, now, most=most))
    kept = (
        (store.prune_log, settings.log),
        (store.prune_signals, settings.signals),
        (store.prune_nodes, settings.nodes),
        (store.prune_outcomes, settings.outcomes),
    )
    for prune, lasts in kept:
        if lasts is not None:
            gone += await _repeated(partial(prune, now - lasts, most=most))
    if settings.runs is not None:
        gone += await _forget_runs(store, now - settings.runs, most)
    return gone + await purge(store, settings)


async def purge(store: Store, settings: RetentionSettings) -> int:
    """Delete what is left of deleted workflows. Returns how many rows that were."""
    gone = 0
    for workflow_id in await store.purgeable():
        gone += await _repeated(partial(store.purge, workflow_id, most=settings.rows_at_once))
    return gone


async def _forget_runs(store: Store, before: int, most: int) -> int:
    gone, after = 0, ""
    while names := await store.prunable(before, after=after, most=PAGE):
        for name in names:
            gone += await _repeated(partial(store.prune_runs, name, before, most=most))
        after = names[-1]
    return gone


async def _repeated(call: Callable[[], Awaitable[int]]) -> int:
    """As long as something goes."""
    gone = 0
    while count := await call():
        gone += count
    return gone


async def forget_now_and_then(
    store: Store,
    settings: RetentionSettings,
    is_ours: Callable[[], bool],
    observers: Sequence[Observer] = (),
) -> None:
    """Until it is cancelled. `is_ours`: whether this node is the one that does it."""
    every = settings.every / 1_000
    await _now_and_then(lambda: forget(store, settings), (FIRST_LOOK, every), is_ours, observers)


async def purge_now_and_then(
    store: Store,
    settings: RetentionSettings,
    is_ours: Callable[[], bool],
    observers: Sequence[Observer] = (),
) -> None:
    """The same for deleted workflows alone, far more often."""
    await _now_and_then(lambda: purge(store, settings), (PURGE_EVERY, PURGE_EVERY), is_ours, observers)


async def _now_and_then(
    work: Callable[[], Awaitable[int]],
    pauses: tuple[float, float],
    is_ours: Callable[[], bool],
    observers: Sequence[Observer],
) -> None:
    """`pauses`: before the first look, and between two."""
    pause, every = pauses
    while True:
        await asyncio.sleep(pause)
        pause = every
        if not is_ours():
            continue
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - nobody waits for it: the next look tries again
            for each in observers:
                each.store_failed(error, 1)
