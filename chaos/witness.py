"""What a node was told to be stored, noted outside of the database: if it is not there later, it is lost."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from stretto.ports.clock import machine_steady
from stretto.ports.events import LogRow
from stretto.ports.messages import Message
from stretto.ports.observer import Observer

_encode = msgspec.json.Encoder(order="sorted").encode


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    """One line: something that a node noticed."""

    at: float
    pid: int
    what: str
    group: int = 0
    seq: int = 0
    digest: str = ""
    text: str = ""


class Stored(NamedTuple):
    """A row of the change log, and what it said."""

    group: int
    seq: int
    digest: str


def digest_of(row: LogRow) -> str:
    """Equal rows have equal ones."""
    return hashlib.sha256(_encode(row)).hexdigest()[:16]


class Witness(Observer):
    """Writes to a file of its own process; each line is handed to the system at once."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / f"witness-{os.getpid()}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def _note(self, *lines: Noted) -> None:
        os.write(self._file, b"".join(_encode(each) + b"\n" for each in lines))

    def _said(self, what: str, text: str = "") -> None:
        self._note(Noted(at=machine_steady(), pid=os.getpid(), what=what, text=text))

    def committed(self, rows: Sequence[LogRow]) -> None:
        at, pid = machine_steady(), os.getpid()
        self._note(
            *(
                Noted(at=at, pid=pid, what="committed", group=row.group, seq=row.seq, digest=digest_of(row))
                for row in rows
            )
        )

    def leases_lost(self, groups: Sequence[int]) -> None:
        self._said("lost", str(len(groups)))

    def node_buried(self, node: str) -> None:
        self._said("buried", node)

    def message_parked(self, message: Message, reason: str) -> None:
        self._said("parked", f"{message.body}: {reason}")

    def decision_failed(self, run: object, fault: Exception) -> None:
        self._said("fault", f"{run}: {type(fault).__name__}: {fault}")

    def store_failed(self, error: Exception, tries: int) -> None:  # noqa: ARG002 - each counts
        self._said("store failed", f"{type(error).__name__}: {error}"[:300])


def notes_in(folder: Path) -> list[Noted]:
    """What all of them noted. The last line of one that was killed may be half a line."""
    lines = [
        line for file in sorted(folder.glob("witness-*.jsonl")) for line in file.read_bytes().splitlines()
    ]
    return [msgspec.json.decode(line, type=Noted) for line in lines if line.endswith(b"}")]
