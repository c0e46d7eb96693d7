"""Two versions of a workflow, side by side."""

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.offload import offload, size_of
from stretto.actions.reading.version_text import definition_in, plain, text_of
from stretto.actions.reading.workflows import get_version
from stretto.definition.differences import (
    Difference,
    WorkflowDifferences,
    between,
    differences_of,
    text_difference,
)
from stretto.definition.reading.read import Format
from stretto.model.properties import Properties
from stretto.model.user import User
from stretto.model.wire import encode
from stretto.model.workflow import Definition, Metadata, WorkflowVersion
from stretto.ports.paging import Cut
from stretto.ports.store import Store


class VersionRef(msgspec.Struct, frozen=True, kw_only=True):
    """Which version, by whom and when."""

    workflow_version_id: int
    version_author: User | None = None
    create_time: int | None = None


class VersionDiff(WorkflowDifferences, frozen=True, kw_only=True):
    """From one version to another. `text` is a unified diff in YAML; none, if it would be too long."""

    workflow_id: str
    before: VersionRef
    after: VersionRef
    properties: tuple[Difference, ...] = ()
    text: str | None = None


async def get_version_diff(
    store: Store, caller: Caller, workflow_id: str, before: str, after: str
) -> VersionDiff:
    """What changed from one version to another, whichever is newer. The properties are those that held when
    each was published.
    """
    old = await get_version(store, caller, workflow_id, before)
    new = await get_version(store, caller, workflow_id, after)
    had, has = [await _published(store, workflow_id, each) for each in (old, new)]
    size = size_of((had, has))
    return await offload(size, _compared, workflow_id, (old, new), (had, has))


def _compared(
    workflow_id: str,
    versions: tuple[WorkflowVersion, WorkflowVersion],
    definitions: tuple[Definition, Definition],
) -> VersionDiff:
    (old, new), (had, has) = versions, definitions
    refs = [_ref(each) for each in (old, new)]
    names = (f"version {refs[0].workflow_version_id}", f"version {refs[1].workflow_version_id}")
    texts = ["", ""] if had == has else [text_of(each, Format.YAML) for each in (had, has)]
    return VersionDiff(
        workflow_id=workflow_id,
        before=refs[0],
        after=refs[1],
        properties=tuple(between(encode(had.properties), encode(has.properties))),
        text=text_difference(texts[0], texts[1], names),
        **msgspec.structs.asdict(differences_of(old.workflow, new.workflow)),
    )


async def _published(store: Store, workflow_id: str, version: WorkflowVersion) -> Definition:
    """The version with the properties that held when it was published."""
    at = (version.metadata or Metadata()).create_time or 0
    page = await store.properties_history(workflow_id, Cut(most=1, below=at + 1))
    properties = plain(page.elements[0]) if page.elements else Properties()
    return msgspec.structs.replace(definition_in(version), properties=properties)


def _ref(version: WorkflowVersion) -> VersionRef:
    metadata = version.metadata or Metadata()
    return VersionRef(
        workflow_version_id=metadata.workflow_version_id or 0,
        version_author=metadata.version_author,
        create_time=metadata.create_time,
    )
