"""I15: what is forgotten has ended long enough ago, and nobody needs it any more.

What went is kept here: in the end it is brought back, and the last look at a world sees all that ever was.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from simulation.watch import Complain, Touched
from stretto.engine.events import Event
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.properties import RunStrategyRule
from stretto.model.status import FailureMark
from stretto.node.settings import RetentionSettings
from stretto.ports.groups import NodeState
from stretto.ports.retention import Aged
from stretto.ports.rows import Phase, RunRow
from stretto.store.memory.database import Database

# Which call may delete rows of a table, and which setting says how long they are kept.
BY: Final[Mapping[str, tuple[str, Aged | None, str]]] = {
    "runs": ("prune_runs", None, "runs"),
    "attempts": ("prune_runs", None, "runs"),
    "loops": ("prune_runs", None, "runs"),
    "log": ("prune", Aged.LOG, "log"),
    "signals": ("prune", Aged.SIGNALS, "signals"),
    "outcomes": ("prune", Aged.OUTCOMES, "outcomes"),
    "nodes": ("prune", Aged.NODES, "nodes"),
}
KEPT: Final = ("runs", "attempts", "loops", "signals")  # what the last look reads
LEAVING: Final = frozenset({"leave"})  # how a node goes that was not buried


class Forgotten:
    """What a world has forgotten so far. A world without settings forgets nothing."""

    def __init__(self, settings: RetentionSettings | None, latest: Callable[[], int]) -> None:
        self._settings = settings
        self._latest = latest  # the latest that the database's clock ever said
        self._gone: dict[str, dict[Any, Any]] = {name: {} for name in KEPT}
        self._outcomes: list[tuple[tuple[str, int], dict[Any, int]]] = []
        self._instances: set[tuple[str, int]] = set()  # of which something is gone
        self.signals: set[str] = set()  # names of which some are gone
        self.count = 0

    def rule(self, touched: Touched, complain: Complain) -> None:
        for table in touched.tables:
            if table in BY:
                gone = [(key, before) for key, before, after in touched.of(table) if after is None]
                if gone:
                    self._went(touched, table, dict(gone), complain)
        for (workflow_id, request_id), before, after in touched.of("requests"):
            if after is None and before in touched.db.runs:
                complain(f"I15: the request {request_id} of {workflow_id} is gone, and {before} is there")
        for key, before, after in touched.of("runs") if self._instances else ():
            if before is None and after is not None and key[:2] in self._instances:
                complain(f"I15: {key} begins, and something of that instance is gone")
        if touched.call.name == "prune_runs":
            self._needs(touched.db, complain)

    def _went(self, touched: Touched, table: str, gone: dict[Any, Any], complain: Complain) -> None:
        call = touched.call
        if table == "nodes" and call.name in LEAVING:
            return
        name, aged, setting = BY[table]
        lasts = None if self._settings is None else getattr(self._settings, setting)
        is_by_it = call.name == name and aged in {None, call.arguments[0]}
        if not is_by_it or lasts is None:
            complain(f"I15: {call.name} deleted {next(iter(gone))} of {table}")
            return
        before = call.arguments[-1]
        if before > self._latest() - lasts:
            complain(f"I15: {call.name} deletes what is from before {before}, and it is {touched.now}")
        self.count += len(gone)
        if table in KEPT:
            self._gone[table] |= gone
        for key, row in gone.items():
            self._look_at(touched, table, key, row, before, complain)

    def _look_at(
        self, touched: Touched, table: str, key: Any, row: Any, before: int, complain: Complain
    ) -> None:
        if table == "runs":
            self._run(touched, row, before, complain)
        elif table in {"attempts", "loops"}:
            self._part(touched, table, key, before, complain)
        elif table == "log":
            if row.at >= before:
                complain(f"I15: the row {key} of the log is not old enough")
        elif table == "signals":
            self.signals.add(key[0])
            if (row.create_time or 0) >= before:
                complain(f"I15: the signal {key} is not old enough")
        elif table == "outcomes":
            self._outcomes.append((key, row))
            if key[1] >= before:
                complain(f"I15: the counts of {key} are not old enough")
        elif row.state is not NodeState.DEAD or row.buried_at >= before:
            complain(f"I15: the node {key} is {row.state}, since {row.buried_at}")

    # ------------------------------------------------------------------------------------------------- runs
    def _run(self, touched: Touched, row: RunRow, before: int, complain: Complain) -> None:
        db, key = touched.db, row.key
        self._instances.add(key[:2])
        for each in self._above(touched, row):
            if each is None or each.phase is not Phase.ENDED or (each.record.end_time or 0) >= before:
                what = "something that is gone" if each is None else f"{each.key}, which is {each.phase}"
                complain(f"I15: {key} is gone, and belongs to {what}")
        entry = db.workflows.get(key.workflow_id)
        strategy = None if entry is None or entry.row is None else entry.row.strategy.rule
        if row.failure is FailureMark.STANDING and strategy is RunStrategyRule.STRICT_SEQUENTIAL:
            complain(f"I15: {key} is gone, and its failure stood")
        if db.attempts_of[key] or db.loops_of[key]:
            complain(f"I15: {key} is gone, and its steps are there")
        if db.requests.get((key.workflow_id, row.record.uuid)) == key:
            complain(f"I15: {key} is gone, and its request is there")
        for number in db.messages:
            if key in _named(db.messages[number].body):
                complain(f"I15: {key} is gone, and the message {db.messages[number].ref} is about it")

    def _part(self, touched: Touched, table: str, key: AttemptKey, before: int, complain: Complain) -> None:
        """A step goes with its run, or shortly before it."""
        db = touched.db
        self._instances.add(key.run[:2])
        row = _was(touched, key.run)
        if row is None or row.phase is not Phase.ENDED or (row.record.end_time or 0) >= before:
            complain(f"I15: {key} of {table} is gone, and its run is {row and row.phase}")
        if db.permits_of[key] or db.waits_of[key] or key in db.work:
            complain(f"I15: {key} is gone, and its permits, waits or work are there")

    def _above(self, touched: Touched, row: RunRow) -> Iterator[RunRow | None]:
        """A run, and all to which it belongs, as they were before the transaction."""
        at: RunRow | None = row
        while at is not None:
            yield at
            above = at.root if at.root != at.key else None if at.parent is None else at.parent.attempt.run
            if above is None:
                return
            at = _was(touched, above)
            if at is None:
                yield None

    def _needs(self, db: Database, complain: Complain) -> None:
        """What goes on has what it needs: whose step it is, what its steps have started, its version."""
        for key in db.runs:
            row = db.runs[key]
            if row.phase is Phase.ENDED:
                continue
            above = () if row.parent is None else (row.parent.attempt.run,)
            for each in (row.root, *above):
                if each not in db.runs:
                    complain(f"I15: {key} goes on, and {each} is gone")
            if row.parent is not None and row.parent.attempt not in db.attempts:
                complain(f"I15: {key} goes on, and {row.parent.attempt} is gone")
            if row.root == key and (key.workflow_id, row.record.version_id) not in db.versions:
                complain(f"I15: {key} goes on, and its version {row.record.version_id} is gone")
            for attempt in db.attempts_of[key]:
                child = self._gone["runs"].get(db.attempts[attempt].record.child)
                if child is not None and child.parent is not None:
                    complain(f"I15: {key} goes on, and {child.key}, for which it waited, is gone")

    # ---------------------------------------------------------------------------------------------- the end
    @property
    def runs(self) -> int:
        """How many of them are gone."""
        return len(self._gone["runs"])

    def bring_back(self, db: Database) -> None:
        """For the last look: everything that ever was, as it was when it went."""
        for table, rows in self._gone.items():
            for key, row in rows.items():
                getattr(db, table).restore(key, row)
        for at, counts in self._outcomes:
            kept = db.outcomes.get(at) or {}
            both = {status: kept.get(status, 0) + counts.get(status, 0) for status in {**kept, **counts}}
            db.outcomes.restore(at, both)


def _was(touched: Touched, run: RunKey) -> RunRow | None:
    """A run that is there, or was before the transaction."""
    gone = (before for key, before, _after in touched.of("runs") if key == run)
    return touched.db.runs.get(run) or next(gone, None)


def _named(body: object) -> Iterator[RunKey]:
    """The runs that a message is about."""
    for value in (getattr(body, name, None) for name in getattr(body, "__struct_fields__", ())):
        if isinstance(value, RunKey):
            yield value
        elif isinstance(value, AttemptKey):
            yield value.run
        elif isinstance(value, Event):
            yield from _named(value)
