"""Where modules are looked for that a file names: beside it, as Python does for a program."""

import sys
from pathlib import Path


def add_path(folder: Path) -> None:
    """From now on, also for worker processes."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
