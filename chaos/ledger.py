"""The world outside: a book of effects, in a database of its own, keyed by launch.

It does what the contract of step runtimes asks of a receiver: the highest launch of an attempt wins, and
whoever comes with an older one is refused, and counted. An effect that comes too late is what the launch
numbers are for. Work that begins too late, after a later launch has begun, is a *stale begin*: its node
should have known. The same launch may begin again: that is a repetition.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from stretto.ports.clock import machine_steady

PATIENCE: Final = 120.0  # seconds until a crowd of writers has let one in
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS launch (
    attempt TEXT NOT NULL, generation INTEGER NOT NULL, pid INTEGER NOT NULL, begun REAL NOT NULL, ended REAL,
    repeats INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (attempt, generation)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repetition (
    attempt TEXT NOT NULL, generation INTEGER NOT NULL, pid INTEGER NOT NULL, at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS late (
    attempt TEXT NOT NULL, generation INTEGER NOT NULL, pid INTEGER NOT NULL, at REAL NOT NULL,
    newer INTEGER NOT NULL, begins INTEGER NOT NULL
);
"""
HIGHEST: Final = "SELECT max(generation) FROM launch WHERE attempt = ?"
LAUNCH: Final = re.compile(r"(?P<attempt>.+)\[(?P<generation>\d+)\]\[\d+\]")


class Effect(NamedTuple):
    """One launch, as the world outside saw it. Times are seconds on the clock of the machine that
    nobody sets.
    """

    attempt: str
    generation: int
    pid: int
    begun: float
    ended: float | None
    repeats: int  # how often the same launch began once more


class Stale(NamedTuple):
    """Work that wanted to begin after a later launch of its attempt had begun."""

    attempt: str
    generation: int
    pid: int
    at: float
    newer: int  # the launch that had begun


class NotNow(Exception):
    """The work may not begin at this moment."""


def always() -> bool:
    return True


class Ledger:
    """One file; every process has its own handle."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._writing() as connection:
            connection.executescript(SCHEMA)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """It need not survive a loss of power: only processes are killed."""
        with closing(sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            yield connection

    def begin(
        self,
        attempt: str,
        generation: int,
        pid: int,
        at: float | None = None,
        may: Callable[[], bool] = always,
    ) -> bool:
        """Work begins. False: a later launch of the same attempt was here before. `may` is asked while nobody
        else can begin anything: a process that stands still after the answer makes the others wait. Raises
        NotNow.
        """
        with self._writing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not may():
                connection.execute("ROLLBACK")
                raise NotNow
            at = machine_steady() if at is None else at
            taken = not self._refuses(connection, attempt, generation, pid, at, begins=True)
            if taken:
                begun = attempt, generation, pid, at
                new = connection.execute(
                    "INSERT INTO launch (attempt, generation, pid, begun) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET repeats = repeats + 1 RETURNING repeats = 0",
                    begun,
                ).fetchone()[0]
                if not new:  # for whoever looks into the file
                    connection.execute("INSERT INTO repetition VALUES (?, ?, ?, ?)", begun)
            connection.execute("COMMIT")
        return taken

    def end(self, attempt: str, generation: int, pid: int, at: float | None = None) -> bool:
        """Its effect. False: refused."""
        at = machine_steady() if at is None else at
        with self._writing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            taken = not self._refuses(connection, attempt, generation, pid, at, begins=False)
            if taken:
                connection.execute(
                    "UPDATE launch SET ended = coalesce(ended, ?) WHERE attempt = ? AND generation = ?",
                    (at, attempt, generation),
                )
            connection.execute("COMMIT")
        return taken

    def _refuses(
        self,
        connection: sqlite3.Connection,
        attempt: str,
        generation: int,
        pid: int,
        at: float,
        *,
        begins: bool,
    ) -> bool:
        (highest,) = connection.execute(HIGHEST, (attempt,)).fetchone()
        if highest is None or highest <= generation:
            return False
        connection.execute(
            "INSERT INTO late VALUES (?, ?, ?, ?, ?, ?)", (attempt, generation, pid, at, highest, begins)
        )
        return True

    def begun_at(self, attempt: str, generation: int) -> float | None:
        """When a launch began; None: never."""
        with self._writing() as connection:
            row = connection.execute(
                "SELECT begun FROM launch WHERE attempt = ? AND generation = ?", (attempt, generation)
            ).fetchone()
        return None if row is None else float(row[0])

    def effects(self) -> list[Effect]:
        """All of them, by attempt and generation."""
        with self._writing() as connection:
            rows = connection.execute(
                "SELECT attempt, generation, pid, begun, ended, repeats FROM launch ORDER BY 1, 2"
            )
            return [Effect(*row) for row in rows]

    def late(self) -> int:
        """How many effects were refused."""
        with self._writing() as connection:
            number: int = connection.execute("SELECT count(*) FROM late WHERE NOT begins").fetchone()[0]
            return number

    def stale(self) -> list[Stale]:
        """Begins that were refused, in the order in which they came."""
        with self._writing() as connection:
            rows = connection.execute("SELECT attempt, generation, pid, at, newer FROM late WHERE begins")
            return [Stale(*row) for row in rows]

    def replay(self, lines: Path) -> None:
        """What commands have written into a file, in its order: `LAUNCH PID begin|end TIME`."""
        if not lines.exists():
            return
        for line in lines.read_text(encoding="utf-8").splitlines():
            launch, pid, verb, at = line.split(" ")
            found = LAUNCH.fullmatch(launch)
            if found is None:
                raise ValueError(f"no launch: {launch}")
            note = self.begin if verb == "begin" else self.end
            note(found["attempt"], int(found["generation"]), int(pid), float(at))
