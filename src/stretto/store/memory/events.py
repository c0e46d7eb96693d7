"""The change log and its sinks."""

from bisect import bisect_right

from stretto.ports.events import Cursor, LogRow, Trimmed, share_of
from stretto.store.memory.database import Part


class MemoryEvents(Part):
    """See `ports.events`."""

    async def newest_seqs(self) -> dict[int, int]:
        with self._db.transaction():
            logs = {group: self._db.log_by_group[group] for group in self._db.groups}
            return {group: log[-1][1] if log else 0 for group, log in logs.items()}

    async def read_log(self, cursor: Cursor, *, most: int = 1000) -> list[LogRow]:
        with self._db.transaction():
            logs = {group: self._db.log_by_group[group] for group in sorted(cursor)}
            firsts = {group: bisect_right(log, (group, cursor[group])) for group, log in logs.items()}
            news = {group: logs[group][first:] for group, first in firsts.items() if first < len(logs[group])}
            trimmed = {group for group, rows in news.items() if rows[0][1] != cursor[group] + 1}
            trimmed |= {group for group, log in logs.items() if cursor[group] > (log[-1][1] if log else 0)}
            if trimmed:
                raise Trimmed(frozenset(trimmed))
            share = share_of(most, len(news))
            return [self._db.log[at] for rows in news.values() for at in rows[:share]]

    async def mark_delivered(self, sink: str, cursor: Cursor | None) -> dict[int, int]:
        with self._db.transaction():
            for at in [each for each in self._db.sinks if each[0] == sink and cursor is None]:
                self._db.sinks.pop(at)
            for group, seq in (cursor or {}).items():
                self._db.sinks.put((sink, group), max(seq, self._db.sinks.get((sink, group)) or 0))
            return {at[1]: self._db.sinks[at] for at in sorted(self._db.sinks) if at[0] == sink}
