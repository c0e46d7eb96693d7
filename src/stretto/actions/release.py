"""Let go on what was set aside because it did harm: a run in quarantine, a message that was parked."""

from functools import partial

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, check_access, check_role
from stretto.actions.parts.finding import find_run
from stretto.actions.parts.repeat import repeated
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.ports.hints import SILENT, Hints
from stretto.ports.history import QuarantinedRuns
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store


async def release_run(store: Store, caller: Caller, run: RunKey, *, hints: Hints = SILENT) -> None:
    """Its owner loads the run again, and goes on with it."""
    check_role(caller, Role.ADMIN, "release runs")
    row = await find_run(store, run.workflow_id, run.instance_id, str(run.run_id))
    if not await repeated(lambda: store.release_run(run)):
        raise NotFound(
            f"Run {run} is not in quarantine", hint="`stretto quarantine list` lists those that are"
        )
    hints.hint([row.group])


async def release_flow(store: Store, caller: Caller, run: RunKey, *, hints: Hints = SILENT) -> list[RunKey]:
    """Let a run go on with everything that it waits for. Who goes on with a run by name asks for that, too;
    whoever may resume it may.
    """
    await check_access(store, caller, Right.RUN, run.workflow_id)
    released: list[RunKey] = []
    cut = Cut()
    while True:
        page = await store.runs(QuarantinedRuns(cut))
        for row in page.elements:
            if await _belongs(store, row, run) and await repeated(partial(store.release_run, row.key)):
                released.append(row.key)
                hints.hint([row.group])
        if not page.after:
            return released
        cut = Cut(above=page.elements[-1].key)


async def _belongs(store: Store, row: RunRow, run: RunKey) -> bool:
    """Whether a run is another, or is waited for by it, over however many levels."""
    found: RunRow | None = row
    while found is not None:
        if run in {found.key, found.root}:
            return True
        found = None if found.parent is None else await read_run(store, found.parent.attempt.run)
    return False


async def release_message(store: Store, caller: Caller, message_id: int, *, hints: Hints = SILENT) -> None:
    """The message is tried again, from the start."""
    check_role(caller, Role.ADMIN, "release messages")
    if not await repeated(lambda: store.release_message(message_id)):
        raise NotFound(f"Message [{message_id}] is not set aside")
    hints.hint(range(GROUPS))  # whose it is stands in its row, and nowhere else
