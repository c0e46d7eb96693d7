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


class Stream:
    """Takes bytes as they come, and gives whole messages. What is cut off in the middle never was."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}

    def feed(self, part: bytes) -> list[Changed | Resync | Moved]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        made: list[Changed | Resync | Moved] = []
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if text:
                name, _, value = text.partition(":")
                self._fields[name] = value.removeprefix(" ")
            elif self._fields:
                message = _message(self._fields)
                self._fields = {}
                made += [] if message is None else [message]
        return made


def _message(fields: dict[str, str]) -> Changed | Resync | Moved | None:
    """One without a name is a sign of life; those that only a newer server knows still move the cursor."""
    cursor = fields.get("id")
    if cursor is None:
        return None
    match fields.get("event"):
        case None:
            return Moved(cursor=cursor, quiet=True)
        case "changes":
            body: _Body = _read(_Body, fields)
            return Changed(cursor=cursor, at=body.at, events=body.events)
        case "resync":
            reason = _read(dict[str, Any], fields).get("reason", "")
            return Resync(cursor=cursor, reason=str(reason))
        case _:
            return Moved(cursor=cursor)


def _read(tp: Any, fields: dict[str, str]) -> Any:
    try:
        record, problems = decode(tp, loads(fields.get("data", "")))
    except ValueError:
        raise Internal("an event of the server can not be understood: it is no JSON") from None
    wrong = [each for each in problems if each.code != Code.UNKNOWN_FIELD]
    if wrong:
        raise Internal(f"an event of the server can not be understood: {wrong[0]}")
    return record
