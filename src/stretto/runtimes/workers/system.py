"""What only the operating system can do: die with a parent, adopt orphans, tell what memory is used."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

IS_LINUX: Final = sys.platform == "linux"
PROC: Final = Path("/proc")

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_KERNEL_THREAD: Final = 0x00200000  # a flag in `stat`
_PAGE: Final = resource.getpagesize()
_PREFERRED_VICTIM: Final = "500"


def die_with_parent(parent: int) -> bool:
    """Be killed when the parent dies. False: the system can not do that. Called right after a fork."""
    done = _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if done and os.getppid() != parent:  # it has died in between: the signal will not come
        os.kill(os.getpid(), signal.SIGKILL)
    return done


def outlive_parent() -> bool:
    """Be resumed when the parent dies, instead of killed: for one that ends by itself, and has something to
    end before, which it could not do while it is stopped.
    """
    return _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def adopt_orphans() -> bool:
    """Become the parent of descendants whose own has died, so that they can be found and ended."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> bool:
    return IS_LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


def offer_as_victim() -> None:
    """If the machine runs out of memory, this process is to go, not the engine."""
    with suppress(OSError):
        (PROC / "self" / "oom_score_adj").write_text(_PREFERRED_VICTIM)


def limit_memory(size: int) -> None:
    """Let a single allocation beyond a size fail at once, before anybody who watches could see it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    for known in (soft, hard):
        if known != resource.RLIM_INFINITY:
            size = min(size, known)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))


# ------------------------------------------------------------------------------------------------ processes
def children_of(pid: int) -> list[int]:
    """Those that live or have not been waited for."""
    found: list[int] = []
    try:
        for task in (PROC / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except (OSError, ValueError):
        return found or _looked_for(pid)
    return found


def _looked_for(parent: int) -> list[int]:
    """For kernels that do not list the children of a process."""
    found: list[int] = []
    with suppress(OSError):
        for entry in PROC.iterdir():
            with suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                if entry.name.isdigit() and int(stat[1]) == parent:
                    found.append(int(entry.name))
    return found


def memory_of(pid: int) -> int:
    """Bytes that a process and its descendants have in memory; 0 if nobody knows."""
    return sum(map(_memory, [pid, *descendants_of(pid)]))


def _memory(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def descendants_of(pid: int) -> list[int]:
    """Children, their children, and so on."""
    found = children_of(pid)
    for each in found:  # grows while it is read
        found += children_of(each)
    return found


class Marked(NamedTuple):
    """Processes that have a variable in their environment. `is_complete`: there is none of which that can
    not be told yet.
    """

    pids: list[int]
    is_complete: bool


def processes_with(variable: str, value: str) -> Marked:
    """Processes that were started with a variable in their environment, whoever their parent is now."""
    wanted = f"{variable}={value}".encode()
    found: list[int] = []
    is_complete = True
    with suppress(OSError):
        for entry in PROC.iterdir():
            with suppress(OSError, IndexError):
                if not entry.name.isdigit():
                    continue
                environment = (entry / "environ").read_bytes()
                if wanted in environment.split(b"\0"):
                    found.append(int(entry.name))
                elif not environment and _is_beginning(entry):
                    is_complete = False
    return Marked(found, is_complete)


def _is_beginning(entry: Path) -> bool:
    """Whether a process is in the midst of `exec`: its environment and its arguments are not there yet. Those
    of zombies and of threads of the kernel never are.
    """
    if (entry / "cmdline").read_bytes():
        return False
    stat = (entry / "stat").read_text().rpartition(")")[2].split()
    return stat[0] not in "ZX" and not int(stat[6]) & _KERNEL_THREAD


def has_ended(pid: int) -> bool:
    """Whether a process is gone or a zombie. False also where nobody knows."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return PROC.is_dir()


def is_held(pid: int) -> bool:
    """Whether a process that was killed does not die, since a debugger or the kernel holds it. True also
    where nobody knows.
    """
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in "tTD"
    except (OSError, IndexError):
        return True


def has_children() -> bool:
    """Whether this process has started one that lives, or that it has not waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
