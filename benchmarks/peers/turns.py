"""Ours and a peer in turn, round by round, so that whoever else uses the machine disturbs both alike."""

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.harness.databases import Databases
from benchmarks.harness.environments import python_of
from benchmarks.harness.program import ROOT, Program, Trouble, ours, timed
from benchmarks.harness.redis import redis
from benchmarks.harness.usage import Peak
from benchmarks.harness.workloads import BY_NAME, W3, Measured, Workload, measured
from benchmarks.peers.catalogue import Peer

HERE: Final = Path(__file__).parent
KINDS: Final = ("async", "noop")
HELLOS: Final = 3
Found = dict[str, Any]


def compared(peer: Peer, into: Databases, told: Callable[[Found], None]) -> Found:
    """All figures of a peer, and ours beside them; as many as there are, if one of them breaks off."""
    found: Found = {**peer.about, "rows": []}
    try:
        measure(peer, into, found, told)
    except Trouble as error:
        print(f"  {error}")
        found["trouble"] = str(error).strip().splitlines()[-1].replace(str(ROOT), ".")
    return found


def measure(peer: Peer, into: Databases, found: Found, told: Callable[[Found], None]) -> None:
    python = python_of(peer.folder, HERE / peer.folder / "requirements.txt")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix=f"stretto-{peer.folder}-")))
        database = stack.enter_context(redis()) if peer.database == "redis" else _database(peer, into, folder)
        around = {"PYTHONPATH": str(ROOT), "BENCH_DATABASE": database, "BENCH_FOLDER": str(folder)}
        command = [str(python), str(HERE / peer.folder / "work.py")]
        theirs = stack.enter_context(Program(command, around))
        us = {kind: stack.enter_context(ours(kind, into.new(peer.beside))) for kind in KINDS}
        found |= {"version": theirs.about["version"], "server ready": theirs.about.get("server_ready")}
        idle = theirs.memory()
        for name in peer.workloads:
            row = in_turn(BY_NAME[name], peer, theirs, us)
            found["rows"].append(row)
            told(row)
        if W3.name in peer.workloads:
            found["memory"] = {"idle": idle, "peak": peak_of(theirs, peer)}
        theirs.close()
        if peer.hello:
            found["hello"] = hellos(python, peer, around)


def peak_of(theirs: Program, peer: Peer) -> float:
    """In a round of its own: to look at memory costs time."""
    with Peak(theirs) as peak:
        theirs.ask(W3.name, peer.sizes.get(W3.name, W3.size))
    return peak.most


def in_turn(workload: Workload, peer: Peer, theirs: Program, us: Mapping[str, Program]) -> Found:
    """One workload, with the same size for all."""
    size = peer.sizes.get(workload.name, workload.size)
    programs = {**us, "peer": theirs}
    answers: dict[str, list[Found]] = {name: [] for name in programs}
    for name, program in programs.items():  # a tenth is enough to warm up the slow ones
        program.ask(workload.name, size // 10 + 1 if name == "peer" and peer.rounds == 1 else size)
    for _ in range(peer.rounds):
        for name, program in programs.items():
            answers[name].append(program.ask(workload.name, size))
    made = {name: measured(workload, size, each) for name, each in answers.items()}
    return {
        "workload": workload.name,
        "size": size,
        "unit": workload.unit,
        **{name: each._asdict() for name, each in made.items()},
        "ratio": {kind: ratio(workload, made[kind], made["peer"]) for kind in us},
    }


def ratio(workload: Workload, our: Measured, their: Measured) -> float:
    """How many times as fast as the peer we are."""
    if our.figure is None or their.figure is None:
        assert our.p50 is not None
        assert their.p50 is not None
        return their.p50 / max(our.p50, 1e-6)
    return their.figure / our.figure if workload.unit == "ms/step" else our.figure / their.figure


def hellos(python: Path, peer: Peer, around: Mapping[str, str]) -> Found:
    """The shortest programs, each in a new folder; seconds."""
    commands = {
        "ours": ([sys.executable, str(ROOT / "benchmarks" / "ours" / "hello.py")], {}),
        "peer": ([str(python), str(HERE / peer.folder / "hello.py")], around),
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(1 + HELLOS):
        for name, (command, environment) in commands.items():
            with TemporaryDirectory(prefix="stretto-hello-") as folder:
                spent[name].append(timed(command, Path(folder), environment))
    return {name: median(each[1:]) for name, each in spent.items()}


def _database(peer: Peer, into: Databases, folder: Path) -> str:
    return into.new("postgresql") if peer.database == "postgresql" else f"sqlite:///{folder / 'peer.db'}"
