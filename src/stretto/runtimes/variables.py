"""What a command is told of itself, in its environment."""

from typing import Final

PREFIX: Final = "STRETTO_"

OUTPUT: Final = f"{PREFIX}OUTPUT"  # the file for output parameters
RUN: Final = f"{PREFIX}RUN"  # workflow/instance/run
STEP: Final = f"{PREFIX}STEP"
ATTEMPT: Final = f"{PREFIX}ATTEMPT"
LAUNCH: Final = f"{PREFIX}LAUNCH"  # new with each launch: a key for what must not be done twice
ENGINE: Final = f"{PREFIX}ENGINE"  # the number of the process that looks after it, which is not its parent
OWNER: Final = f"{PREFIX}OWNER"  # a token of the guard or fork server above: finds processes that outlive it

TOLD: Final = frozenset({OUTPUT, RUN, STEP, ATTEMPT, LAUNCH, ENGINE, OWNER})
