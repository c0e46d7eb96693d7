"""Lines of the change log that come by message: those about one run are written in their order.

A line that can not be written is tried again, and those behind it wait. Only one that was put off in the
store, because all tries failed, lets them pass.
"""

from collections import deque

from stretto.engine.records import RunKey
from stretto.node.asks import Postpone
from stretto.node.book import Book
from stretto.node.desk import Desk
from stretto.node.group import Group
from stretto.ports.messages import Log, Message
from stretto.ports.outbox import MOST_TRIES


class Lines:
    """The lines in hand about one run, the first one first."""

    __slots__ = ("drafted", "messages", "tries")

    def __init__(self) -> None:
        self.messages: deque[Message] = deque()
        self.drafted = False  # the first is on its way into the store
        self.tries = 0


class Telling:
    """Messages about no run in hand: when they are dealt with, and when they are put off."""

    def __init__(self, desk: Desk, book: Book) -> None:
        self._desk = desk
        self._book = book

    def hear(self, group: Group, message: Message) -> None:
        """A message has come that no run in memory can take."""
        run = told_of(message)
        if run is None:
            self._book.deal(group, message)
            return
        lines = group.lines.setdefault(run, Lines())
        lines.messages.append(message)
        if len(lines.messages) == 1:
            self._book.deal(group, message)

    def drafted(self, group: Group, message: Message) -> None:
        """It goes into the next commit, and so may what follows from it."""
        lines = self._lines(group, message)
        if lines is not None:
            lines.drafted = True

    def told(self, group: Group, message: Message) -> None:
        """It is stored, or need not be: the next one about that run has its turn."""
        run, lines = told_of(message), self._lines(group, message)
        if run is None or lines is None:
            return
        lines.messages.popleft()
        lines.drafted, lines.tries = False, 0
        if lines.messages:
            self._book.deal(group, lines.messages[0])
        else:
            del group.lines[run]

    def forget(self, group: Group, message: Message) -> None:
        """It is fetched again, if it is still there, and so are those behind it."""
        group.known.discard(message.id)
        run, lines = told_of(message), self._lines(group, message)
        if run is not None and lines is not None:
            del group.lines[run]
            group.known.difference_update(each.id for each in lines.messages)

    # ------------------------------------------------------------------------------------------------ failed
    def failed(self, group: Group, message: Message, error: Exception) -> None:
        """It could not be dealt with."""
        group.known.add(message.id)
        lines = self._lines(group, message)
        if lines is None:
            self._put_off(group, message, error)
            return
        lines.drafted = False
        lines.tries += 1
        if lines.tries < MOST_TRIES and not message.tries:
            self._desk.after(self._desk.back_off(lines.tries), lambda: self._try_again(group, message))
        else:
            self._put_off(group, message, error)

    def _try_again(self, group: Group, message: Message) -> None:
        if self._book.holds(group) and self._lines(group, message) is not None:
            self._book.deal(group, message)

    def _put_off(self, group: Group, message: Message, error: Exception) -> None:
        def then(after: Message) -> None:
            group.known.discard(message.id)
            if after.parked is not None:
                self._desk.tell(lambda each: each.message_parked(after, after.parked or ""))
            if self._book.holds(group):
                self.told(group, message)

        ask = Postpone(lease=group.lease, message=message.id, reason=str(error))
        self._desk.insist(ask, then, lambda _error: self.forget(group, message))

    def _lines(self, group: Group, message: Message) -> Lines | None:
        """The lines of which a message is the first."""
        run = told_of(message)
        lines = None if run is None else group.lines.get(run)
        return lines if lines is not None and lines.messages[0].id == message.id else None


def told_of(message: Message) -> RunKey | None:
    """The run that a line of the change log is about."""
    return message.body.run if isinstance(message.body, Log) else None
