"""What somebody is asked by a step that waits, and what they answered."""

import msgspec

from stretto.model.words import Word


class ApprovalState(Word):
    """Where a question stands."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"  # nobody answered in time
    WITHDRAWN = "withdrawn"  # its step was ended otherwise: nobody need answer any more


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question, as it was when the step began to wait."""

    prompt: str | None = None
    assignees: tuple[str, ...] = ()  # users, or `role:x`; nobody: whoever may run the workflow
    values: tuple[str, ...] = ()  # parameters that the answer may bring along


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said to it."""

    approved: bool
    time: int
    user: str | None = None
    note: str | None = None
    request_id: str | None = None
