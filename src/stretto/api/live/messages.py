"""Server-sent events as bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

from stretto.actions.reading.changes_view import sent
from stretto.api.cursors import cursor_text
from stretto.model.event import ChangeEvent
from stretto.model.wire import codec_of, to_json
from stretto.ports.events import Cursor, LogRow


def message(name: str, body: dict[str, Any], cursor: Cursor | None = None) -> bytes:
    """JSON of ours has no line breaks, so it is one line of data."""
    place = b"" if cursor is None else id_of(cursor)
    return b"%sevent: %s\ndata: %s\n\n" % (place, name.encode(), to_json(body))


def id_of(cursor: Cursor) -> bytes:
    """The field that says behind which place a message is."""
    return b"id: %s\n" % cursor_text(cursor).encode()


def encode_event(event: ChangeEvent, cluster_name: str, now: int) -> bytes:
    """One event, with the fields that Maestro sends."""
    return to_json(codec_of(ChangeEvent).encode(sent(event, cluster_name, now)))


def changes_message(row: LogRow, events: Sequence[bytes]) -> bytes:
    """What one commit has changed, without the place behind it."""
    return b'event: changes\ndata: {"group":%d,"seq":%d,"at":%d,"events":[%s]}\n\n' % (
        row.group,
        row.seq,
        row.at,
        b",".join(events),
    )


class Entry:
    """A row of the log that is kept for followers. Each of its events is encoded once, and so is each message
    for all who hear the same of its events.
    """

    __slots__ = ("_cursor", "_encoded", "_id", "_messages", "row")

    def __init__(self, row: LogRow, cursor: Mapping[int, int]) -> None:
        self.row = row
        self._cursor = cursor  # behind it
        self._id = b""
        self._encoded: dict[int, bytes] = {}
        self._messages: dict[tuple[int, ...], bytes] = {}

    def message(self, places: tuple[int, ...], cluster_name: str, now: int) -> bytes:
        """The message with the events at these places, and the place behind it."""
        self._id = self._id or id_of(self._cursor)
        made = self._messages.get(places)
        if made is None:
            made = self._messages[places] = self._id + self.body(places, cluster_name, now)
        return made

    def body(self, places: tuple[int, ...], cluster_name: str, now: int) -> bytes:
        """The same without the place."""
        for each in places:
            if each not in self._encoded:
                self._encoded[each] = encode_event(self.row.events[each], cluster_name, now)
        return changes_message(self.row, [self._encoded[each] for each in places])

    def release(self) -> None:
        """Forget the messages: who comes later has another place before it."""
        self._messages.clear()
