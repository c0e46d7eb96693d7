"""A store for dry runs: it reads as the real one, and notes what would be written instead of writing it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

import msgspec

from stretto.engine.records import RunKey
from stretto.model.errors import Internal, StrettoError
from stretto.model.event import ChangeEvent
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.ports.admission import (
    SnapshotDetail,
    TransactionResult,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.messages import Letter
from stretto.ports.store import Store
from stretto.ports.workflows import Found, WorkflowRow

A = TypeVar("A")

# What actions read. Whatever is not here is refused, so that nobody writes by accident.
READS: Final = frozenset(
    {
        "attempts",
        "loops",
        "now",
        "read_runs",
        "run_of_request",
        "runs",
        "signals",
        "templates",
        "version",
        "workflow_rows",
        "workflows",
    }
)


class _Seen(StrettoError):
    """Ends a transaction before it writes."""


class DryStore:
    """What actions of one request would write."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.found: list[tuple[WorkflowSnapshot, WorkflowDecision[Any]]] = []
        self.letters: list[Letter] = []  # those beside the decisions
        self._ended: set[RunKey] = set()

    @property
    def store(self) -> Store:
        """As actions take it."""
        return cast("Store", self)

    def __getattr__(self, name: str) -> Any:
        if name not in READS:
            raise Internal(f"a dry run can not call [{name}] of the store")
        return getattr(self._store, name)

    async def transact(
        self,
        workflow_id: str,
        scope: TransactionScope,
        decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    ) -> TransactionResult[A]:
        """Decide as under the lock, and let go of it. Queued runs that ended before in this dry run are not
        seen again.
        """
        seen: list[tuple[WorkflowSnapshot, WorkflowDecision[A]]] = []

        def detail_of(strategy: RunStrategy) -> SnapshotDetail:
            wanted = scope.detail(strategy)
            return wanted._replace(queue=None) if self._ended and wanted.queue else wanted

        def look(snapshot: WorkflowSnapshot) -> WorkflowDecision[A]:
            left = tuple(run for run in snapshot.queue if run not in self._ended)
            decision = decide(msgspec.structs.replace(snapshot, queue=left))
            seen[:] = [(snapshot, decision)]
            raise _Seen("seen")

        with suppress(_Seen):
            await self._store.transact(workflow_id, msgspec.structs.replace(scope, detail=detail_of), look)
        self.found += seen
        ((_snapshot, decision),) = seen
        self._ended |= {each.run for each in decision.ended}
        return TransactionResult(answer=decision.answer)

    async def look_at_queue(self, workflow_id: str) -> tuple[RunStrategy, RunCounts] | None:  # noqa: ARG002
        """Nothing has changed, so that nobody moves up."""
        return None

    async def send(self, letter: Letter) -> int:
        self.letters.append(letter)
        return 0

    async def delete_workflow(self, workflow_id: str, decide: Callable[[Found], ChangeEvent]) -> WorkflowRow:
        seen: list[WorkflowRow] = []

        def look(found: Found) -> ChangeEvent:
            decide(found)
            seen[:] = [] if found.row is None else [found.row]
            raise _Seen("seen")

        with suppress(_Seen):
            await self._store.delete_workflow(workflow_id, look)
        return seen[0]
