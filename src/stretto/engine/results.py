"""What a runtime's answer leaves behind: artifacts, merged into those that a step attempt has, and a result.

A free artifact is merged field by field, so that a runtime can report one thing after the other; one of a
known type is replaced, because its runtime always writes all of it.
"""

from collections.abc import Mapping
from typing import Final

from stretto.engine.inline_ids import readable_path, steps_around
from stretto.engine.records import AttemptRecord, RunKey, RunRecord
from stretto.engine.run_text import run_text
from stretto.engine.timeouts import TIMED_OUT
from stretto.model.artifact import PYTHON, Artifact, Artifacts, DefaultArtifact
from stretto.model.error_text import error_type, message_in
from stretto.model.param import RESULT, ParamSource
from stretto.model.status import StepStatus

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
