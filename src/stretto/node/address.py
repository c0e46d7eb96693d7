"""Which process of which machine a node is, so that others on that machine can see when it is gone."""

import os
import socket
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_BOOT: Final = _PROC / "sys/kernel/random/boot_id"
_NAMESPACE: Final = _PROC / "self/ns/pid"


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
