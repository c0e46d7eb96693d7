"""The columns of keys, as values to bind."""

from typing import Any

from stretto.engine.records import AttemptKey, RunKey
from stretto.store.sql.lengths import ID_LENGTH, fitting


def of_run(run: RunKey) -> dict[str, Any]:
    """The values of `RUN_KEY`."""
    return {"workflow_id": run.workflow_id, "instance_id": run.instance_id, "run_id": run.run_id}


def of_attempt(attempt: AttemptKey) -> dict[str, Any]:
    """The values of `ATTEMPT_KEY`."""
    return {**of_run(attempt.run), "step_id": attempt.step_id, "attempt_no": attempt.number}


def flat(attempt: AttemptKey) -> tuple[str, int, int, str, int]:
    """The columns of an attempt's key."""
    return (*attempt.run, attempt.step_id, attempt.number)


def attempt_from(columns: Any) -> AttemptKey:
    """The key in the first five columns."""
    return AttemptKey(RunKey(columns[0], columns[1], columns[2]), columns[3], columns[4])


def run_from(columns: Any) -> RunKey:
    """The key in the first three columns."""
    return RunKey(columns[0], columns[1], columns[2])


def checked_run(run: RunKey) -> RunKey:
    """A key that is about to be written."""
    fitting(run.workflow_id, ID_LENGTH, "a workflow id")
    return run


def checked_attempt(attempt: AttemptKey) -> AttemptKey:
    """A key that is about to be written."""
    fitting(attempt.run.workflow_id, ID_LENGTH, "a workflow id")
    fitting(attempt.step_id, ID_LENGTH, "a step id")
    return attempt
