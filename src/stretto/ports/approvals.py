"""What steps ask people."""

from typing import Protocol

import msgspec

from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import AttemptRow


class ApprovalFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which ones: those that are open or those that are not, of an assignee, of a workflow."""

    is_open: bool = True
    assignee: str | None = None  # as the step names them
    workflow_id: str | None = None  # with all loops in it


class ApprovalRow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that asks, or has asked."""

    home: str  # the workflow that it belongs to, also if it is inside a loop
    asked_at: int
    attempt: AttemptRow


class Approvals(Protocol):
    """Nobody writes them by themselves: an attempt that is committed with a question is found here, for
    everybody and for each of its assignees, as long as the attempt is kept.
    """

    async def approvals(self, wanted: ApprovalFilter, cut: Cut) -> Slice[ApprovalRow]:
        """Those that are wanted, by (when it was asked, attempt), the newest first. Only reads."""
        ...
