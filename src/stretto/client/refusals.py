"""Answers that are refusals -> the errors that they are on the server."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.client.steps import Answer, Broken, Request
from stretto.model.errors import (
    Conflict,
    Forbidden,
    Internal,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    StrettoError,
    TimedOut,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)
from stretto.model.wire import loads

ERRORS: Final[Mapping[int, type[StrettoError]]] = {
    error.status: error
    for error in (
        InvalidRequest,
        Unauthenticated,
        Forbidden,
        NotFound,
        TimedOut,
        Conflict,
        PreconditionFailed,
        Unprocessable,
        Unavailable,
    )
}
NOT_TRIED_AGAIN: Final = "it is not known whether it was done"
NOT_VALID: Final = "Validation failure"  # says nothing: what is wrong stands below it
ADDRESS: Final = "look whether this is the address of a Stretto server; it has no path: http://127.0.0.1:8080"
MOST_SHOWN: Final = 200  # characters of an answer that is no Stretto's


def refusal(server: str, answer: Answer) -> StrettoError:
    """The error of an answer. Its message has the way out, as the server wrote both in one."""
    kind = ERRORS.get(answer.status) or (InvalidRequest if answer.status < 500 else Internal)
    if answer.status in {429, 502, 504}:
        kind = Unavailable
    body = _object(answer.body)
    if kind is NotFound and "instance" in body:  # no such path: what we ask for is on every server
        return NotFound(f"{server} has nothing at {body['instance']}", hint=ADDRESS)
    message = body.get("message") or body.get("detail") or body.get("reason")
    hint = None
    if not isinstance(message, str):
        hint = None if kind is Unavailable else ADDRESS  # which may well be ours, with too much to do
        where = f" (it leads to {answer.headers['location']})" if "location" in answer.headers else ""
        said = " ".join(answer.body.decode("utf-8", "replace").split())[:MOST_SHOWN]
        message = f"{server} has answered with status {answer.status}{where}" + (f": {said}" if said else "")
    errors = body.get("errors")
    details = [str(each) for each in errors] if isinstance(errors, list) else []
    if details and NOT_VALID in message:
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        message = f"{details[0]}{more}"
    return kind(message, details=details, hint=hint)


def no_answer(server: str, request: Request, broken: Broken, *, safe: bool) -> StrettoError:
    """The error of an answer that did not come."""
    unknown = "" if safe or not broken.sent else f"; {NOT_TRIED_AGAIN}"
    if broken.late:
        return TimedOut(f"{server} has not answered within {request.within:g} s{unknown}")
    if not broken.sent:
        return Unavailable(
            f"there is no server at {server}: {broken.reason}",
            hint="start one with `stretto serve`, or name the one that you mean",
        )
    return Unavailable(f"the connection to {server} broke: {broken.reason}{unknown}")


def not_understood(server: str, why: str) -> Internal:
    """The error of an answer that is none of ours, or of a version that says things in another way."""
    return Internal(f"the answer of {server} can not be understood: {why}")


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        found = loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
