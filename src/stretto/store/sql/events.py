"""The change log and its sinks."""

from typing import Final

from stretto.ports.events import Cursor, LogRow, Trimmed, share_of
from stretto.store.sql.codec import EVENTS
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import TEXT_LENGTH, fitting
from stretto.store.sql.part import Part
from stretto.store.sql.statement import Bulk, Row, Statement, Way, ints, mapped, same, texts

PLACE: Final = ints("group_id", "seq")
NEWEST: Final = Statement(
    "SELECT group_id, (SELECT seq FROM change_log WHERE change_log.group_id = flow_group.group_id "
    "ORDER BY seq DESC LIMIT 1) FROM flow_group ORDER BY group_id"
)
# The row that follows each place, and the newest of its group: never more than two are looked at.
NEWS: Final = Statement(
    lambda d: (
        "SELECT place.group_id, place.seq, (SELECT change_log.seq FROM change_log "
        "WHERE change_log.group_id = place.group_id AND change_log.seq = place.seq + 1), "
        "(SELECT change_log.seq FROM change_log WHERE change_log.group_id = place.group_id "
        f"ORDER BY change_log.seq DESC LIMIT 1) FROM {d.listed('places', PLACE)} place"
    )
)
ROWS: Final = Statement(
    lambda d: (
        f"SELECT change_log.group_id, change_log.seq, logged_at, doc FROM {d.listed('places', PLACE)} place "
        f"JOIN change_log ON {same(PLACE, 'change_log', 'place')}"
    )
)
DELIVERED: Final = Statement("SELECT group_id, seq FROM sink WHERE sink = :sink ORDER BY group_id")
FORGET: Final = Statement("DELETE FROM sink WHERE sink = :sink")
PUT_SINK: Final = Bulk(
    way=Way.PUT,
    table="sink",
    key=2,
    fields=(*texts("sink"), *ints("group_id", "seq")),
    changes=frozenset({"seq"}),
    raises=frozenset({"seq"}),
)


class SqlEvents(Part):
    """See `ports.events`."""

    async def newest_seqs(self) -> dict[int, int]:
        async def work(tx: Transaction) -> dict[int, int]:
            return {group: seq or 0 for group, seq in await tx.all(NEWEST)}

        return await self._db.look(work)

    async def read_log(self, cursor: Cursor, *, most: int = 1000) -> list[LogRow]:
        async def work(tx: Transaction) -> list[LogRow]:
            found = await tx.all(NEWS, places=sorted(cursor.items()))
            news = [row for row in found if (row[3] or 0) != row[1]]
            trimmed = frozenset(group for group, _seq, following, _newest in news if following is None)
            if trimmed:
                raise Trimmed(trimmed)
            share = share_of(most, len(news))
            places = [
                (group, number)  # there is no gap behind the first
                for group, seq, _following, newest in sorted(news)
                for number in range(seq + 1, min(newest, seq + share) + 1)
            ]
            rows = await tx.all(ROWS, places=places) if places else ()
            return [_log_row(row) for row in sorted(rows, key=lambda row: (row[0], row[1]))]

        return await self._db.read(work) if cursor else []

    async def mark_delivered(self, sink: str, cursor: Cursor | None) -> dict[int, int]:
        fitting(sink, TEXT_LENGTH, "the name of a sink")

        async def work(tx: Transaction) -> dict[int, int]:
            if cursor is None:
                await tx.run(FORGET, sink=sink)
                return {}
            await tx.bulk(PUT_SINK, [(sink, *place) for place in sorted(cursor.items())])
            return mapped(await tx.all(DELIVERED, sink=sink))

        return await self._db.write(work)


def _log_row(columns: Row) -> LogRow:
    group, seq, at, doc = columns
    return LogRow(group=group, seq=seq, at=at, events=EVENTS.read(doc))
