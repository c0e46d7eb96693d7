"""Starts that come at the same time: one transaction for all of them, whoever asks."""

import asyncio
from collections.abc import Mapping
from typing import Any

from stretto.actions import start as start_batcher
from stretto.actions.caller import Caller
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.evaluation import RunQuestion, evaluate_here
from stretto.actions.publish import publish
from stretto.actions.start import StartBatcher
from stretto.definition import parse
from stretto.model.initiator import Ancestor, ManualInitiator, SubworkflowInitiator
from stretto.model.param import Parameter
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.model.runs import AttemptKey, RunKey
from stretto.model.user import User
from stretto.ports.failures import Fenced
from stretto.ports.hints import SILENT
from stretto.ports.places import group_of_run
from stretto.ports.rows import Lease
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store
from stretto.store.opening import open_store
from stretto.testing.store_suite.world import World

ANN, BOB = (Caller(user=User(name=name)) for name in ("ann", "bob"))
FLOW = (
    "{properties: {owner: ann, run_strategy: parallel}, workflow: {id: ID, "
    "steps: [{step: {id: s, type: NoOp}}]}}"
)
MANUAL = StartRequest(initiator=ManualInitiator())
ABOVE = RunKey("above", 1, 1)


class Transactions:
    """A store that counts the workflow transactions which are asked of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def transact(self, *arguments: Any) -> Any:
        self.count += 1
        return await self._store.transact(*arguments)


async def made() -> Transactions:
    store = await open_store("memory:")
    for name in ("w", "w", "other"):
        await publish(store, ANN, parse(FLOW.replace("ID", name)))
    return Transactions(store)


def batcher_on(transactions: Transactions) -> StartBatcher:
    return StartBatcher(transactions, SILENT)


def by_step(lease: Lease) -> tuple[StartRequest, Sender]:
    sender = Sender(attempt=AttemptKey(ABOVE, "child", 1), lease=lease, correlation_id="above:1:1")
    above = Ancestor(workflow_id="above", instance_id=1, run_id=1, step_id="child", step_attempt_id=1)
    return StartRequest(initiator=SubworkflowInitiator(ancestors=(above,)), request_id="r"), sender


async def lease_of(store: Any, group: int) -> Lease:
    owner = await World(store, None, None).owner()  # type: ignore[arg-type]
    return owner.leases[group]


def test_users_versions_and_steps_share_a_transaction() -> None:
    async def work() -> None:
        transactions = await made()
        lease = await lease_of(transactions, group_of_run(ABOVE))
        batcher = batcher_on(transactions)
        request, sender = by_step(lease)
        answers = await asyncio.gather(
            batcher.start(ANN, "w", "latest", MANUAL),
            batcher.start(BOB, "w", "1", MANUAL),
            batcher.start(ANN, "w", "latest", request, sender=sender),
            batcher.start(BOB, "w", "latest", MANUAL),
        )
        assert transactions.count == 1
        assert [each.workflow_instance_id for each in answers] == [1, 2, 3, 4]
        assert [each.workflow_version_id for each in answers] == [2, 1, 2, 2]
        rows: list[Any] = [await read_run(transactions, RunKey("w", number, 1)) for number in (1, 2, 4)]
        assert [row.record.initiator.user.name for row in rows] == ["ann", "bob", "bob"]
        child: Any = await read_run(transactions, RunKey("w", 3, 1))
        assert child.parent.attempt == sender.attempt

    asyncio.run(work())


def test_each_workflow_has_a_transaction_of_its_own() -> None:
    async def work() -> None:
        transactions = await made()
        batcher = batcher_on(transactions)
        names = ("w", "other", "w", "other")
        answers = await asyncio.gather(*(batcher.start(ANN, name, "latest", MANUAL) for name in names))
        assert [each.workflow_instance_id for each in answers] == [1, 1, 2, 2]
        assert transactions.count == 2

    asyncio.run(work())


def test_a_step_that_lost_its_group_spoils_it_for_nobody() -> None:
    """Not even for a request with the same id, under the lease that holds."""

    async def work() -> None:
        transactions = await made()
        lease = await lease_of(transactions, group_of_run(ABOVE))
        batcher = batcher_on(transactions)
        request, late = by_step(lease._replace(generation=lease.generation - 1))
        _same, sender = by_step(lease)
        starts = (
            batcher.start(ANN, "w", "latest", request, sender=late),
            batcher.start(ANN, "w", "latest", MANUAL),
            batcher.start(ANN, "w", "latest", request, sender=sender),
        )
        fenced, user, child = await asyncio.gather(*starts, return_exceptions=True)
        assert transactions.count == 1
        assert isinstance(fenced, Fenced)
        assert fenced.groups == {lease.group}
        found = [each.workflow_instance_id for each in (user, child) if isinstance(each, StartResponse)]
        assert found == [1, 2]

    asyncio.run(work())


def test_a_slow_batch_is_overtaken(monkeypatch: Any) -> None:
    """An expression of one user keeps nobody waiting who comes after it."""
    monkeypatch.setattr(start_batcher, "OVERTAKEN_AFTER", 0.0)

    async def work() -> None:
        transactions = await made()
        batcher = batcher_on(transactions)
        asked, go = asyncio.Event(), asyncio.Event()

        async def slow(question: RunQuestion, /) -> Mapping[str, Parameter]:
            asked.set()
            await go.wait()
            return await evaluate_here(question)

        first = asyncio.create_task(batcher.start(ANN, "w", "latest", MANUAL, evaluate=slow))
        await asked.wait()
        second = await batcher.start(BOB, "w", "latest", MANUAL)
        assert second.workflow_instance_id == 1
        finishing = asyncio.create_task(batcher.finish())
        await asyncio.sleep(0)
        assert not finishing.done()
        go.set()
        assert (await first).workflow_instance_id == 2
        await finishing

    asyncio.run(work())
