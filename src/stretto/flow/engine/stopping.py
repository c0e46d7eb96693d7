"""What an engine does last: runs are paused, or have their time to end; either way nothing is lost."""

import asyncio
import logging
from collections.abc import Collection
from contextlib import ExitStack, suppress
from typing import Final

from stretto.actions.parts.messages import act_on, send
from stretto.engine.events import RunActed, RunAction
from stretto.flow.engine.host import Host
from stretto.flow.engine.listing import unfinished
from stretto.flow.engine.options import OnStop
from stretto.flow.engine.watching import Until
from stretto.model.status import RunStatus
from stretto.ports.rows import Phase, RunRow

LOG = logging.getLogger(__name__)
PAUSED_BY_STOP: Final = "Paused because the engine was stopped"
PASSES: Final = 3  # a run that is told to rest may have started another just before
PAUSE_WITHIN: Final = 5.0  # seconds; without the pause a run is continued all the same
GOING_ON: Final = (RunStatus.CREATED, RunStatus.IN_PROGRESS)


async def stop_runs(host: Host, how: OnStop, until: float) -> None:
    """Let runs of this process end, until a moment of the event loop's clock; pause those that have not."""
    if how is OnStop.HAND_OVER:
        return
    if how is OnStop.FINISH:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await _finish(host)
    try:
        async with asyncio.timeout(PAUSE_WITHIN):
            await _pause(host)
    except TimeoutError:
        LOG.warning(
            "not all runs were paused within %g s: the next engine goes on with the others", PAUSE_WITHIN
        )


async def _finish(host: Host) -> None:
    while rows := await _going_on(host, ()):
        await _reached(host, rows)


async def _pause(host: Host) -> None:
    asked: set[object] = set()
    for _ in range(PASSES):
        rows = await _going_on(host, asked)
        if not rows:
            return
        asked.update(row.key for row in rows)
        await _reached(host, rows, pause=True)


async def _going_on(host: Host, without: Collection[object]) -> list[RunRow]:
    """Runs that this process looks after. Those in a queue wait there for whoever comes next."""
    ours = set(host.app.groups)
    return [
        row
        async for row in unfinished(host.store, GOING_ON)
        if row.group in ours
        and row.phase is not Phase.QUEUED
        and row.record.ending is None
        and row.key not in without
    ]


async def _reached(host: Host, rows: Collection[RunRow], *, pause: bool = False) -> None:
    """Until all of them have ended, or are paused if they are to be."""
    with ExitStack() as stack:
        waits = []
        for row in rows:
            waits.append(until := Until({RunStatus.PAUSED} if pause else ()))
            stack.enter_context(host.watch.listening(row.key, until))
            if pause:
                event = RunActed(
                    run=row.key, action=RunAction.PAUSE, user=host.caller.name, reason=PAUSED_BY_STOP
                )
                # Whoever takes over a run that is not paused yet goes on with it, and would never resume it.
                await send(host.store, act_on(row.group, event, node=host.app.node), host.hints)
            until.looked(await host.row(row.key))  # it may have ended before anybody listened
        for each in waits:
            await each.reached()
