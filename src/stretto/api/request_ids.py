"""An id for each request: the client's own, if it has brought one, else a new one."""

import re
from typing import Any, Final
from uuid import uuid4

HEADER: Final = b"x-request-id"
OWN: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:+/=-]{0,127}")  # fit for any log
_KEY: Final = "stretto_request_id"


def mark(scope: Any) -> bytes:
    """Give a request its id, and return it."""
    given = next((value for name, value in scope["headers"] if name == HEADER), b"")
    made = given if OWN.fullmatch(given) else uuid4().hex.encode()
    scope[_KEY] = made.decode()
    return made


def id_of(scope: Any) -> str:
    """The id of a request that came in by the door."""
    found: str = scope.get(_KEY, "unknown")
    return found
