"""I2: what an owner believes of a run is what is stored, whenever nothing of it is on its way."""

from simulation.flows import Key, caches_of, loaded, records_of
from simulation.watch import Complain
from stretto.engine.records import AttemptRecord, LoopRecord, RunRecord
from stretto.node.entry import Entry
from stretto.node.group import Group
from stretto.node.machine import Node
from stretto.ports.rows import Phase
from stretto.store.memory.database import Database
from stretto.store.memory.loading import newest_of_each_step


def memory(node: Node, db: Database, complain: Complain) -> int:
    """Compare every run in memory that is at rest. Returns how many that were."""
    compared = 0
    for group in node.groups.values():
        row = db.groups[group.number]
        if group.committing or (row.owner, row.generation) != (node.id, group.lease.generation):
            continue  # something is on its way, or it owns the group no more and does not know it yet
        for entry in group.entries.values():
            if _is_at_rest(group, entry):
                compared += 1
                _compare(entry, db, complain)
    return compared


def _is_at_rest(group: Group, entry: Entry) -> bool:
    return entry.flow is not None and not entry.launch and entry.key not in group.drafts


def _compare(entry: Entry, db: Database, complain: Complain) -> None:
    flow = entry.flow
    assert flow is not None
    stored = rows_of(db, entry)
    known = records_of(flow)
    for key in {**stored, **known}:
        if key not in stored:
            complain(f"I2: {entry.key} has {key} in memory, and not in its rows")
        elif key not in known:
            complain(f"I2: {entry.key} has {key} in its rows, and not in memory")
        elif stored[key] != known[key]:
            complain(f"I2: {entry.key} has {key} in memory as {known[key]}, and in its rows as {stored[key]}")
    row = db.runs[entry.key]
    if row.phase is Phase.LIVE and entry.due_stored != row.due_at:
        complain(f"I2: {entry.key} is due at {row.due_at} by its row, and at {entry.due_stored} in memory")
    if caches_of(loaded(flow)) != caches_of(flow):
        complain(f"I2: loading {entry.key} gives other caches than those in memory")


def rows_of(db: Database, entry: Entry) -> dict[Key, RunRecord | AttemptRecord | LoopRecord]:
    """What loading a run would read of it."""
    found: dict[Key, RunRecord | AttemptRecord | LoopRecord] = {}
    for run in (entry.key, *db.iterations[entry.key, Phase.LIVE]):
        found[RunRecord, run] = db.runs[run].record
        for row in newest_of_each_step(db, run):
            found[AttemptRecord, row.key] = row.record
            loop = db.loops.get(row.key)
            if loop is not None and not row.record.status.is_terminal:
                found[LoopRecord, row.key] = loop
    return found
