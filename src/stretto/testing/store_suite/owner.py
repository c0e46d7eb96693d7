"""A node that owns groups and commits for them: what the checks need of one, and no more."""

from collections.abc import Iterable
from typing import Any

import msgspec

from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.errors import NotFound
from stretto.model.event import WorkflowDeleted
from stretto.model.status import RunStatus
from stretto.ports.commit import Committed, Decided, GroupPart
from stretto.ports.rows import Lease, NodeId
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store


def event(text: str) -> WorkflowDeleted:
    """Some event for the change log, told apart by its text."""
    return WorkflowDeleted(workflow_id=text, event_time=1)


class Owner:
    """Holds leases and counts the change log of each group, as a node does."""

    def __init__(self, store: Store, node: NodeId) -> None:
        self.store = store
        self.node = node
        self.leases: dict[int, Lease] = {}
        self.seqs: dict[int, int] = {}

    def hold(self, leases: Iterable[Lease]) -> None:
        """These are ours now."""
        self.leases.update({lease.group: lease for lease in leases})

    def part(self, group: int, *decisions: Decided) -> GroupPart:
        """The part of a commit for one group."""
        if any(decided.events for decided in decisions):
            self.seqs[group] = self.seqs.get(group, 0) + 1
        return GroupPart(lease=self.leases[group], decisions=decisions, seq=self.seqs.get(group, 0))

    async def commit(self, group: int, *decisions: Decided) -> Committed:
        """Decisions of one group."""
        return await self.store.commit(self.node, [self.part(group, *decisions)])

    async def group_of(self, run: RunKey) -> int:
        row = await read_run(self.store, run)
        if row is None:
            raise NotFound(f"there is no row of {run}")
        return row.group

    async def decide(self, run: RunKey, **fields: Any) -> Committed:
        """One decision about a run."""
        return await self.commit(await self.group_of(run), Decided(root=run, **fields))

    async def launch(self, run: RunKey, **fields: Any) -> RunRecord:
        """ADMITTED -> LIVE."""
        record = await self._record(run, RunStatus.IN_PROGRESS)
        await self.decide(run, launch=True, records=(record, *fields.pop("records", ())), **fields)
        return record

    async def end(self, run: RunKey, status: RunStatus = RunStatus.SUCCEEDED, **fields: Any) -> RunRecord:
        """LIVE -> ENDED, now."""
        record = await self._record(run, status)
        record.end_time = await self.store.now()
        await self.decide(run, records=(record, *fields.pop("records", ())), **fields)
        return record

    async def release(self, attempt: AttemptKey) -> None:
        """An attempt has ended, and what it had goes."""
        await self.decide(attempt.run, released=(attempt,))

    async def _record(self, run: RunKey, status: RunStatus) -> RunRecord:
        row = await read_run(self.store, run)
        if row is None:
            raise NotFound(f"there is no row of {run}")
        return msgspec.structs.replace(row.record, status=status)
