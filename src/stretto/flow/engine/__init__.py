"""The embedded engine: durable runs inside of a program of one's own, without a server.

    async with Engine("sqlite:///runs.db") as engine:
        run = await engine.submit(etl, day="2026-11-15", request_id="etl-2026-11-15")
        counts = await run.result()

engine      `Engine`: everything that a program asks for
run         `Run`: one run, looked at and acted on
result      `RunResult`: what became of it
sync        the same, blocking, for programs without an event loop
watching    who waits for what; nobody polls for what this process does itself
library     definitions and functions: published once, found again
approvals   what steps ask people; causes: why a run failed
inner       runs that steps of other runs started; progress: how far a run is
handlers    what is called when a run changes its status
starting, stopping       what happens first and last
"""

from stretto.flow.engine.approvals import Approval
from stretto.flow.engine.engine import Engine
from stretto.flow.engine.errors import EngineStopped, NotYet, RunFailed
from stretto.flow.engine.handlers import RunChange
from stretto.flow.engine.options import OnStop, Recover
from stretto.flow.engine.result import Line, RunResult, StepOutcome, UnreadableValue
from stretto.flow.engine.run import Run
from stretto.flow.engine.sync import SyncEngine, SyncRun
from stretto.runtimes.python.step_error import StepError

__all__ = [
    "Approval",
    "Engine",
    "EngineStopped",
    "Line",
    "NotYet",
    "OnStop",
    "Recover",
    "Run",
    "RunChange",
    "RunFailed",
    "RunResult",
    "StepError",
    "StepOutcome",
    "SyncEngine",
    "SyncRun",
    "UnreadableValue",
]
