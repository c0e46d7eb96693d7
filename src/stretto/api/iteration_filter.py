"""Which iterations a flatten view shows, as its query says it."""

from base64 import urlsafe_b64decode
from typing import Any, Final

from stretto.actions.reading.flattening import Sort, Wanted
from stretto.api.body import read_json
from stretto.api.routing import word_in, words_in
from stretto.definition import Limits
from stretto.model.errors import InvalidRequest
from stretto.model.status import StepStatus

HINT: Final = "base64 of a JSON object, with - and _ for + and /"


def wanted_of(
    statuses: str | None, loop_params: str | None, texts: tuple[str, str], sort: str, limits: Limits
) -> Wanted:
    """The filter; `InvalidRequest` if it can not be read. `texts`: in values, and in the reasons of ends."""
    return Wanted(
        statuses=words_in(StepStatus, statuses, "statuses"),
        loop_params=_values(loop_params, limits),
        q=texts[0].strip(),
        error=texts[1].strip(),
        sort=word_in(Sort, sort, "sort"),
    )


def _values(text: str | None, limits: Limits) -> dict[str, Any]:
    if not text:
        return {}
    try:
        decoded = urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
    except ValueError:
        raise InvalidRequest(f"Invalid loopParams [{text[:80]}]", hint=HINT) from None
    try:
        found: dict[str, Any] = read_json(dict[str, Any], decoded, limits)
    except InvalidRequest as unreadable:
        raise InvalidRequest(
            f"Invalid loopParams [{text[:80]}]", details=unreadable.details, hint=HINT
        ) from None
    return found
