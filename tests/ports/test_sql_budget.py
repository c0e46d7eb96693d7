"""How many rows are written: as few as were promised, however many steps a run has."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.admission import NewRun, Question, Standing, Verdict
from stretto.ports.commit import Decided
from stretto.ports.places import group_of_run
from stretto.ports.rows import RunSummary
from stretto.store.sql.statement import Statement
from stretto.store.sqlite import open_sqlite
from stretto.testing.clock import EPOCH
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.world import World, attempt_record, ended, run_record

CHANGES = Statement("SELECT total_changes()")


class Counted:
    """A world that counts the rows which its store writes."""

    def __init__(self, world: World, owner: Owner) -> None:
        self.world = world
        self.owner = owner

    async def rows_of(self, call: Awaitable[Any]) -> tuple[int, Any]:
        before = await self._changes()
        answer = await call
        return await self._changes() - before, answer

    async def _changes(self) -> int:
        store: Any = self.world.store
        row = await store._db.write(lambda tx: tx.one(CHANGES))
        number: int = row[0]
        return number

    async def start(self, count: int) -> tuple[int, list[RunKey]]:
        """So many runs with one transaction."""

        def decide(found: Standing) -> Verdict[list[RunKey]]:
            keys = [RunKey("wf", found.next_instance_id + place, 1) for place in range(count)]
            created = tuple(NewRun(record=run_record(key, f"r-{key.instance_id}")) for key in keys)
            return Verdict(answer=keys, spent=count, created=created, admitted=tuple(keys))

        rows, done = await self.rows_of(self.world.store.transact("wf", Question(), decide))
        return rows, done.answer


async def never(*_arguments: Any) -> Any:
    raise AssertionError("nobody asks for it")


def counted(folder: Path, body: Callable[[Counted], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_sqlite(folder / "stretto.db", clock=lambda: EPOCH)  # time stands still
        world = World(store, never, never)
        await world.publish()
        owner = await world.owner()
        await owner.commit(0, Decided())  # the beat is renewed with the first commit of a second
        await body(Counted(world, owner))
        await store.close()

    asyncio.run(run())


def test_runs_of_steps_without_an_outside_effect(tmp_path: Path) -> None:
    """1 row per step, 2 per instance; for all together: the workflow, its counter, a log row per group."""

    async def body(counter: Counted) -> None:
        runs, steps = 40, 25
        started, keys = await counter.start(runs)
        assert started == runs + 1
        by_group: dict[int, list[Decided]] = {}
        for key in keys:
            record = ended(run_record(key, f"r-{key.instance_id}"))
            attempts = [attempt_record(key, f"s{n}", 1, StepStatus.SUCCEEDED) for n in range(steps)]
            decided = Decided(root=key, launch=True, records=(record, *attempts), events=(event("x"),))
            by_group.setdefault(group_of_run(key), []).append(decided)
        parts = [counter.owner.part(group, *decisions) for group, decisions in by_group.items()]
        written, done = await counter.rows_of(counter.world.store.commit(counter.owner.node, parts))
        assert not done.fenced
        assert written == runs + runs * steps + len(by_group) + 1

    counted(tmp_path, body)


def test_a_step_with_an_outside_effect(tmp_path: Path) -> None:
    """2 rows per step: when it begins, and when it ends. The run's row only if its time changes."""

    async def body(counter: Counted) -> None:
        _rows, (key,) = await counter.start(1)
        owner, store = counter.owner, counter.world.store
        group = group_of_run(key)
        record = run_record(key, f"r-{key.instance_id}", status=RunStatus.IN_PROGRESS)

        async def commit(**fields: Any) -> int:
            part = owner.part(group, Decided(root=key, **fields))
            return (await counter.rows_of(store.commit(owner.node, [part])))[0]

        await commit(launch=True, records=(record,), due_at=0)
        begins = attempt_record(key, "s", 1, StepStatus.STARTING)
        assert await commit(records=(begins,), due_at=0, runs_on={begins.key: owner.node}) == 1
        ends = attempt_record(key, "s", 1, StepStatus.SUCCEEDED)
        assert await commit(records=(ends,), keeps_due=True) == 1
        assert await commit(due_at=0) == 0  # that is what the row says
        assert await commit(due_at=5) == 1
        assert await commit() == 1
        assert await commit(records=(record,), summaries={key: RunSummary()}, due_at=9) == 1

    counted(tmp_path, body)


def test_messages_are_a_row_and_its_deletion(tmp_path: Path) -> None:
    async def body(counter: Counted) -> None:
        owner, store = counter.owner, counter.world.store
        rows, run = await counter.rows_of(counter.world.start(admit=False))
        assert rows == 3  # the run, the workflow, the message that tells of it
        (message,) = (await store.fetch(owner.node, [group_of_run(run)])).messages
        part = owner.part(group_of_run(run), Decided(consumed=(message.id,)))
        assert (await counter.rows_of(store.commit(owner.node, [part])))[0] == 1

    counted(tmp_path, body)
