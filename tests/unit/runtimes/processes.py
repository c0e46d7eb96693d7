"""Ways to see what is left of a command."""

from pathlib import Path

from tests import waiting

from stretto.ports.runtime import Launch

wait_until = waiting.wait_until
wait_for = waiting.until


def left_of(launch: Launch | str) -> list[int]:
    """Processes that have the mark of a launch in their environment, wherever they are. Zombies do not."""
    return [pid for pid in pids() if f"STRETTO_LAUNCH={launch}" in environment(pid)]


def pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def environment(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []
