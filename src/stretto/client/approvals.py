"""Calls about what steps ask people."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from stretto.actions.reading.approvals import ApprovalLine
from stretto.client.names import RunName, place_of, quoted
from stretto.client.retries import Again
from stretto.client.steps import Talk
from stretto.client.talking import Talking
from stretto.model.page import Page
from stretto.model.response import StepActionResponse
from stretto.model.wire import encode
from stretto.params.plain import params_of

SOME = 50


class ApprovalCalls(Talking):
    """See `conversation`."""

    def approvals(
        self,
        *,
        done: bool = False,
        assignee: str | None = None,
        workflow: str | None = None,
        first: int = SOME,
        cursor: str | None = None,
    ) -> Talk[Page[ApprovalLine]]:
        """What people are asked, newest first; with `done` what they were asked."""
        return self._get(
            Page[ApprovalLine],
            "/approvals",
            state="done" if done else "open",
            assignee=assignee,
            workflow=workflow,
            first=first,
            cursor=cursor,
        )

    def answer(
        self,
        run: RunName,
        step_id: str,
        attempt: int = 1,
        *,
        approved: bool = True,
        values: Mapping[str, Any] | None = None,
        note: str = "",
        request_id: str | None = None,
    ) -> Talk[StepActionResponse]:
        """Answer for a step that waits for somebody: it goes on with these values, or fails. The run must be
        named with its number, or be the `ref` of an approval.
        """
        body = {
            "approved": approved,
            "outputs": {name: encode(param) for name, param in (params_of(values) or {}).items()},
            "message": note or None,
            "request_id": request_id or str(uuid4()),
        }
        path = f"{place_of(run).path}/steps/{quoted(step_id)}/attempts/{attempt}/callback"
        return self._act(StepActionResponse, path, body, again=Again.SAFE)
