"""What goes wrong when a signal trigger fires goes on the timeline of its workflow: nobody waits for it."""

from typing import Final

from stretto.actions.caller import Caller
from stretto.actions.parts.decisions import SYSTEM
from stretto.actions.parts.noting import note
from stretto.model.timeline import WorkflowChange
from stretto.model.user import User
from stretto.ports.store import Store
from stretto.ports.triggers import SignalTriggerRow

STARTED_NOTHING: Final = "started no run, and its signals are used up:"
NOT_DEDUPLICATED: Final = "could not evaluate its dedup_expr, and went on without:"
QUIET: Final = (
    60_000  # milliseconds in which the same trouble is not told again: signals may come in thousands
)
RECENT: Final = 50  # lines of a timeline in which trouble is looked for

_SYSTEM: Final = Caller(user=User(name=SYSTEM))


async def note_trouble(store: Store, row: SignalTriggerRow, what: str) -> None:
    """Add a line, unless the same one was added just now."""
    line = f"{_name_of(row)} {what}"
    lines = await store.workflow_timeline(row.workflow_id, most=RECENT)
    now = await store.now()
    if not any(each.log == line and each.timestamp > now - QUIET for each in lines):
        await note(store, _SYSTEM, row.workflow_id, line)


async def troubles_of(store: Store, row: SignalTriggerRow) -> list[WorkflowChange]:
    """What went wrong with a trigger lately, newest first."""
    lines = await store.workflow_timeline(row.workflow_id, most=RECENT)
    return [each for each in lines if each.author.name == SYSTEM and each.log.startswith(_name_of(row))]


def _name_of(row: SignalTriggerRow) -> str:
    return f"Signal trigger [{row.trigger_id}] of version {row.version_id} on {_signals(row)}"


def _signals(row: SignalTriggerRow) -> str:
    return ", ".join(f"[{name}]" for name in row.trigger.definitions)
