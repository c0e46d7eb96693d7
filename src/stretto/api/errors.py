"""Errors as answers: Maestro's body for what an action refuses, RFC 9457 for what never came to one."""

import logging
from http import HTTPStatus
from typing import Any, Final

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException

from stretto.api.request_ids import id_of
from stretto.api.slashes import slashed
from stretto.model.details import Details, ErrorStatus
from stretto.model.errors import (
    InvalidDefinition,
    InvalidRequest,
    StrettoError,
    TimedOut,
    Unavailable,
    WrongState,
)
from stretto.model.wire import encode, to_json

PROBLEM: Final = "application/problem+json"
CLOSE: Final = {"connection": "close"}  # a body that nobody has read would be taken for the next request
TOO_LARGE: Final = 413
PLAIN: Final = {  # what the framework says, in words that lead on
    "Not Found": "There is nothing at this address",
    "Method Not Allowed": "This address does not take this method; the header `allow` says which it takes",
    "Request Entity Too Large": "The body is too large; the setting server.body says how large one may be",
}
NOT_VALID: Final = '400 BAD_REQUEST "Validation failure"'  # each problem is in the list below it
RETRY_AFTER: Final = {"retry-after": "1"}  # seconds

logger = logging.getLogger("stretto.api")

AnyRequest = Request[Any, Any, Any]


def on_refusal(_request: AnyRequest, error: StrettoError) -> Response[bytes]:
    """What was raised on purpose: its status, a sentence with the way out, and what is wrong one by one."""
    message = NOT_VALID if isinstance(error, InvalidDefinition) else error.message
    details = Details(
        status=ErrorStatus(error.maestro_status),
        message=slashed(message if error.hint is None else f"{message} ({error.hint})"),
        errors=tuple(map(slashed, error.details or _only_problem(error))),
        retryable=error.retryable,
    )
    return Response(
        to_json(encode(details)), status_code=error.status, media_type=MediaType.JSON, headers=beside(error)
    )


def _only_problem(error: StrettoError) -> tuple[str, ...]:
    """Whoever looks for problems of a request in `errors` finds a single one there, too. That something is
    not possible now is no problem of the request.
    """
    is_problem = isinstance(error, InvalidRequest) and not isinstance(error, WrongState)
    return (error.message,) if is_problem else ()


def beside(error: StrettoError) -> dict[str, str]:
    """What is said in headers: whether the connection is of use, when to come again."""
    return CLOSE if isinstance(error, TimedOut) else RETRY_AFTER if isinstance(error, Unavailable) else {}


def on_problem(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """What the framework refuses: no such route, a number that is none, a body that is too large."""
    path = slashed(request.url.path)
    body = problem_body(error.status_code, detail_of(error), path, id_of(request.scope))
    return Response(body, status_code=error.status_code, media_type=PROBLEM, headers=headers_of(error))


def on_fault(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Our fault: the log has it all, under the id that the client is told."""
    request_id = id_of(request.scope)
    logger.error("request %s %s %s failed", request_id, request.method, request.url.path, exc_info=error)
    details = Details(
        status=ErrorStatus.INTERNAL_ERROR,
        message=f"internal error; the log of the server has more, under request id [{request_id}]",
    )
    return Response(to_json(encode(details)), status_code=500, media_type=MediaType.JSON)


def problem_body(status: int, detail: str, path: str, request_id: str) -> bytes:
    """RFC 9457; `about:blank` means that the status says what kind of problem it is."""
    found = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": path,
        "request_id": request_id,
    }
    return to_json(found)


def headers_of(error: HTTPException) -> dict[str, str]:
    """What the framework says beside it, such as the methods that are allowed."""
    return {**(error.headers or {}), **(CLOSE if error.status_code == TOO_LARGE else {})}


def detail_of(error: HTTPException) -> str:
    """What is wrong, in more than the name of a status; with the names of parameters, if they are known."""
    if error.detail in PLAIN:
        return PLAIN[error.detail]
    extra = error.extra if isinstance(error.extra, list) else []
    named = [
        f"{each['key']}: {each['message']}"
        for each in extra
        if isinstance(each, dict) and "key" in each and "message" in each
    ]
    return "; ".join(named) or error.detail
