"""Processes that belong together, which are ended as a whole."""

import os
import signal
import time
from contextlib import suppress
from typing import Final

from stretto.runtimes.workers.system import descendants_of, processes_with

MOST_SCANS: Final = 100  # of all processes, while some of them start others faster than they are killed
PAUSE: Final = 0.005  # seconds between two scans, while a program is about to begin


def kill_group(leader: int) -> None:
    """Kill a process and its group."""
    with suppress(ProcessLookupError, PermissionError):  # gone; or only zombies are left (macOS)
        os.killpg(leader, signal.SIGKILL)


def kill_tree(pid: int) -> None:
    """Kill a process, its descendants, and the groups that they lead. The descendants are looked for first:
    one that traces the process would keep its parent from learning that it is dead.
    """
    for each in (pid, *descendants_of(pid)):
        kill_group(each)
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)


def kill_all_with(variable: str, value: str) -> None:
    """Kill all processes with a variable in their environment: those that have lost their common ancestor.
    One that is in the midst of `exec` shows no environment, and is looked at again.
    """
    killed: set[int] = set()
    for _ in range(MOST_SCANS):
        marked = processes_with(variable, value)
        found = {*marked.pids} - killed
        for each in found:
            kill_tree(each)
        if not found and marked.is_complete:  # the ones before were the last that could start others
            return
        if not found:
            time.sleep(PAUSE)
        killed |= found


def resume(pid: int) -> None:
    """Resume a process that may be stopped (SIGSTOP)."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)
