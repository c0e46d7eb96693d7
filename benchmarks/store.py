"""What the store on SQLite costs, alone: group commits, starts, small commits and reads, in CPU time.

python -m benchmarks store
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from benchmarks.row import Row
from stretto.engine.records import AttemptKey, AttemptRecord, Record, RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.admission import NewRun, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.commit import Decided
from stretto.ports.run_snapshot import read_run
from stretto.ports.workflows import read_workflow
from stretto.store.sqlite import open_sqlite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, run_record

ROWS: Final = 2_000  # of one group commit
ROUNDS: Final = 15
NOW: Final = 1_700_000_000_000
INLINE: Final = "maestro_foreach_Ib2_11_0123456789abcdef0123456789abcdef"

Measured = Callable[[World, Owner, RunKey], Awaitable[list[Row]]]


def attempt(run: RunKey, number: int) -> AttemptRecord:
    """A step that had nothing to do."""
    return AttemptRecord(
        key=AttemptKey(run, f"step-{number}", 1),
        sequence=number,
        status=StepStatus.SUCCEEDED,
        create_time=NOW,
        initialize_time=NOW,
        start_time=NOW,
        finish_time=NOW,
        end_time=NOW,
        edges={"next": True},
    )


async def timed(call: Awaitable[object]) -> float:
    """Seconds of CPU, of all threads: others may be using the machine, and its disk."""
    begun = process_time()
    await call
    return process_time() - begun


async def group_commits(_world: World, owner: Owner, run: RunKey) -> list[Row]:
    """Attempts, made and changed; iterations with one attempt each."""
    group = await owner.group_of(run)
    found: dict[str, list[float]] = {"made": [], "changed": [], "iterations": []}
    for name in ("made", "changed"):
        for part in range(ROUNDS):
            steps = tuple(attempt(run, part * ROWS + number) for number in range(ROWS))
            decided = Decided(root=run, records=steps, keeps_due=True)
            found[name].append(await timed(owner.commit(group, decided)))
    for part in range(ROUNDS):
        inside = [
            run_record(
                RunKey(INLINE, part * ROWS + number, 1),
                f"{part}-{number}",
                status=RunStatus.SUCCEEDED,
                end_time=NOW,
            )
            for number in range(ROWS // 2)
        ]
        records: tuple[Record, ...] = (*inside, *(attempt(record.key, 1) for record in inside))
        decided = Decided(root=run, records=records, keeps_due=True)
        found["iterations"].append(await timed(owner.commit(group, decided)))
    return [
        Row(f"group commit of {ROWS:,} rows: {name}", median(times) / ROWS * 1e6, "us/row", 20, 0)
        for name, times in found.items()
    ]


async def starts(world: World, _owner: Owner, _run: RunKey) -> list[Row]:
    """Many runs with one workflow transaction."""
    count = 200

    def decide(found: WorkflowSnapshot) -> WorkflowDecision[None]:
        keys = [RunKey("wf", found.next_instance_id + place, 1) for place in range(count)]
        created = tuple(NewRun(record=run_record(key, f"r-{key.instance_id}")) for key in keys)
        return WorkflowDecision(answer=None, spent=count, created=created, admitted=tuple(keys))

    times = [await timed(world.store.transact("wf", TransactionScope(), decide)) for _ in range(ROUNDS)]
    return [Row(f"start of {count} runs at once", median(times) / count * 1e6, "us/run", None, 0)]


async def small(world: World, owner: Owner, run: RunKey) -> list[Row]:
    """One row after the other, many at once, and a row by its key."""
    group = await owner.group_of(run)

    def one(number: int) -> Awaitable[object]:
        return owner.commit(group, Decided(root=run, records=(attempt(run, number),), keeps_due=True))

    alone = [await timed(one(-number)) for number in range(1, 301)]
    together = await timed(gathered([one(-number) for number in range(301, 2_301)]))
    reads = [await timed(read_workflow(world.store, "wf")) for _ in range(1_000)]
    runs = [await timed(read_run(world.store, run)) for _ in range(1_000)]
    return [
        Row("commit of one row", median(alone) * 1e6, "us", None, 0),
        Row("the same, 2,000 that wait together", together / 2_000 * 1e6, "us", None, 0),
        Row("read of a workflow", median(reads) * 1e6, "us", None, 0),
        Row("read of a run, in a thread", median(runs) * 1e6, "us", None, 0),
    ]


async def gathered(calls: list[Awaitable[object]]) -> None:
    await asyncio.gather(*calls)


async def measured(part: Measured) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stretto.db"
        store = await open_sqlite(path)
        world = World(store, lambda: open_sqlite(path), asyncio.sleep)
        await world.publish()
        owner = await world.owner()
        rows = await part(world, owner, await world.live(owner))
        await store.close()
    return rows


def run() -> list[Row]:
    return [row for part in (group_commits, starts, small) for row in asyncio.run(measured(part))]
