"""Forgetting what is old: the node that has the first flow group does it for all."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from stretto.model.event import WorkflowDeleted
from stretto.node.settings import RetentionSettings
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.ports.retention import Aged
from stretto.ports.store import Store

ForgetOutput = Callable[[str], Awaitable[None]]  # deletes what steps of a workflow have printed

FIRST_LOOK: Final = 1.0  # seconds after the start: a program that ends soon should forget something, too
PAGE: Final = 100  # workflows that are looked at together


async def no_output(_workflow_id: str) -> None:
    """Nothing that is printed is kept here."""


async def forget(store: Store, settings: RetentionSettings, forget_output: ForgetOutput = no_output) -> int:
    """Delete what was kept for long enough, in small transactions. Returns how many rows that were."""
    now, most = await store.now(), settings.rows_at_once
    gone = await _repeated(partial(store.prune, Aged.RESULTS, now, most=most))
    kept = (
        (Aged.LOG, settings.log),
        (Aged.SIGNALS, settings.signals),
        (Aged.NODES, settings.nodes),
        (Aged.OUTCOMES, settings.outcomes),
    )
    for aged, lasts in kept:
        if lasts is not None:
            gone += await _repeated(partial(store.prune, aged, now - lasts, most=most))
    if settings.runs is not None:
        gone += await _forget_runs(store, now - settings.runs, most)
    return gone + await purge(store, settings, forget_output)


async def purge(store: Store, settings: RetentionSettings, forget_output: ForgetOutput = no_output) -> int:
    """Delete what is left of deleted workflows, their output first. Returns how many rows that were."""
    gone = 0
    for workflow_id in await store.purgeable():
        await forget_output(workflow_id)
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
    forget_output: ForgetOutput = no_output,
) -> None:
    """Until it is cancelled. `is_ours`: whether this node is the one that does it."""
    pause = FIRST_LOOK
    while True:
        await asyncio.sleep(pause)
        pause = settings.every / 1_000
        if is_ours():
            await _tried(forget(store, settings, forget_output), observers)


class Deleted(Observer):
    """Hears of workflows that are deleted, from the node that looks after them."""

    def __init__(self) -> None:
        self.news = asyncio.Event()

    def committed(self, rows: Sequence[LogRow]) -> None:
        if any(isinstance(event, WorkflowDeleted) for row in rows for event in row.events):
            self.news.set()


async def purge_when_told(
    store: Store,
    settings: RetentionSettings,
    deleted: Deleted,
    observers: Sequence[Observer] = (),
    forget_output: ForgetOutput = no_output,
) -> None:
    """Until it is cancelled. Nobody can publish under the id of a deleted workflow before it is purged, so
    that does not wait for the next look. What is missed here goes with that.
    """
    while True:
        await deleted.news.wait()
        deleted.news.clear()
        await _tried(purge(store, settings, forget_output), observers)


async def _tried(work: Awaitable[int], observers: Sequence[Observer]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - nobody waits for it: the next look tries again
        for each in observers:
            each.store_failed(error, 1)
