"""The change log as a reader follows it: what they asked for and may see, from a cursor on."""

from collections.abc import Sequence
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.listing import Sight
from stretto.actions.reading.topics import Topic
from stretto.engine.context import step_uuid
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.event import ChangeEvent, StepStatusChanged
from stretto.ports.events import Cursor
from stretto.ports.store import Store

MOST_COMMITS: Final = 32  # that are read at once: nobody else is served meanwhile


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What one commit of one flow group has changed, and where a reader is after it."""

    group: int
    seq: int
    at: int
    events: tuple[ChangeEvent, ...]
    cursor: Cursor


async def read_changes(
    store: Store, caller: Caller, topics: Sequence[Topic], cursor: Cursor, *, touching: bool = False
) -> Sequence[Changes]:
    """What comes next after a cursor, in order for each group; also commits of which nothing is shown, as the
    cursor goes on over them. Nothing: there is no more now. `Trimmed`: it is not kept any more. `touching`:
    also what is not about a topic, but may change what a screen shows of it.
    """
    rows = await store.read_log(cursor, most=MOST_COMMITS)
    fits = [topic.touches if touching else topic.holds for topic in topics]
    wanted = [tuple(event for event in row.events if any(fit(event) for fit in fits)) for row in rows]
    seen = await Sight(store, caller).of({event.workflow_id for events in wanted for event in events})
    made: list[Changes] = []
    place = dict(cursor)
    for row, events in zip(rows, wanted, strict=True):
        place[row.group] = row.seq
        shown = tuple(event for event in events if event.workflow_id in seen)
        made.append(Changes(group=row.group, seq=row.seq, at=row.at, events=shown, cursor=dict(place)))
    return made


def sent(event: ChangeEvent, cluster_name: str, now: int) -> ChangeEvent:
    """The event as Maestro sends it: every move of a step, the id of the attempt, who sends it and when."""
    if not isinstance(event, StepStatusChanged):
        return msgspec.structs.replace(event, cluster_name=cluster_name, send_time=now)
    run = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
    attempt = AttemptKey(run, event.step_id, event.step_attempt_id)
    return msgspec.structs.replace(
        event,
        step_uuid=None if event.workflow_uuid is None else step_uuid(event.workflow_uuid, attempt),
        cluster_name=cluster_name,
        status_change_records=event.all_moves(),
        passed=None,
        send_time=now,
    )
