"""What the database says in the end: the change log, the runs, and what became of each attempt."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from chaos.witness import Stored, digest_of
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.status import InstanceStatus, StepStatus
from stretto.ports.events import LogRow, Trimmed
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.store import Store

PAGE = 1_000

Move = tuple[StepStatus, StepStatus]


class Records(msgspec.Struct, kw_only=True):
    """All that was read."""

    stored: set[Stored]
    gaps: list[str]  # in the numbering of the log
    attempts: dict[AttemptKey, list[Move]]  # in the order of the log
    runs: dict[RunKey, list[tuple[InstanceStatus, InstanceStatus]]]
    rows: dict[RunKey, RunRow]  # of all runs but iterations
    newest: dict[AttemptKey, StepStatus]  # as the row of the attempt says


async def read_records(store: Store) -> Records:
    """Everything, when nobody writes any more."""
    found = Records(
        stored=set(), gaps=[], attempts=defaultdict(list), runs=defaultdict(list), rows={}, newest={}
    )
    for group in range(GROUPS):
        seq = 0
        while page := await _page(store, found, group, seq):
            _take(found, page, seq)
            seq = page[-1].seq
    await _rows(store, found)
    for run in list(found.runs):
        for row in await store.attempts(NewestAttempts((run,))):
            found.newest[row.key] = row.record.status
    return found


async def _page(store: Store, found: Records, group: int, seq: int) -> list[LogRow]:
    """What follows in the log of a group; what is missing in it is noted, and passed over."""
    while True:
        try:
            return await store.read_log({group: seq}, most=PAGE)
        except Trimmed:
            seq += 1
            found.gaps.append(f"the log of group {group} has no row {seq}")


def _take(found: Records, page: Sequence[LogRow], seq: int) -> None:
    for row in page:
        if row.seq != seq + 1:
            found.gaps.append(f"the log of group {row.group} goes from {seq} to {row.seq}")
        seq = row.seq
        found.stored.add(Stored(row.group, row.seq, digest_of(row)))
        for event in row.events:
            match event:
                case StepStatusChanged():
                    run = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
                    key = AttemptKey(run, event.step_id, event.step_attempt_id)
                    moves = [(move.old_status, move.new_status) for move in event.status_change_records]
                    found.attempts[key].extend(moves)
                case InstanceStatusChanged():
                    run = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
                    found.runs[run].append((event.old_status, event.new_status))
                case _:
                    pass


async def _rows(store: Store, found: Records) -> None:
    cut = Cut(most=PAGE)
    while True:
        page = await store.runs(FilteredRuns(RunFilter(), cut))
        found.rows |= {row.key: row for row in page.elements}
        if not page.after:
            return
        last = page.elements[-1]
        cut = Cut(most=PAGE, below=(last.record.create_time, last.key))


def roots(found: Records) -> list[RunKey]:
    """Runs that are no iterations, as the log has them."""
    return [key for key in found.runs if not is_inline(key.workflow_id)]
