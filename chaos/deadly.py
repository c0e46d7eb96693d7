"""A planted run that kills the process of whoever decides about it. It must be set aside, alone."""

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from chaos.nodes import MARKS, Death
from stretto.engine.decide import decide
from stretto.node import decider
from stretto.ports.clock import machine_steady
from stretto.ports.rows import RunRow

DEADLY: Final = "deadly"  # the workflow
MOST_DEATHS: Final = 4
DISARMED: Final = "disarmed"


def disarm(folder: Path) -> None:
    """It was not set aside: from now on it kills nobody, so that the campaign comes to its end."""
    (folder / DISARMED).touch()


def arm(folder: Path) -> None:
    """From now on this process dies when it decides about such a run, and leaves a mark before."""

    def deadly_decide(flow: Any, event: Any, now: int) -> Any:
        if flow.run.key.workflow_id == DEADLY and not (folder / DISARMED).exists():
            with (folder / MARKS).open("ab", buffering=0) as file:
                file.write(f"{os.getpid()} {machine_steady()}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        return decide(flow, event, now)

    vars(decider)["decide"] = deadly_decide


def deadly_violations(row: RunRow | None, deaths: Sequence[Death]) -> Iterator[str]:
    """What is wrong about how the run was dealt with; None: it was not planted."""
    if row is None:
        return
    if not deaths:
        yield f"the planted run {row.key} has killed nobody"
    if row.quarantined is None:
        yield f"the planted run {row.key} was not set aside after {len(deaths)} deaths"
    elif len(deaths) > MOST_DEATHS:
        yield f"the planted run {row.key} was set aside after {len(deaths)} deaths, and not {MOST_DEATHS}"
