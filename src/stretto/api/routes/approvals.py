"""What people are asked."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.reading.approvals import ApprovalLine, list_approvals
from stretto.api.routing import Calling, OptionalText, Paging, gets, word_in
from stretto.model.page import Page
from stretto.model.words import Word
from stretto.ports.approvals import ApprovalFilter


class Asked(Word):
    """Which ones somebody wants to see."""

    OPEN = "open"
    DONE = "done"


@gets("/approvals")
async def read_approvals(
    call: Calling,
    part: Paging,
    asked: Annotated[str, QueryParameter(name="state")] = "open",
    assignee: OptionalText = None,
    workflow: OptionalText = None,
) -> Page[ApprovalLine]:
    """What steps of all workflows ask people, newest first: those that are `open`, or with `state=done` those
    that were answered, have expired or are withdrawn. `assignee`: a user, or `role:x`, as the step names
    them; `workflow`: one workflow, with the loops in it.
    """
    is_open = word_in(Asked, asked, "state") is Asked.OPEN
    wanted = ApprovalFilter(is_open=is_open, assignee=assignee or None, workflow_id=workflow or None)
    return await list_approvals(call.store, call.reader, wanted, part)


ROUTES: Final = (read_approvals,)
