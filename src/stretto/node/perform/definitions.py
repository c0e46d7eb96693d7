"""Definitions in memory: parsed once, and shared by all runs that follow them."""

from typing import Final, NamedTuple

from stretto.actions.parts.finding import find_workflow
from stretto.engine.plan import Plan
from stretto.model.errors import NotFound
from stretto.model.workflow import Workflow
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow

MOST: Final = 1_000  # versions that are kept; those that were not asked for the longest go first


class Known(NamedTuple):
    """A version, and the plan of all its steps."""

    workflow: Workflow
    plan: Plan


class Definitions:
    """Versions never change, so what is known of one stays true. A workflow that was deleted and published
    again under the same id is another one: its internal id tells.
    """

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store = store
        self._most = most
        self._known: dict[tuple[str, int, int], Known] = {}

    async def find(self, workflow_id: str, version_id: int) -> Known:
        """A version of a workflow that there is."""
        return await self.of(await find_workflow(self._store, workflow_id), version_id)

    async def of(self, row: WorkflowRow, version_id: int) -> Known:
        key = (row.workflow_id, row.internal_id, version_id)
        known = self._known.pop(key, None)
        if known is None:
            version = await self._store.version(row.workflow_id, version_id)
            if version is None:
                raise NotFound(f"Cannot find workflow version [{row.workflow_id}][{version_id}]")
            # Somebody else may have been faster meanwhile: there is to be one of each.
            known = self._known.pop(key, None) or Known(version.workflow, Plan(version.workflow.steps))
        self._known[key] = known
        while len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known
