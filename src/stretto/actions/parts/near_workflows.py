"""Did you mean ...? for the id of a workflow that does not exist, at a bounded cost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, may
from stretto.engine.inline_ids import is_inline
from stretto.model.errors import NotFound
from stretto.model.suggest import did_you_mean, one_edit_away
from stretto.model.user import User
from stretto.ports.paging import Cut
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowFilter, WorkflowRow, read_workflow

SIDE: Final = 50  # ids before the wrong one, and after it, that are looked at
LONGEST: Final = 200  # characters of an id for which one is looked for
# An id may be kept to some people. Whoever misspells one is offered only what everybody may see.
SOMEBODY: Final = Caller(user=User(name=""), roles=frozenset({Role.VIEWER}))


async def near_workflow(store: Store, workflow_id: str) -> str | None:
    """A hint with the id that is closest to one that does not exist; None if none is close. It looks at the
    neighbours of the id in the order of ids and, if there are more workflows, at ids that are one typing
    error away: both by index.
    """
    if not workflow_id or len(workflow_id) > LONGEST or is_inline(workflow_id):
        return None
    before = await store.workflows(Cut(most=SIDE, below=workflow_id), WorkflowFilter())
    after = await store.workflows(Cut(most=SIDE, above=workflow_id), WorkflowFilter())
    rows: list[WorkflowRow] = [*before.elements, *after.elements]
    if before.before or after.after:
        rows += (await store.workflow_rows(one_edit_away(workflow_id))).values()
    known = [row.workflow_id for row in rows if may(SOMEBODY, Right.VIEW, row.properties)]
    return did_you_mean(workflow_id, known)


async def why_no_run(store: Store, workflow_id: str) -> str | None:
    """A hint for whoever asks for a run that does not exist; None if its workflow exists."""
    if is_inline(workflow_id) or await read_workflow(store, workflow_id) is not None:
        return None
    near = await near_workflow(store, workflow_id)
    return f"there is no workflow [{workflow_id}]" + ("" if near is None else f", {near}")


@asynccontextmanager
async def hinting_at_workflows(store: Store, workflow_id: str) -> AsyncIterator[None]:
    """Adds the hint to a `NotFound` of a transaction, where nothing else can be read. One that says already
    that there is no such workflow is only offered the nearest one.
    """
    try:
        yield
    except NotFound as error:
        is_said = error.message == f"Cannot find workflow [{workflow_id}]"
        find = near_workflow if is_said else why_no_run
        if error.hint is None and (hint := await find(store, workflow_id)) is not None:
            raise NotFound(error.message, details=error.details, hint=hint) from None
        raise
