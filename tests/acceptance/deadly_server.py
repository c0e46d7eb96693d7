"""The command `stretto`, with a bug: whoever decides the end of a step of the workflow `bad` dies at once."""

import os
import signal
from typing import Any

from stretto.cli.main import main
from stretto.engine.decide import decide
from stretto.engine.events import Reported
from stretto.node import decider

DEADLY = "bad"


def deadly_decide(flow: Any, event: Any, now: int) -> Any:
    if isinstance(event, Reported) and event.attempt.run.workflow_id == DEADLY and event.state.is_terminal:
        os.kill(os.getpid(), signal.SIGKILL)
    return decide(flow, event, now)


if __name__ == "__main__":
    vars(decider)["decide"] = deadly_decide
    main()
