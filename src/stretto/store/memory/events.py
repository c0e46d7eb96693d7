"""The change log and its sinks."""

from bisect import bisect_right

from stretto.ports.events import Cursor, LogRow, Trimmed
from stretto.store.memory.database import Part


class MemoryEvents(Part):
    """See `ports.events`."""

    async def newest_seqs(self) -> dict[int, int]:
        with self._db.transaction():
            logs = {group: self._db.log_by_group[group] for group in self._db.groups}
            return {group: log[-1][1] if log else 0 for group, log in logs.items()}

    async def read_log(self, cursor: Cursor, *, most: int = 1000) -> list[LogRow]:
        with self._db.transaction():
            found: list[LogRow] = []
            trimmed: set[int] = set()
            for group, seq in sorted(cursor.items()):
                log = self._db.log_by_group[group]
                rows = log[(first := bisect_right(log, (group, seq))) : first + most]
                if rows and rows[0][1] != seq + 1:
                    trimmed.add(group)
                found += [self._db.log[at] for at in rows]
            if trimmed:
                raise Trimmed(frozenset(trimmed))
            return found

    async def delivered_by(self, sink: str) -> dict[int, int]:
        with self._db.transaction():
            return {at[1]: self._db.sinks[at] for at in sorted(self._db.sinks) if at[0] == sink}

    async def mark_delivered(self, sink: str, cursor: Cursor) -> None:
        with self._db.transaction():
            for group, seq in cursor.items():
                self._db.sinks.put((sink, group), max(seq, self._db.sinks.get((sink, group)) or 0))

    async def forget_sink(self, sink: str) -> None:
        with self._db.transaction():
            for at in [each for each in self._db.sinks if each[0] == sink]:
                self._db.sinks.pop(at)
