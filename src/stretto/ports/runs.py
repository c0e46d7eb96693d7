"""Start, restart, dequeue, and everything else that happens to runs under their workflow's lock."""

from collections.abc import Callable, Collection
from typing import Protocol, TypeVar

from stretto.engine.records import RunKey
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.ports.admission import TransactionResult, TransactionScope, WorkflowDecision, WorkflowSnapshot

A = TypeVar("A")


class Runs(Protocol):
    """The queue of each workflow. All that makes more of a workflow's runs run goes through `transact`; group
    commits only lower their number. So counts read under the lock err upwards only, and strategies hold.
    """

    async def transact(
        self,
        workflow_id: str,
        scope: TransactionScope,
        decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    ) -> TransactionResult[A]:
        """T6. Lock the workflow, read what the scope names, decide, and write the decision.

        NotFound: there is no such workflow, or it is deleted. Stale: a consumed message is gone, a timer is
        not due at its time, or a run is not in the phase that the decision supposes (QUEUED to be admitted,
        ended or paused; ENDED with the mark STANDING to be marked). Conflict: a request id or a run is there
        already. What `decide` raises is raised; nothing is written then.

        Two transactions of one workflow never overlap. Who repeats one with the same request ids finds them
        `known`. Afterwards, outside of any lock: hint the groups; if some are queued, `look_at_queue`, and
        if the strategy would admit one, transact again. The same look follows a commit that ended runs.
        """
        ...

    async def look_at_queue(self, workflow_id: str) -> tuple[RunStrategy, RunCounts] | None:
        """How a workflow stands, without a lock, in one statement. None: missing or deleted. Only reads."""
        ...

    async def with_queue(self, workflow_ids: Collection[str]) -> list[str]:
        """Which of these have queued runs: asked after each commit that ended runs of them. Only reads."""
        ...

    async def queues_at_home(self, groups: Collection[int]) -> list[str]:
        """Workflows at home in these groups that have queued runs, for a sweep. Only reads."""
        ...

    async def run_of_request(self, workflow_id: str, request_id: str) -> RunKey | None:
        """The run that a request made. Behind the fence of its sender, "none" is final. Only reads."""
        ...
