"""Figures, with what they belong to: the commit, the day, the machine and the versions."""

import json
import os
import platform
import sqlite3
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from time import gmtime, strftime
from typing import Any, Final

from benchmarks.harness.databases import postgresql_binaries
from benchmarks.harness.program import ROOT
from benchmarks.row import Row
from stretto import __version__

FOLDER: Final = ROOT / "benchmarks" / "results"
OURS: Final = FOLDER / "bench.json"
PEERS: Final = FOLDER / "peers.json"
LIBRARIES: Final = ("msgspec", "asyncpg")


def about() -> dict[str, Any]:
    """Where and with what something is measured."""
    return {
        "stretto": __version__,
        "commit": _git("rev-parse", "--short", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--", "src", "benchmarks", ":!benchmarks/results")),
        "date": strftime("%Y-%m-%d %H:%M UTC", gmtime()),
        "python": platform.python_version(),
        "libraries": {
            "sqlite": sqlite3.sqlite_version,
            "postgresql": _postgresql(),
            **{name: version(name) for name in LIBRARIES},
        },
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 1),
    }


def as_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [{**row._asdict(), "hit": row.hit} for row in rows]


def write(path: Path, results: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """What was written; nothing, if nothing was."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    return done.stdout.decode().strip()


def _postgresql() -> str:
    said = subprocess.check_output([postgresql_binaries() / "postgres", "--version"], text=True)
    return said.split()[2]


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
