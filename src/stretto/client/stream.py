"""Server-sent events -> what happened (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from typing import Any

import msgspec

from stretto.model.errors import Internal
from stretto.model.event import ChangeEvent
from stretto.model.problem import Code
from stretto.model.wire import decode, loads


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What one commit has changed. `cursor`: the place behind it, from which one can go on."""

    cursor: str
    at: int
    events: tuple[ChangeEvent, ...]


class Resync(msgspec.Struct, frozen=True, kw_only=True):
    """Something is missing here: read again what you show, then go on."""

    cursor: str
    reason: str


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing has happened, up to this place. `quiet`: and for a while."""

    cursor: str | None
    quiet: bool = False


Happening = Changed | Resync


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    at: int
    events: tuple[ChangeEvent, ...] = ()


class Messages:
    """Takes bytes as they come, and gives the fields of whole messages. What is cut off in the middle never
    was.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._fields: dict[str, str] = {}

    def feed(self, part: bytes) -> list[dict[str, str]]:
        first, *others = part.split(b"\n")
        self._rest.append(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        made: list[dict[str, str]] = []
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if text:
                name, _, value = text.partition(":")
                self._fields[name] = value.removeprefix(" ")
            elif self._fields:
                made.append(self._fields)
                self._fields = {}
        return made


class Stream:
    """The same for the events of runs."""

    def __init__(self) -> None:
        self._messages = Messages()

    def feed(self, part: bytes) -> list[Changed | Resync | Moved]:
        found = map(_message, self._messages.feed(part))
        return [each for each in found if each is not None]


def _message(fields: dict[str, str]) -> Changed | Resync | Moved | None:
    """One without a name is a sign of life; those that only a newer server knows still move the cursor."""
    cursor = fields.get("id")
    if cursor is None:
        return None
    match fields.get("event"):
        case None:
            return Moved(cursor=cursor, quiet=True)
        case "changes":
            body: _Body = body_of(_Body, fields)
            return Changed(cursor=cursor, at=body.at, events=body.events)
        case "resync":
            reason = body_of(dict[str, Any], fields).get("reason", "")
            return Resync(cursor=cursor, reason=str(reason))
        case _:
            return Moved(cursor=cursor)


def body_of(tp: Any, fields: dict[str, str]) -> Any:
    """What the data of a message say."""
    try:
        record, problems = decode(tp, loads(fields.get("data", "")))
    except ValueError:
        raise Internal("an event of the server can not be understood: it is not JSON") from None
    wrong = [each for each in problems if each.code != Code.UNKNOWN_FIELD]
    if wrong:
        raise Internal(f"an event of the server can not be understood: {wrong[0]}")
    return record
