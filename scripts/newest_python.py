"""Name the newest Python beside the one that runs this: `python -m scripts.newest_python`.

Prints its path, or nothing if there is none newer. CI runs lint and the unit tests on it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

NAME: Final = re.compile(r"python3\.(\d+)")
LOCKED: Final = 14  # the newest minor version that the lock is for
PROBE: Final = "import ensurepip, venv, sys; print(*sys.version_info[:2])"


def newest(folders: Iterable[Path], than: int = sys.version_info.minor, most: int = LOCKED) -> Path | None:
    """The newest Python 3 in some folders that is newer than a minor version and can make environments."""
    found = [
        (int(match[1]), path)
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if (match := NAME.fullmatch(path.name)) and than < int(match[1]) <= most
    ]
    by_version = sorted(found, key=lambda each: each[0], reverse=True)
    return next((path for minor, path in by_version if _is_fit(path, minor)), None)


def _is_fit(path: Path, minor: int) -> bool:
    """Whether it starts: a version manager has names of versions that are not installed."""
    try:
        done = subprocess.run(  # noqa: S603 - a Python that was found
            [path, "-c", PROBE], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.split() == ["3", str(minor)]


def main() -> None:
    folders = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep)]
    found = newest([*folders, *Path.home().glob(".pyenv/versions/*/bin")])
    if found is not None:
        print(found)


if __name__ == "__main__":
    main()
