"""What steps have printed, by lines: from a line on, the last ones, those with a text, and what comes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection, Iterable
from typing import Final

import msgspec

from stretto.actions.reading.log_lines import THREADS, Item, LogLines
from stretto.actions.reading.log_target import LogTarget, kept_elsewhere
from stretto.engine.records import AttemptKey
from stretto.model.errors import InvalidRequest
from stretto.ports.logs import LogReader, Stream
from stretto.ports.store import Store

SOME: Final = 1_000  # lines of an answer, where nobody says how many
MOST: Final = 2_000
MOST_TEXT: Final = 1024 * 1024  # characters of an answer, or one line
MOST_SEARCHED: Final = 500_000  # lines that one request looks at for a text
LONGEST_TEXT: Final = 1_000  # characters that are looked for


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of output: `line` is its number in what its attempt has printed, from 1."""

    step_id: str
    step_attempt_id: int
    line: int
    at: int
    stream: str
    text: str


class LogPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that keeps the output of some steps, which can not be read here."""

    host: str
    steps: tuple[str, ...]


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines. `next_line`: where to go on, if there may be more; `total_lines`: how many there are, if
    all were looked at.
    """

    lines: tuple[LogEntry, ...]
    next_line: int | None = None
    total_lines: int | None = None
    elsewhere: tuple[LogPlace, ...] = ()


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which lines somebody wants."""

    from_line: int = 1
    limit: int = SOME
    tail: int | None = None
    find: str = ""
    streams: frozenset[Stream] = frozenset()
    since: int = 0  # milliseconds since 1970

    def check(self) -> None:
        """Refuse what can not be answered."""
        if self.tail is not None and self.from_line != 1:
            raise InvalidRequest("A request has both [tail] and [from_line]", hint="leave one of them out")
        if len(self.find) > LONGEST_TEXT or "\n" in self.find:
            hint = f"at most {LONGEST_TEXT} characters of one line"
            raise InvalidRequest("The text in [find] can not be looked for", hint=hint)

    def is_met(self, item: Item) -> bool:
        line = item.line
        return (
            line.at >= self.since
            and (not self.streams or line.stream in self.streams)
            and self.find in line.text
        )


class StepLogs:
    """The output that this process can read. `host`: the machine that it runs on."""

    def __init__(self, store: Store, reader: LogReader, host: str) -> None:
        self.store = store
        self.host = host
        self.reader = reader
        self.threads = asyncio.Semaphore(THREADS)  # for all who read here

    async def page(self, target: LogTarget, query: LogQuery) -> LogPage:
        """Lines that are there now."""
        query.check()
        look = await target.look()
        if target.has_step and not look.attempts:
            raise target.missing()
        if query.tail is not None:  # the last line counts, though it may not have ended
            look = look._replace(ended=frozenset(look.attempts))
        lines = LogLines(self.reader, target.run)
        page = _Window(query) if query.tail is None else _Tail(query, query.tail, MOST_TEXT)
        heard: set[AttemptKey] = set()
        async for part in lines.round(look, self.threads):
            heard.update(item.attempt for item in part)
            if not page.take(part):
                break
        made = page.made()
        silent = set(look.attempts) - heard if made.next_line is None else set()
        return msgspec.structs.replace(made, elsewhere=await self.elsewhere(silent))

    async def elsewhere(self, attempts: Collection[AttemptKey]) -> tuple[LogPlace, ...]:
        """The other machines that keep the output of attempts, as far as they are known."""
        found = await kept_elsewhere(self.store, attempts, self.host)
        return tuple(LogPlace(host=host, steps=tuple(steps)) for host, steps in found.items())


class LogFollower:
    """What is there, and what comes, in rounds; whoever follows waits between them, until `is_over`.

    `after`: the attempt and the line of it that were heard last. `ends`: there are no more rounds, whether or
    not something goes on. `most_text`: characters that are held of a tail.
    """

    def __init__(
        self,
        logs: StepLogs,
        target: LogTarget,
        query: LogQuery,
        *,
        after: tuple[int, int] = (0, 0),
        ends: bool = False,
        most_text: float = MOST_TEXT,
    ) -> None:
        self._logs = logs
        self._target = target
        self._query = query
        self._after = after
        self._ends = ends
        self._tail = None if query.tail is None else _Tail(query, query.tail, most_text)
        self._lines = LogLines(logs.reader, target.run)
        self._running: frozenset[AttemptKey] = frozenset()
        self._heard: set[AttemptKey] = set()
        self._remarked: set[AttemptKey] = set()
        self._is_first = True
        self.is_over = False
        if after[0]:
            target.begin_at(after[0])

    async def round(self) -> AsyncIterator[list[LogEntry]]:
        """The lines that came since the last round, in messages of a bounded size."""
        look = await self._target.look()
        is_over = look.is_over or self._ends
        if self._target.has_step and not look.attempts and is_over and self._is_first:
            raise self._target.missing()
        self._is_first = False
        if is_over:
            look = look._replace(ended=frozenset(look.attempts))
        async for part in self._lines.round(look, self._logs.threads):
            self._heard.update(item.attempt for item in part)
            behind = [item for item in part if _is_behind(item, self._after)]
            if self._tail is not None:
                self._tail.take(behind)
                continue
            for some in _bounded(filter(self._query.is_met, behind)):
                yield some
        if self._tail is not None:
            for some in _bounded(self._tail.items):
                yield some
            self._tail = None
        self._running, self.is_over = look.running, is_over

    async def elsewhere(self) -> tuple[LogPlace, ...]:
        """Other machines that keep the output of what runs now; in the end, of all that was silent."""
        silent = (self._lines.known if self.is_over else set(self._running)) - self._heard - self._remarked
        self._remarked |= silent
        return await self._logs.elsewhere(silent)


def _is_behind(item: Item, after: tuple[int, int]) -> bool:
    return item.attempt.number != after[0] or item.number > after[1]


def _bounded(items: Iterable[Item]) -> list[list[LogEntry]]:
    """In messages of a bounded size."""
    made: list[list[LogEntry]] = []
    size = MOST_TEXT
    for item in items:
        if size >= MOST_TEXT or len(made[-1]) >= SOME:
            made.append([])
            size = 0
        size += len(item.line.text)
        made[-1].append(_entry(item))
    return made


def _entry(item: Item) -> LogEntry:
    attempt, number, line = item
    return LogEntry(
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        line=number,
        at=line.at,
        stream=line.stream,
        text=line.text,
    )


class _Window:
    """From a line on, as many as fit into an answer."""

    def __init__(self, query: LogQuery) -> None:
        self._query = query
        self._items: list[Item] = []
        self._size = 0
        self._seen = 0
        self._next: int | None = None

    def take(self, part: list[Item]) -> bool:
        """Whether more is wanted."""
        query = self._query
        for item in part:
            if self._is_full():
                self._next = self._seen + 1
                return False
            self._seen += 1
            if self._seen >= query.from_line and query.is_met(item):
                self._items.append(item)
                self._size += len(item.line.text)
        return True

    def _is_full(self) -> bool:
        searched = self._seen - self._query.from_line + 1
        return len(self._items) >= self._query.limit or self._size >= MOST_TEXT or searched >= MOST_SEARCHED

    def made(self) -> LogPage:
        total = self._seen if self._next is None else None
        return LogPage(lines=tuple(map(_entry, self._items)), next_line=self._next, total_lines=total)


class _Tail:
    """The last ones, as many as fit into an answer."""

    def __init__(self, query: LogQuery, most: int, most_text: float) -> None:
        self._query = query
        self._most = most
        self._most_text = most_text
        self.items: deque[Item] = deque()
        self._size = 0
        self._seen = 0

    def take(self, part: list[Item]) -> bool:
        """Whether more is wanted."""
        self._seen += len(part)
        for item in filter(self._query.is_met, part):
            self.items.append(item)
            self._size += len(item.line.text)
            while len(self.items) > self._most or (self._size > self._most_text and len(self.items) > 1):
                self._size -= len(self.items.popleft().line.text)
        return True

    def made(self) -> LogPage:
        return LogPage(lines=tuple(map(_entry, self.items)), total_lines=self._seen)
