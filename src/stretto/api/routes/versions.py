"""Versions for people who edit and start them: as text, as a form, and compared."""

from typing import Annotated, Any, Final

from litestar import Response
from litestar.params import QueryParameter

from stretto.actions.reading.version_diff import VersionDiff, get_version_diff
from stretto.actions.reading.version_text import get_form, get_source
from stretto.api.body import MEDIA_TYPES
from stretto.api.routing import Calling, Flag, Name, gets, word_in
from stretto.definition.reading.read import Format

VERSION: Final = "/workflows/{workflow_id}/versions/{version}"


@gets(f"{VERSION}/source", media=tuple(MEDIA_TYPES.values()))
async def read_source(
    call: Calling,
    workflow_id: Name,
    version: Name,
    form: Annotated[str, QueryParameter(name="format")] = "yaml",
    properties: Flag = False,
) -> Response[str]:
    """A version as text, `format=yaml` or `json`; with `properties` those that stand now."""
    chosen = word_in(Format, form, "format")
    text = await get_source(call.store, call.reader, workflow_id, version, chosen, properties=properties)
    return Response(text, media_type=MEDIA_TYPES[chosen])


@gets(f"{VERSION}/form")
async def read_form(call: Calling, workflow_id: Name, version: Name) -> dict[str, Any]:
    """JSON Schema of the `run_params` with which a version can be started."""
    return await get_form(call.store, call.reader, workflow_id, version, call.desk.params)


@gets("/workflows/{workflow_id}/versions/diff")
async def read_diff(
    call: Calling,
    workflow_id: Name,
    before: Annotated[str, QueryParameter(name="from")],
    after: Annotated[str, QueryParameter(name="to")] = "latest",
) -> VersionDiff:
    """What changed between two versions: steps, edges, parameters, properties, and the text."""
    return await get_version_diff(call.store, call.reader, workflow_id, before, after)


ROUTES: Final = (read_source, read_form, read_diff)
