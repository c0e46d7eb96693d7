"""Versions of workflows: where they are, and what was made of their texts before."""

from collections.abc import Iterable, Sequence
from typing import Final

from stretto.model.workflow import WorkflowVersion
from stretto.ports.run_snapshot import VersionNumber
from stretto.store.sql.codec import VERSION
from stretto.store.sql.database import Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.params import Recent
from stretto.store.sql.statement import Row, Statement, ints, same, texts

MOST_VERSIONS: Final = 32  # that are remembered whole

VERSION_KEY: Final = (*texts("workflow_id"), *ints("version_id"))
OF_VERSIONS: Final = (
    "JOIN workflow ON workflow.workflow_id = named.workflow_id AND workflow.state = 'ALIVE' "
    f"JOIN workflow_version ON {same(VERSION_KEY, 'workflow_version', 'named')}"
)
"""Joins versions of workflows that are there to `named` ones."""
VERSIONS_NAMED: Final = Statement(
    lambda d: (
        "SELECT named.workflow_id, named.version_id, workflow_version.doc "
        f"FROM {d.listed('versions', VERSION_KEY)} named {OF_VERSIONS}"
    )
)


class KnownVersions:
    """What a text says that was read a moment ago need not be made of it again: large ones take long. An id
    that was deleted and used again has another text.
    """

    def __init__(self) -> None:
        self._recent: Recent[VersionNumber, tuple[str, WorkflowVersion]] = Recent(MOST_VERSIONS)

    async def of(self, tx: Transaction, rows: Sequence[Row]) -> list[WorkflowVersion]:
        """The versions in rows that begin with the columns of `VERSIONS_NAMED`. Remembers nothing: this may
        not be the thread of those who do.
        """
        return await decoded(tx, rows, lambda row: self._version(*row[:3]))

    def note(self, rows: Iterable[Row], versions: Iterable[WorkflowVersion]) -> None:
        """Remember them."""
        for (workflow_id, version_id, doc, *_rest), version in zip(rows, versions, strict=True):
            self._recent.note((workflow_id, version_id), (doc, version))

    def _version(self, workflow_id: str, version_id: int, doc: str) -> WorkflowVersion:
        text, version = self._recent.get((workflow_id, version_id), ("", None))
        return VERSION.read(doc) if version is None or text != doc else version
