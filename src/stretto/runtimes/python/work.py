"""One launch of a function, from its start to its end."""

import asyncio
from enum import Enum

from stretto.ports.runtime import StepContext as Told
from stretto.ports.runtime import StepResult
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.output import StepOutput


class Ending(Enum):
    """Why a function is told to end before it does by itself."""

    STOP = "stop"
    TIMEOUT = "timeout"
    SILENCE = "silence"  # no heartbeat


class Work:
    """What the runtime knows of a launch."""

    __slots__ = (
        "askers",
        "backstage",
        "begun",
        "end_by",
        "ending",
        "in_process",
        "in_thread",
        "is_beginning",
        "is_concluding",
        "is_left_behind",
        "is_reporting",
        "output",
        "result",
        "task",
        "told",
        "waits_for",
    )

    def __init__(self, told: Told) -> None:
        self.told = told
        self.task: asyncio.Task[None]
        self.begun = False
        self.backstage: Backstage | None = None
        self.output: StepOutput | None = None  # what it prints in this process
        self.waits_for: str | None = None  # the pool in whose line it stands
        self.in_thread = False  # its function runs in a thread now, which nobody can end
        self.in_process = False  # its function runs in a process now, which can be killed
        self.is_beginning = False  # that process is not there yet, or has not imported it yet
        self.is_left_behind = False  # nobody waits for that thread any more
        self.is_concluding = False  # its function has ended, or was left; handlers are told
        self.ending: Ending | None = None
        self.end_by = 0.0  # when it is not waited for any longer; on the clock of the loop
        self.askers: list[asyncio.Future[None]] = []  # who wait for its end right now
        self.is_reporting = False  # its end is to be reported, because nobody waits for it
        self.result: StepResult | None = None

    def end(self, why: Ending, end_by: float) -> None:
        """Tell the function to end. A coroutine is cancelled; a thread can only be asked."""
        self.ending = why
        self.end_by = end_by
        if self.backstage is not None:
            self.backstage.cancel()
        if self.begun and not self.in_thread:
            self.task.cancel()

    def leave(self) -> None:
        """Do not wait for the function any longer."""
        self.task.cancel()

    def finish(self, result: StepResult) -> None:
        self.result = result
        self.wake()

    def wake(self) -> None:
        """Let those go on who wait for its end."""
        for asker in self.askers:
            wake(asker)


def wake(asker: asyncio.Future[None]) -> None:
    if not asker.done():
        asker.set_result(None)
