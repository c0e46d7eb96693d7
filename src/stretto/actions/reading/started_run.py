"""A run that was just started, for whoever waits for its end."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from stretto.actions.reading.lines import RunLine, run_line
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.response import StartResponse
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store


class StartedRun(StartResponse, frozen=True, kw_only=True):
    """After a start; with where the run stands, if the caller has waited for it."""

    run: RunLine | None = None


async def started_run(
    store: Store, started: StartResponse, wait: Callable[[], Awaitable[bool]] | None = None
) -> StartedRun:
    """The answer to a start, once the run has ended or `wait` says that nobody waits any more. It returns
    when there may be something new. A database that is away is waited for: the run has been started.
    """
    run = RunKey(started.workflow_id, started.workflow_instance_id, started.workflow_run_id)
    row: RunRow | None = None
    while wait is not None:
        with suppress(Unavailable):
            row = await read_run(store, run)
            if row is None or row.record.status.is_terminal:
                break
        if not await wait():
            break
    return StartedRun(**msgspec.structs.asdict(started), run=None if row is None else run_line(row))
