"""Is a run over, and how did it end?

    outcome(counts, total, done)       -> the final status, or None while something can still happen
    outcome_of(graph, statuses, ...)   -> the same, from the steps themselves

While a step is under way the answer costs nothing; the graph is walked only when nothing moves any more and
some steps were never created. What lies behind a failed step stays NOT_CREATED and does not hold up the end.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from stretto.definition.graph import Graph
from stretto.definition.restart import covered_steps, is_done
from stretto.engine.inline_ids import readable_path, steps_around
from stretto.engine.records import AttemptRecord, RunKey, RunRecord
from stretto.engine.run_text import run_text
from stretto.engine.timeouts import TIMED_OUT
from stretto.model.artifact import PYTHON, Artifact, Artifacts, DefaultArtifact
from stretto.model.error_text import error_type, message_in
from stretto.model.errors import Internal
from stretto.model.param import RESULT, ParamSource
from stretto.model.status import RunStatus, StepStatus

S = StepStatus
Counts = Mapping[StepStatus, int]

_FAILED: Final = (
    S.FATALLY_FAILED,
    S.INTERNALLY_FAILED,
    S.USER_FAILED,
    S.PLATFORM_FAILED,
    S.TIMEOUT_FAILED,
)
# What a step that ended badly makes of the run around it; the first that is found counts.
BAD_ENDS: Final[tuple[tuple[RunStatus, tuple[StepStatus, ...]], ...]] = (
    (RunStatus.FAILED, _FAILED),
    (RunStatus.TIMED_OUT, (S.TIMED_OUT,)),
    (RunStatus.STOPPED, (S.STOPPED,)),
)
_OPEN: Final = tuple(status for status in S if not status.is_terminal and status is not S.NOT_CREATED)
_RETRIED: Final = tuple(status for status in S if status.is_retryable)


def worst_end(counts: Counts, *, timeouts_fail: bool = False) -> RunStatus | None:
    """FAILED before TIMED_OUT before STOPPED; None if no step ended badly.

    `timeouts_fail`: a step that timed out has failed, like any other.
    """
    end = next((end for end, bad in BAD_ENDS if any(map(counts.get, bad))), None)
    return RunStatus.FAILED if timeouts_fail and end is RunStatus.TIMED_OUT else end


def is_moving(counts: Counts, *, retries_over: bool = False) -> bool:
    """Whether some step is under way. A failure waits for its retry, until retries are called off."""
    return any(map(counts.get, _OPEN)) or (not retries_over and any(map(counts.get, _RETRIED)))


def outcome(
    counts: Counts, total: int, done: Callable[[], bool], *, retries_over: bool = False
) -> RunStatus | None:
    """How a run ended, or None. `counts` are of its created steps; `done` is asked if some are missing.

    A run in which no step was ever created has FAILED: something went wrong before its first step. (A
    workflow that has no steps is another matter: nobody needs to ask.)
    """
    if is_moving(counts, retries_over=retries_over):
        return None
    created = sum(count for status, count in counts.items() if status is not S.NOT_CREATED)
    if created < total and not done():
        return None
    return worst_end(counts) or (RunStatus.SUCCEEDED if created else RunStatus.FAILED)


def outcome_of(
    graph: Graph,
    statuses: Mapping[str, StepStatus],
    *,
    restarted: str | None = None,
    retries_over: bool = False,
) -> RunStatus | None:
    """How a run ended, or None. `restarted`: the step of a run that restarts a specific one."""
    created: dict[str, StepStatus] = {
        step: status for step, status in statuses.items() if status is not S.NOT_CREATED
    }

    def done() -> bool:
        if restarted is not None:
            _check_covered(graph, restarted, created)
        complete = {step: status.is_complete for step, status in created.items()}
        return is_done(graph, complete, restarted)

    counts: Counter[StepStatus] = Counter(created.values())
    return outcome(counts, len(graph.successors), done, retries_over=retries_over)


def _check_covered(graph: Graph, restarted: str, created: Mapping[str, StepStatus]) -> None:
    """Nothing behind a root that nobody started can have begun."""
    covered = covered_steps(graph, restarted, created.keys())
    for step in created:
        if step not in covered:
            raise Internal(f"Invalid state: stepId [{step}] should not have any status")


TIMEOUT_ERROR: Final = "TimeoutError"
STEP_FAILED: Final = "StepFailed"  # without an exception


def merged_artifacts(known: Mapping[str, Artifact], update: Mapping[str, Artifact]) -> Artifacts:
    """The artifacts after an answer; neither argument changes."""
    merged = dict(known)
    for key, artifact in update.items():
        before = merged.get(key)
        if isinstance(before, DefaultArtifact) and isinstance(artifact, DefaultArtifact):
            merged[key] = DefaultArtifact(data={**before.data, **artifact.data})
        else:
            merged[key] = artifact
    return merged


def is_undelivered(record: AttemptRecord, name: str) -> bool:
    """Whether a parameter of an attempt is a result that was declared, and that no work has brought.

    That of a step that succeeded was brought, or is a constant; only an answer of a person may leave it out.
    """
    param = (record.params or {}).get(name)
    return (
        name == RESULT
        and param is not None
        and param.expression is None
        and param.source is not ParamSource.OUTPUT_PARAMETER
        and (record.status is not StepStatus.SUCCEEDED or record.asks is not None)
    )


def error_of(run: RunRecord, record: AttemptRecord) -> dict[str, str] | None:
    """The error of a step whose failure is ignored: its type, its message, and the address of the step."""
    if record.status is not StepStatus.COMPLETED_WITH_ERROR:
        return None
    reason = record.reason or ""
    step = _address(run, record.key.step_id)
    if reason == TIMED_OUT:
        return {"type": TIMEOUT_ERROR, "message": reason, "step": step}
    artifact = record.artifacts.get(PYTHON)
    data = artifact.data if isinstance(artifact, DefaultArtifact) else {}
    if "error" not in data:
        return {"type": STEP_FAILED, "message": reason, "step": step}
    name, module = str(data["error"]), str(data.get("module", ""))
    return {"type": error_type(module, name), "message": message_in(reason, name), "step": step}


def _address(run: RunRecord, step_id: str) -> str:
    """A step as commands take it: `etl/12:each_day[3].clean`."""
    above = steps_around(run.key.workflow_id, run.initiator)
    if not above:
        return f"{run_text(run.key)}:{step_id}"
    root = RunKey(above[0].workflow_id, above[0].instance_id, above[0].run_id)
    return f"{run_text(root)}:{readable_path(above, run.key.workflow_id, run.key.instance_id)}.{step_id}"
