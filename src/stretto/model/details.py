"""Error details: the body of an error response, and what a record keeps of an error."""

from typing import Any, ClassVar

import msgspec

from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class ErrorStatus(Word):
    """Maestro's words for HTTP statuses; `errors` says which error has which."""

    BAD_REQUEST = "BAD_REQUEST"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    CONFLICT = "CONFLICT"
    GONE = "GONE"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    UNPROCESSABLE_ENTITY = "UNPROCESSABLE_ENTITY"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    BAD_GATEWAY = "BAD_GATEWAY"


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """An error: its status, a sentence, and one line for each thing that is wrong."""

    wire: ClassVar[Shape] = Shape(lean=("errors", "retryable"))

    status: ErrorStatus
    message: str
    errors: tuple[str, ...] = ()
    retryable: bool = False
    cause: dict[str, Any] | None = None  # a Java server's stack trace: kept, never written by us
