"""What step attempts left behind, for readers: listed, and one by one."""

from typing import Any

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.steps import get_attempt
from stretto.model.artifact import Artifacts
from stretto.model.errors import NotFound
from stretto.model.wire import codec_of, to_json
from stretto.ports.store import Store


class ArtifactLine(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact in a list; its size is that of its content, in bytes."""

    key: str
    type: str | None = None
    size: int


async def list_artifacts(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str, step_id: str, attempt: str
) -> list[ArtifactLine]:
    """All artifacts of an attempt, by key."""
    found = await _artifacts(store, caller, workflow_id, instance_id, run, step_id, attempt)
    return [
        ArtifactLine(key=key, type=value.get("type"), size=len(to_json(value)))
        for key, value in sorted(found.items())
    ]


async def get_artifact(  # noqa: PLR0913, PLR0917 - it takes five to name an attempt, and one more
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str,
    step_id: str,
    attempt: str,
    key: str,
) -> bytes:
    """The content of one artifact: JSON."""
    found = await _artifacts(store, caller, workflow_id, instance_id, run, step_id, attempt)
    if key not in found:
        names = ", ".join(sorted(found)) or "none"
        raise NotFound(f"Cannot find artifact [{key}] of step [{step_id}]", hint=f"there are: {names}")
    return to_json(found[key])


async def _artifacts(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str, step_id: str, attempt: str
) -> dict[str, dict[str, Any]]:
    """As JSON values, which are objects."""
    step = await get_attempt(store, caller, workflow_id, instance_id, run, step_id, attempt, enriched=False)
    made: dict[str, dict[str, Any]] = codec_of(Artifacts).encode(step.artifacts)
    return made
