"""How much of the node is run by seeds alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import stretto

SEEDS = 1_200
LEAST = 0.95
NODE = Path(stretto.__file__).parent / "node"
# What can not be simulated: which machine it is.
SHELL = {
    "clock.py": "the clock of the machine; time is a number",
    "process.py": "which process of which machine a node is; there is one process",
}


@pytest.mark.prove
def test_seeds_run_the_node(tmp_path: Path) -> None:
    data, told = tmp_path / "data", tmp_path / "told.json"
    run = ["-m", "coverage", "run", f"--data-file={data}", "--rcfile=", f"--source={NODE}"]
    simulate = ["-m", "simulation", "--seeds", str(SEEDS), "--quiet"]
    subprocess.run([sys.executable, *run, *simulate], check=True)  # noqa: S603 - our own code
    tell = ["-m", "coverage", "json", f"--data-file={data}", "--rcfile=", "-q", "-o", str(told)]
    subprocess.run([sys.executable, *tell], check=True)  # noqa: S603 - see above
    files = json.loads(told.read_text())["files"]
    found = {str(Path(name).resolve().relative_to(NODE)): each["summary"] for name, each in files.items()}
    whole, inside = covered(found, set(found)), covered(found, set(found) - SHELL.keys())
    print(f"{whole:.1%} of the node, {inside:.1%} without the clock and address of the machine")  # noqa: T201
    assert whole >= LEAST, sorted(
        (each["covered_lines"] / max(1, each["num_statements"]), name) for name, each in found.items()
    )[:12]


def covered(found: dict[str, dict[str, int]], names: set[str]) -> float:
    lines = sum(found[name]["covered_lines"] for name in names)
    return lines / sum(found[name]["num_statements"] for name in names)


def test_what_is_left_out_is_there() -> None:
    assert all((NODE / name).is_file() for name in SHELL)
