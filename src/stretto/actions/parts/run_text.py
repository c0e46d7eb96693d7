"""How people write a run."""

from stretto.engine.records import RunKey


def run_text(run: RunKey) -> str:
    """A run as one would write it: the number of the run is left out for the first."""
    return f"{run.workflow_id}/{run.instance_id}" + (f"/{run.run_id}" if run.run_id > 1 else "")
