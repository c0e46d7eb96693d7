"""A database that shows each transaction to the invariants, once it is certain to be committed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from simulation.handle import Call
from stretto.ports.clock import Clock
from stretto.store.memory.database import Database
from stretto.store.memory.table import Table

Complain = Callable[[str], None]
NOBODY: Final = Call("nobody", "nothing")


class Change(NamedTuple):
    """A row before and after a transaction; None: it was not there, or is not any more."""

    key: Any
    before: Any
    after: Any


class Touched:
    """All that one transaction changed, and whose call it was."""

    def __init__(self, db: Database, call: Call, now: int, changes: dict[str, list[Change]]) -> None:
        self.db = db
        self.call = call
        self.now = now
        self._changes = changes

    def of(self, table: str) -> list[Change]:
        return self._changes.get(table, [])

    @property
    def tables(self) -> list[str]:
        return list(self._changes)


Rule = Callable[[Touched, Complain], None]


class Watch:
    """Calls every rule with every transaction that changed something."""

    def __init__(self, complain: Complain, seen: Callable[[Touched], None]) -> None:
        self.rules: list[Rule] = []
        self._complain = complain
        self._seen = seen
        self._call = NOBODY
        self._names: dict[int, str] = {}
        self.transactions = 0

    def note(self, call: Call | None) -> None:
        """Whose call is being carried out."""
        self._call = call or NOBODY

    def look_at(
        self, db: "WatchedDatabase", journal: list[tuple[Table[Any, Any], Any, Any]], now: int
    ) -> None:
        """A transaction is about to be committed."""
        if not self._names:
            self._names = {id(each): name for name, each in vars(db).items() if isinstance(each, Table)}
        self.transactions += 1
        first: dict[tuple[int, Any], tuple[Table[Any, Any], Any, Any]] = {}
        for table, key, before in journal:
            first.setdefault((id(table), key), (table, key, before))
        changes: dict[str, list[Change]] = {}
        for table, key, before in first.values():
            after = table.get(key)
            if before is not after:
                changes.setdefault(self._names[id(table)], []).append(Change(key, before, after))
        touched = Touched(db, self._call, now, changes)
        self._seen(touched)
        for rule in self.rules:
            rule(touched, self._complain)


class WatchedDatabase(Database):
    """The memory store's database, watched."""

    def __init__(self, clock: Clock, watch: Watch) -> None:
        super().__init__(clock)
        self._watch = watch

    @contextmanager
    def transaction(self) -> Iterator[int]:
        with super().transaction() as now:
            yield now
            if self._journal:
                self._watch.look_at(self, self._journal, now)
