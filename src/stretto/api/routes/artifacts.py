"""What step attempts left behind."""

from typing import Annotated, Final

from litestar import Response
from litestar.params import HeaderParameter

from stretto.actions.reading.artifacts import ArtifactLine, get_artifact, list_artifacts
from stretto.api.body import JSON
from stretto.api.ranges import content
from stretto.api.routing import Calling, Name, Number, gets
from stretto.api.slashes import slashed

ARTIFACTS: Final = (
    "/workflows/{workflow_id}/instances/{instance_id}/runs/{run}/steps/{step_id}/attempts/{attempt}/artifacts"
)
# Somebody else has written it: a browser saves it, and runs nothing of it.
HEADERS: Final = {"content-disposition": "attachment", "content-security-policy": "sandbox"}


@gets(ARTIFACTS)
async def read_artifacts(
    call: Calling, workflow_id: Name, instance_id: Number, run: Name, step_id: Name, attempt: Name
) -> list[ArtifactLine]:
    """The artifacts of an attempt, with their types and sizes."""
    return await list_artifacts(call.store, call.reader, workflow_id, instance_id, run, step_id, attempt)


@gets(f"{ARTIFACTS}/{{key}}/content", media=JSON)
async def read_content(  # noqa: PLR0913, PLR0917 - it takes five to name an attempt
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    step_id: Name,
    attempt: Name,
    key: Name,
    wanted: Annotated[str | None, HeaderParameter(name="range")] = None,
) -> Response[bytes]:
    """An artifact, or the part of it that the header `Range` names."""
    body = await get_artifact(
        call.store, call.reader, workflow_id, instance_id, run, step_id, attempt, slashed(key)
    )
    return content(body, JSON[0], wanted, HEADERS)


ROUTES: Final = (read_artifacts, read_content)
