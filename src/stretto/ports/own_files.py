"""Who may read files of ours that exist already: an older release, or a copy, left them open to everybody."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

OTHERS: Final = 0o007
GROUP: Final = 0o070


def tighten(path: Path) -> None:
    """Take away what everybody else may do with a file or folder of this user; one of another user, or on a
    file system without such rights, stays as it is.
    """
    with suppress(OSError):
        found = path.stat()
        wanted = tightened(found.st_mode)
        if wanted != found.st_mode and found.st_uid == getattr(os, "geteuid", lambda: None)():
            path.chmod(wanted & 0o7777)


def tightened(mode: int) -> int:
    """The mode without others. A group that may do more than they, somebody chose: it keeps its rights.
    A group that may do the same has them by default, and loses them.
    """
    others = mode & OTHERS
    is_chosen = not others or (mode & GROUP) >> 3 & ~others
    return mode & ~OTHERS if is_chosen else mode & ~(OTHERS | GROUP)
