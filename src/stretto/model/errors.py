"""The one tree of errors. Each class has a stable id and an HTTP-like status; each error names its place.

StrettoError
├── InvalidRequest            bad-request       400  what was asked for makes no sense
│   ├── InvalidDefinition     invalid-definition 400 a definition with problems, all of them listed
│   └── WrongState            wrong-state       400  not possible in the current status
├── Unauthenticated           unauthenticated   401  who is calling?
├── Forbidden                 forbidden         403  the caller may not
├── NotFound                  not-found         404
├── TimedOut                  timed-out         408  not done within the time the caller gave
├── Conflict                  conflict          409  somebody else was first
├── PreconditionFailed        precondition      412  something must be put right before
├── Unprocessable             unprocessable     422  well formed, but it can not be carried out
└── Internal                  internal          500  our fault
    └── Unavailable           unavailable       503  try again later
"""

from collections.abc import Sequence
from typing import ClassVar

from stretto.model.problem import Problem


class StrettoError(Exception):
    """Base of everything that is raised on purpose. `id` and `status` are stable; texts are not."""

    id: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    maestro_status: ClassVar[str] = "INTERNAL_ERROR"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, details: Sequence[str] = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = tuple(details)
        self.hint = hint


class InvalidRequest(StrettoError):
    id, status, maestro_status = "bad-request", 400, "BAD_REQUEST"


class InvalidDefinition(InvalidRequest):
    """A definition that can not be used, with every problem found in it."""

    id = "invalid-definition"

    def __init__(self, problems: Sequence[Problem], *, source: str = "definition") -> None:
        count = len(problems)
        message = f"the {source} has {count} problem{'' if count == 1 else 's'}: {problems[0]}"
        if count > 1:
            message += f" (and {count - 1} more)"
        super().__init__(message, details=[str(problem) for problem in problems])
        self.problems = tuple(problems)


class WrongState(InvalidRequest):
    id = "wrong-state"


class Unauthenticated(StrettoError):
    id, status, maestro_status = "unauthenticated", 401, "UNAUTHORIZED"


class Forbidden(StrettoError):
    id, status, maestro_status = "forbidden", 403, "FORBIDDEN"


class NotFound(StrettoError):
    id, status, maestro_status = "not-found", 404, "NOT_FOUND"


class TimedOut(StrettoError):
    id, status, maestro_status, retryable = "timed-out", 408, "REQUEST_TIMEOUT", True


class Conflict(StrettoError):
    id, status, maestro_status = "conflict", 409, "CONFLICT"


class PreconditionFailed(StrettoError):
    id, status, maestro_status = "precondition", 412, "PRECONDITION_FAILED"


class Unprocessable(StrettoError):
    id, status, maestro_status = "unprocessable", 422, "UNPROCESSABLE_ENTITY"


class Internal(StrettoError):
    id = "internal"


class Unavailable(Internal):
    id, status, retryable = "unavailable", 503, True
