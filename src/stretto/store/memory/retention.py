"""What may be forgotten."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice, takewhile

from stretto.engine.events import Event
from stretto.engine.inline_ids import Loop, inline_prefix
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.properties import RunStrategyRule
from stretto.model.status import FailureMark
from stretto.ports.bulk import BulkState
from stretto.ports.retention import Aged
from stretto.ports.rows import Phase, RunRow
from stretto.ports.workflows import WorkflowRow
from stretto.store.memory.approvals import forget_attempt
from stretto.store.memory.database import Database, Part
from stretto.store.memory.run_rows import delete_run, runs_of_instance
from stretto.store.memory.runs import workflow_row
from stretto.store.memory.schema import ALL, WorkflowEntry

Deletion = Callable[[], object]  # of one row


class MemoryRetention(Part):
    """See `ports.retention`."""

    async def prune_runs(self, workflow_id: str, before: int, *, most: int = 500) -> int:
        db = self._db
        with db.transaction():
            if workflow_row(db, workflow_id) is None:
                return 0
            named = {run for number in db.messages for run in _named(db.messages[number].body)}
            doomed = (
                partial(_delete_of_instance, db, (workflow_id, number), deletion)
                for number in dict.fromkeys(key.instance_id for key in db.runs_of[workflow_id])
                if _may_go(db, tree := _tree(db, workflow_id, number), before, named)
                for run in tree
                for deletion in _rows(db, run)
            )
            return _delete(doomed, most)

    async def prunable(self, before: int, *, after: str = "", most: int = 100) -> list[str]:
        db = self._db
        with db.transaction():
            prunable = (
                each
                for each in db.workflow_ids[ALL]
                if each > after
                and any(_ended_before(db.runs[key], before) for key in db.runs_by_phase[each, Phase.ENDED])
            )
            return list(islice(prunable, most))

    async def prune(self, aged: Aged, before: int, *, most: int = 500) -> int:
        db = self._db
        with db.transaction():
            return _delete(self._old(aged, before), most)

    async def purge(self, workflow_id: str, *, most: int = 500) -> int:
        db = self._db
        with db.transaction():
            entry = db.workflows.get(workflow_id)
            if entry is None or not entry.deleted or entry.row is None:
                return 0
            return _delete(_rows_of_workflow(db, entry.row), most)

    async def purgeable(self) -> list[str]:
        with self._db.transaction():
            return sorted(each for each in self._db.workflows if self._db.workflows[each].deleted)

    def _old(self, aged: Aged, before: int) -> Iterable[Deletion]:
        """What may go by its age."""
        db = self._db
        match aged:
            case Aged.LOG:
                for group in sorted(db.groups):
                    trimmed = takewhile(partial(self._may_be_trimmed, before), db.log_by_group[group][:-1])
                    yield from (partial(db.log.pop, at) for at in trimmed)
            case Aged.SIGNALS:
                signals = (at for at in sorted(db.signals) if (db.signals[at].create_time or 0) < before)
                yield from (partial(self._forget_signal, at) for at in signals)
            case Aged.NODES:
                buried = ((db.nodes[node].buried_at, node) for node in sorted(db.nodes))
                old_nodes = (node for at, node in buried if at is not None and at < before)
                yield from (partial(db.nodes.pop, node) for node in old_nodes)
            case Aged.OUTCOMES:
                yield from (partial(db.outcomes.pop, at) for at in sorted(db.outcomes) if at[1] < before)
            case Aged.RESULTS:
                old = (key for key in sorted(db.results) if db.results[key].until < before)
                yield from (partial(db.results.pop, key) for key in old)
            case Aged.BULKS:
                yield from (partial(self._forget_bulk, job_id) for job_id in self._old_bulks(before))

    def _old_bulks(self, before: int) -> list[str]:
        jobs = [self._db.bulk_jobs[job_id] for job_id in self._db.bulk_jobs]
        old = [job for job in jobs if job.state is not BulkState.RUNNING and job.create_time < before]
        return [job_id for _time, job_id in sorted((job.create_time, job.job_id) for job in old)]

    def _forget_bulk(self, job_id: str) -> None:
        self._db.bulk_items.pop(job_id)
        self._db.bulk_held.pop(job_id)
        self._db.bulk_jobs.pop(job_id)

    def _may_be_trimmed(self, before: int, at: tuple[int, int]) -> bool:
        group, seq = at
        places = [self._db.sinks[sink] for sink in self._db.sinks if sink[1] == group]
        return self._db.log[at].at < before and all(place >= seq for place in places)

    def _forget_signal(self, at: tuple[str, int]) -> None:
        signal = self._db.signals[at]
        self._db.signals.pop(at)
        self._db.announced.pop((signal.name, signal.instance_id))


def _delete_of_instance(db: Database, instance: tuple[str, int], delete: Deletion) -> None:
    """A row of an instance. With the first one it is not found any more: a restart would need them all."""
    db.instances.pop(instance)
    delete()


def _delete(rows: Iterable[Deletion], most: int) -> int:
    """The first of these rows; they are found first, because an index that is walked must not change."""
    doomed = list(islice(rows, most))
    for delete in doomed:
        delete()
    return len(doomed)


# ------------------------------------------------------------------------------------------------ which runs
def _tree(db: Database, workflow_id: str, instance_id: int) -> list[RunKey]:
    """All runs of an instance, their iterations and sync descendants: the deepest first, the oldest first.

    Empty if a step waits for the instance: it goes with that step's instance.
    """
    runs = runs_of_instance(db, workflow_id, instance_id)
    if any(db.runs[run].parent is not None for run in runs):
        return []
    return [each for run in runs for each in _below(db, run)]


def _below(db: Database, run: RunKey) -> Iterator[RunKey]:
    """A run after everything in it and under it."""
    for phase in Phase:
        for iteration in db.iterations[run, phase]:
            yield from _below(db, iteration)
    for attempt in db.attempts_of[run]:
        for child in db.children_of[attempt]:
            yield from _below(db, child)
    yield run


def _may_go(db: Database, tree: list[RunKey], before: int, named: set[RunKey]) -> bool:
    return all(
        _ended_before(row, before)
        and key not in named
        and not _blocks(db, row)
        and not any(_is_held(db, attempt) for attempt in db.attempts_of[key])
        for key in tree
        for row in (db.runs[key],)
    )


def _ended_before(row: RunRow, before: int) -> bool:
    return row.phase is Phase.ENDED and (row.record.end_time or 0) < before


def _blocks(db: Database, row: RunRow) -> bool:
    """Whether the queue of its own workflow, which need not be that of its instance's root, waits for it."""
    if row.failure is not FailureMark.STANDING:
        return False
    workflow = workflow_row(db, row.key.workflow_id)
    return workflow is not None and workflow.strategy.rule is RunStrategyRule.STRICT_SEQUENTIAL


def _is_held(db: Database, attempt: AttemptKey) -> bool:
    return bool(db.permits_of[attempt] or db.waits_of[attempt] or attempt in db.work)


def _named(body: object) -> Iterator[RunKey]:
    """The runs that a message is about."""
    for name in ("run", "attempt", "child", "event", "step"):
        value = getattr(body, name, None)
        if isinstance(value, RunKey):
            yield value
        elif isinstance(value, AttemptKey):
            yield value.run
        elif isinstance(value, Event):
            yield from _named(value)


# ------------------------------------------------------------------------------------------------ which rows
def _rows(db: Database, run: RunKey) -> Iterator[Deletion]:
    for attempt in db.attempts_of[run]:
        yield partial(forget_attempt, db, attempt)
    for loop in db.loops_of[run]:
        yield partial(db.loops.pop, loop)
    yield partial(delete_run, db, db.runs[run])


def _rows_of_workflow(db: Database, row: WorkflowRow) -> Iterator[Deletion]:
    """Everything of a deleted workflow; the row of the workflow itself last, which frees its id."""
    workflow_id = row.workflow_id
    inline = tuple(inline_prefix(loop, row.internal_id) for loop in Loop)
    yield from (partial(db.versions.pop, at) for at in db.versions_of[workflow_id])
    yield from (partial(db.snapshots.pop, at) for at in db.snapshots_of[workflow_id])
    yield from (partial(db.timelines.pop, at) for at in db.timelines if at == workflow_id)
    yield from (partial(db.outcomes.pop, at) for at in db.outcomes if at[0] == workflow_id)
    yield from (partial(db.breakpoints.pop, at) for at in db.breakpoints if at[0].startswith(inline))
    yield from (partial(db.breakpoints.pop, at) for at in db.breakpoints if at[0] == workflow_id)
    for run in db.runs_of[workflow_id]:
        iterations = chain.from_iterable(db.iterations[run, phase] for phase in Phase)
        for each in (*iterations, run):
            yield from _rows(db, each)
    gone = WorkflowEntry(row=None, next_instance_id=row.next_instance_id)
    yield partial(db.workflows.put, workflow_id, gone)
