"""Let go on what was set aside because it did harm: a run in quarantine, a message that was parked."""

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.repeat import repeated
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.ports.hints import SILENT, Hints
from stretto.ports.places import GROUPS
from stretto.ports.store import Store


async def release_run(store: Store, caller: Caller, run: RunKey, *, hints: Hints = SILENT) -> None:
    """Its owner loads the run again, and goes on with it."""
    check_role(caller, Role.ADMIN, "release runs")
    row = await store.run(run)
    if row is None or not await repeated(lambda: store.release_run(run)):
        raise NotFound(f"Run {run} is not in quarantine")
    hints.hint([row.group])


async def release_message(store: Store, caller: Caller, message_id: int, *, hints: Hints = SILENT) -> None:
    """The message is tried again, from the start."""
    check_role(caller, Role.ADMIN, "release messages")
    if not await repeated(lambda: store.release_message(message_id)):
        raise NotFound(f"Message [{message_id}] is not set aside")
    hints.hint(range(GROUPS))  # whose it is stands in its row, and nowhere else
