"""The process of a node: its address, by which others on the machine see when it is gone, and Python's
collector of cycles.

A node makes many small records that reference counting frees by itself. With its usual thresholds the
collector looks through them hundreds of times a second and finds nothing, which takes a fifth of all time.
"""

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_BOOT: Final = _PROC / "sys/kernel/random/boot_id"
_NAMESPACE: Final = _PROC / "self/ns/pid"
USUAL: Final = ((700, 10, 10), (2_000, 10, 0), (2_000, 10, 10))  # as Python starts, by its version
SELDOM: Final = (10_000, 20, 20)

_users = 0
_before = gc.get_threshold()


def own_address() -> str:
    """`host/pid`, and where the system tells: when it began, and in which world its number counts."""
    here = f"{socket.gethostname()}/{os.getpid()}"
    began, world = _began(os.getpid()), _world()
    return here if began is None or world is None else f"{here}/{began}/{world}"


def is_gone(address: str | None) -> bool:
    """Whether a process is certainly not there any more. Of one on another machine nobody knows that here."""
    match (address or "").split("/", 3):
        case [_, pid, began, world] if pid.isdecimal() and world == _world():
            return _began(int(pid)) != began
        case _:
            return False


def _world() -> str | None:
    """Where numbers of processes mean the same: this boot of this kernel, and in it our namespace."""
    try:
        return f"{_BOOT.read_text().strip()}/{_NAMESPACE.readlink()}"
    except OSError:
        return None


def _began(pid: int) -> str | None:
    """When a process began, in ticks since the boot; None: there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()  # the name of a program may hold anything
    return None if state in {"Z", "X"} else fields[18]


# ------------------------------------------------------------------------------------------------ collector
@contextmanager
def looking_seldom() -> Iterator[None]:
    """Until the last one leaves. Who has chosen thresholds of his own keeps them."""
    global _users, _before  # noqa: PLW0603 - the collector belongs to the whole process
    if _users == 0:
        _before = gc.get_threshold()
        if _before in USUAL:
            gc.set_threshold(*SELDOM)
    _users += 1
    try:
        yield
    finally:
        _users -= 1
        if _users == 0 and gc.get_threshold() == SELDOM:
            gc.set_threshold(*_before)
