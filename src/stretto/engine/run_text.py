"""What people are told of a run."""

from stretto.engine.records import RunKey, RunRecord
from stretto.model.initiator import UpstreamFields


def run_text(run: RunKey) -> str:
    """A run as one would write it: the number of the run is left out for the first."""
    return f"{run.workflow_id}/{run.instance_id}" + (f"/{run.run_id}" if run.run_id > 1 else "")


def holder_of(run: RunRecord) -> RunKey:
    """The run that must be resumed before this paused one goes on: itself, or the one that it belongs to."""
    if not run.held or run.paused or not isinstance(run.initiator, UpstreamFields):
        return run.key
    above = run.initiator.parent
    return RunKey(above.workflow_id, above.instance_id, above.run_id)


def pause_text(run: RunRecord) -> str:
    """Why nothing new begins in a paused run."""
    holder = holder_of(run)
    return "the run is paused" if holder == run.key else f"run {holder}, to which it belongs, is paused"
