"""What an engine and a guard say to each other. It can be read on any system; a guard needs POSIX."""

import json
from typing import Any, Final, NamedTuple

from stretto.runtimes.workers.framing import framed

FILES: Final = 3  # of a command: its outputs, and its input unless that is empty

# from the engine
BEGIN: Final = "begin"  # words, variables, folder, until when; with its files
ASK: Final = "ask"  # the command to end: SIGTERM
KILL: Final = "kill"
# to it
STARTED: Final = "started"  # the number of its process
REFUSED: Final = "refused"  # why it can not be started
EXPIRED: Final = "expired"  # it was not started in time, and needs a new permission
ENDED: Final = "ended"  # its exit code, below 0 if a signal ended it; whether something is left for all that


def packed(verb: str, *values: Any) -> bytes:
    """A message as it travels. Halves of characters, of which file names may be made, are kept."""
    return framed(json.dumps([verb, *values]).encode())


class Begun(NamedTuple):
    """What is to be started."""

    words: list[str]
    env: dict[str, str]
    cwd: str
    begin_before: float  # on `ports.clock.machine_steady`
