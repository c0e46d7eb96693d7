"""Tables with sorted indexes, and a journal that takes back what a failed transaction wrote."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

NOTHING: Final[Sequence[Any]] = ()

Journal = list[tuple["Table[Any, Any]", Any, Any]]  # table, key, the row before (None: none), oldest first


class Index(Generic[K, V]):
    """Keys of a table, sorted, in buckets: `bucket` says in which one a row is, None: in none."""

    def __init__(
        self, bucket: Callable[[V], Hashable | None], entry: Callable[[K, V], Any] = lambda key, _row: key
    ) -> None:
        self._bucket = bucket
        self._entry = entry
        self._buckets: dict[Hashable, list[Any]] = {}

    def __getitem__(self, bucket: Hashable) -> Sequence[Any]:
        return self._buckets.get(bucket, NOTHING)

    def buckets(self) -> Iterator[Hashable]:
        return iter(self._buckets)

    def move(self, key: K, before: V | None, after: V | None) -> None:
        """A row is made, replaced or deleted."""
        old = None if before is None else self._bucket(before)
        new = None if after is None else self._bucket(after)
        leaving = None if before is None or old is None else self._entry(key, before)
        coming = None if after is None or new is None else self._entry(key, after)
        if (old, leaving) == (new, coming):
            return  # most changes of a row concern few indexes
        if old is not None:
            self._take_out(old, leaving)
        if new is not None:
            self._put_in(new, coming)

    def _take_out(self, bucket: Hashable, entry: Any) -> None:
        entries = self._buckets[bucket]
        del entries[bisect_left(entries, entry)]
        if not entries:
            del self._buckets[bucket]

    def _put_in(self, bucket: Hashable, entry: Any) -> None:
        entries = self._buckets.setdefault(bucket, [])
        if not entries or entries[-1] < entry:  # keys grow more often than not
            entries.append(entry)
        else:
            insort(entries, entry)


class Table(Generic[K, V]):
    """Rows by key. Who reads one gets the stored row, and must not change it."""

    def __init__(self, journal: Journal, *indexes: Index[K, V]) -> None:
        self._journal = journal
        self._indexes = indexes
        self._rows: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def get(self, key: K) -> V | None:
        return self._rows.get(key)

    def put(self, key: K, row: V) -> None:
        self._journal.append((self, key, self._rows.get(key)))
        self._set(key, row)

    def pop(self, key: K) -> V | None:
        """Delete a row, if it is there."""
        before = self._rows.get(key)
        if before is not None:
            self._journal.append((self, key, before))
            self._set(key, None)
        return before

    def restore(self, key: K, row: V | None) -> None:
        """Put back what was there before a transaction."""
        self._set(key, row)

    def _set(self, key: K, row: V | None) -> None:
        before = self._rows.get(key)
        if row is None:
            del self._rows[key]
        else:
            self._rows[key] = row
        for index in self._indexes:
            index.move(key, before, row)
