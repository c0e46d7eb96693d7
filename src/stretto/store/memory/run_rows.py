"""Rows of runs: how they come, end and go, whoever does it."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from stretto.engine.records import RunKey
from stretto.ports.rows import RunRow
from stretto.ports.workflows import TOTALS_EVERY
from stretto.store.memory.database import Database

HOUR: Final = 3_600_000  # milliseconds
ALL_WORKFLOWS: Final = ""  # no workflow has this id: under it are the counters of all


def insert_run(db: Database, row: RunRow) -> None:
    """A new run. Ids of runs grow, so it is the newest of its instance."""
    key = row.key
    db.runs.put(key, row)
    db.requests.put((key.workflow_id, row.record.uuid), key)
    db.instances.put((key.workflow_id, key.instance_id), key)


def delete_run(db: Database, row: RunRow) -> None:
    """Forget a run. An instance goes with its newest run: who deletes begins with the oldest."""
    key = row.key
    db.runs.pop(key)
    db.requests.pop((key.workflow_id, row.record.uuid))
    if db.instances.get((key.workflow_id, key.instance_id)) == key:
        db.instances.pop((key.workflow_id, key.instance_id))


def runs_of_instance(db: Database, workflow_id: str, instance_id: int) -> Sequence[RunKey]:
    """The runs of an instance, oldest first."""
    keys = db.runs_of[workflow_id]
    first = bisect_left(keys, RunKey(workflow_id, instance_id, 0))
    return keys[first : bisect_left(keys, RunKey(workflow_id, instance_id + 1, 0))]


def count_outcome(db: Database, row: RunRow, now: int) -> None:
    """One more run of the workflow, and of all, ended so. Iterations are counted by their loops."""
    if row.root == row.key:
        status = row.record.status
        for at in ((row.key.workflow_id, now - now % HOUR), (ALL_WORKFLOWS, now - now % TOTALS_EVERY)):
            counts = db.outcomes.get(at) or {}
            db.outcomes.put(at, {**counts, status: counts.get(status, 0) + 1})
