"""Where a reader of the change log is, as a text that means nothing to others: a number for each group."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

import msgspec

from stretto.model.errors import InvalidRequest
from stretto.ports.events import Cursor
from stretto.ports.places import GROUPS

MOST: Final = 2**62  # databases count on from a place, and must be able to


def cursor_text(cursor: Cursor) -> str:
    """Short, and fit for headers and addresses."""
    numbers = [cursor.get(group, 0) for group in range(GROUPS)]
    return urlsafe_b64encode(msgspec.msgpack.encode(numbers)).decode().rstrip("=")


def cursor_in(text: str) -> dict[int, int]:
    """The position that a text holds; `InvalidRequest` if it holds none."""
    try:
        packed = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        numbers = msgspec.msgpack.decode(packed, type=list[int])
    except (ValueError, msgspec.MsgspecError):
        numbers = []
    if len(numbers) != GROUPS or min(numbers) < 0 or max(numbers) >= MOST:
        raise InvalidRequest(
            f"Invalid cursor [{text[:80]}]", hint="send what `Stretto-Cursor` or the id of an event said"
        )
    return dict(enumerate(numbers))
