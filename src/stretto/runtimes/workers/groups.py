"""Process groups, which are ended as a whole."""

import os
import signal
from contextlib import suppress


def kill_group(leader: int) -> None:
    """Kill a process and its group."""
    with suppress(ProcessLookupError, PermissionError):  # gone; or only zombies are left (macOS)
        os.killpg(leader, signal.SIGKILL)
