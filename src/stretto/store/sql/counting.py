"""How many runs of a workflow wait, run, or block."""

from typing import Any, Final

from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark
from stretto.ports.rows import Phase
from stretto.store.sql.database import Transaction
from stretto.store.sql.rows.runs import PAUSED_LANE
from stretto.store.sql.statement import Statement

# One statement: a run that ends is seen as running or as failed, never as neither.
COUNTS: Final = Statement(
    "SELECT lane, COUNT(*) FROM run WHERE workflow_id = :workflow_id AND lane IS NOT NULL GROUP BY lane"
)


async def counts_of(tx: Transaction, workflow_id: str) -> RunCounts:
    """The runs of a workflow."""
    return counts_from(dict(tuple(row) for row in await tx.all(COUNTS, workflow_id=workflow_id)))


def counts_from(lanes: dict[Any, Any]) -> RunCounts:
    """The same, from counts by lane."""
    return RunCounts(
        queued=lanes.get(Phase.QUEUED, 0),
        running=lanes.get(Phase.ADMITTED, 0) + lanes.get(Phase.LIVE, 0),
        failed=lanes.get(FailureMark.STANDING, 0),
        paused=lanes.get(PAUSED_LANE, 0),
    )
