"""Failures that a strictly sequential queue waits for: they are never forgotten.

A child is in the queue of its own workflow, whose strategy is read without a lock: who makes it strict
meanwhile comes after the one who forgets.
"""

from typing import Final

from stretto.engine.records import RunKey
from stretto.store.sql.database import Transaction
from stretto.store.sql.rows.keys import of_run, run_from
from stretto.store.sql.statement import RUN_KEY, Statement, given, names_of

STRICT: Final = Statement(
    "SELECT 1 FROM workflow WHERE workflow_id = :workflow_id AND state = 'ALIVE' "
    "AND rule = 'STRICT_SEQUENTIAL'"
)


def _under(prefix: str, run: str) -> str:
    """The runs whose step, or whose loop, is in a run."""
    return " AND ".join(f"{prefix}{field.name} = {run}.{field.name}" for field in RUN_KEY)


def _some(prefix: str) -> str:
    """Whether a child has such a run. Not EXISTS: that may be answered by reading all runs there are."""
    found = f"SELECT under.phase FROM run under WHERE {_under(f'under.{prefix}', 'child')} LIMIT 1"
    return f"({found}) IS NOT NULL"


# Of all children only those that failed, or have something below them.
_MATTERS: Final = f"(child.failure = 'FAILED' OR {_some('parent_')} OR {_some('root_')})"
_CHILD: Final = f"{names_of(RUN_KEY, 'child.')}, child.failure"
BELOW: Final = (
    Statement(
        f"SELECT {_CHILD} FROM run child WHERE {given(RUN_KEY, column_prefix='child.parent_')} AND {_MATTERS}"
    ),
    Statement(
        f"SELECT {_CHILD} FROM run iteration JOIN run child ON {_under('child.parent_', 'iteration')} "
        f"WHERE {given(RUN_KEY, column_prefix='iteration.root_')} AND {_MATTERS}"
    ),
)


async def blocks(tx: Transaction, run: RunKey, failure: str | None) -> bool:
    """Whether the queue of its workflow waits for a run with this mark. Iterations are in no queue."""
    return failure == "FAILED" and await tx.one(STRICT, workflow_id=run.workflow_id) is not None


async def blocked_below(tx: Transaction, run: RunKey) -> bool:
    """Whether something below a run, however deep, is such a failure."""
    waiting = [run]
    while waiting:
        above = waiting.pop()
        for statement in BELOW:
            for row in await tx.all(statement, **of_run(above)):
                if await blocks(tx, run_from(row), row[3]):
                    return True
                waiting.append(run_from(row))
    return False
