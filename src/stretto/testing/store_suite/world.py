"""What the checks stand on: workflows, runs and owners, made with few words."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, TypeVar

import msgspec

from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.model.errors import StrettoError
from stretto.model.initiator import Initiator, ManualInitiator
from stretto.model.properties import PropertiesSnapshot, RunStrategy, RunStrategyRule
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.model.workflow import Workflow, WorkflowVersion
from stretto.ports.admission import NewRun, RequestKey, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId, Parent, RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store
from stretto.ports.workflows import Found
from stretto.testing.store_suite.owner import Owner

E = TypeVar("E", bound=StrettoError)

ALICE = User(name="alice")


class World:
    """One empty database, and the ways to fill it."""

    def __init__(
        self,
        store: Store,
        another: Callable[[], Awaitable[Store]],
        advance: Callable[[int], Awaitable[None]],
    ) -> None:
        self.store = store
        self.another = another  # opens one more handle to the same database
        self.advance = advance  # lets its time pass, in milliseconds
        self._numbers = count(1)

    # ------------------------------------------------------------------------------------------- workflows
    @staticmethod
    def version(number: int, workflow_id: str = "wf") -> WorkflowVersion:
        """What is published under a number; its name tells it from the others."""
        return WorkflowVersion(workflow=Workflow(id=workflow_id, name=f"v{number}"))

    async def publish(
        self,
        workflow_id: str = "wf",
        *,
        rule: RunStrategyRule = RunStrategyRule.PARALLEL,
        slots: int = 100,
        **more: Any,
    ) -> None:
        """A new version, active, with a run strategy; `more` goes into the change."""
        strategy = RunStrategy(rule=rule, workflow_concurrency=slots)

        def decide(found: Found) -> Change[None]:
            number = 1 if found.row is None else found.row.latest_version + 1
            return Change(
                answer=None,
                **{
                    "version": self.version(number, workflow_id),
                    "properties": PropertiesSnapshot(owner=ALICE, run_strategy=strategy),
                    "activation": Activation(version_id=number, by=ALICE),
                    **more,
                },
            )

        await change_workflow(self.store, workflow_id, decide)

    # ------------------------------------------------------------------------------------------------ runs
    async def start(
        self,
        workflow_id: str = "wf",
        *,
        admit: bool = True,
        request_id: str | None = None,
        parent: Parent | None = None,
        status: RunStatus = RunStatus.CREATED,
        **fields: Any,
    ) -> RunKey:
        """A new instance: admitted, queued, or (with a terminal status) ended at birth."""
        uuid = request_id or f"request-{next(self._numbers)}"

        def decide(found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
            key = RunKey(workflow_id, found.next_instance_id, 1)
            ended = {"end_time": found.now} if status.is_terminal else {}
            record = run_record(key, uuid, status=status, create_time=found.now, **ended, **fields)
            new = NewRun(record=record, parent=parent)
            return WorkflowDecision(answer=key, spent=1, created=(new,), admitted=(key,) if admit else ())

        scope = TransactionScope(requests=(RequestKey(uuid),))
        return (await self.store.transact(workflow_id, scope, decide)).answer

    async def restart(self, run: RunKey, *, admit: bool = True, request_id: str | None = None) -> RunKey:
        """The next run of an instance, without asking whether it may be."""
        key = RunKey(run.workflow_id, run.instance_id, run.run_id + 1)
        record = run_record(key, request_id or f"request-{next(self._numbers)}")
        new = NewRun(record=record)

        def decide(_found: WorkflowSnapshot) -> WorkflowDecision[None]:
            return WorkflowDecision(answer=None, created=(new,), admitted=(key,) if admit else ())

        await self.store.transact(run.workflow_id, TransactionScope(), decide)
        return key

    async def row(self, run: RunKey) -> RunRow:
        """The row of a run that must be there."""
        row = await read_run(self.store, run)
        if row is None:
            raise AssertionError(f"there is no row of {run}")
        return row

    # ----------------------------------------------------------------------------------------------- nodes
    async def owner(self, name: str = "node-a", most: int = GROUPS, store: Store | None = None) -> Owner:
        """A node that joins and claims."""
        node = NodeId(name)
        store = store or self.store
        await store.join(node)
        owner = Owner(store, node)
        owner.hold(await store.claim(node, most))
        return owner

    async def live(self, owner: Owner, workflow_id: str = "wf", **fields: Any) -> RunKey:
        """A run that was started and launched."""
        run = await self.start(workflow_id, **fields)
        await owner.launch(run)
        return run


async def refusal(kind: type[E], attempt: Awaitable[object]) -> E:
    """The error that a call must end with."""
    try:
        await attempt
    except kind as error:
        return error
    raise AssertionError(f"it should have been refused with {kind.__name__}")


# ------------------------------------------------------------------------------------------------- records
def run_record(key: RunKey, uuid: str, **fields: Any) -> RunRecord:
    """A run as it is before it begins, but for the fields given."""
    initiator: Initiator = fields.pop("initiator", ManualInitiator(user=ALICE))
    correlation_id = fields.pop("correlation_id", f"{key}")
    return RunRecord(
        key=key, uuid=uuid, initiator=initiator, correlation_id=correlation_id, **{"version_id": 1, **fields}
    )


def attempt_record(
    run: RunKey, step_id: str, number: int = 1, status: StepStatus = StepStatus.RUNNING, **fields: Any
) -> AttemptRecord:
    """An attempt in some status."""
    sequence = fields.pop("sequence", 1)
    return AttemptRecord(key=AttemptKey(run, step_id, number), sequence=sequence, status=status, **fields)


def ended(record: RunRecord, status: RunStatus = RunStatus.SUCCEEDED, at: int = 1) -> RunRecord:
    """The same run at its end."""
    return msgspec.structs.replace(record, status=status, end_time=at)


def near(time: int | None, moment: int) -> bool:
    """Whether a time that the store noted is that of a call just before; a real clock goes on meanwhile."""
    return time is not None and abs(moment - time) < 5_000


def line(text: str) -> LogEvent:
    """A line of a timeline."""
    return LogEvent(timestamp=1, message=text)
