"""Environments for what is measured, or needed, beside us: made under `.bench/`, from pinned requirements."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.harness.program import ROOT, Trouble

FOLDER: Final = ROOT / ".bench"


def python_of(name: str, requirements: Path) -> Path:
    """The Python of an environment that has these."""
    folder = FOLDER / name
    python, made = folder / "bin" / "python", folder / "made-from.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if made.exists() and made.read_text(encoding="utf-8") == wanted:
        return python
    print(f"  making {folder.relative_to(ROOT)} ...", flush=True)
    _run(sys.executable, "-m", "venv", str(folder))
    _run(
        str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)
    )
    made.write_text(wanted, encoding="utf-8")
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Trouble(done.stderr.decode(errors="replace")[-1_000:])
