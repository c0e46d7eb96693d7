"""Tables, their indexes, and what a failed transaction leaves: nothing."""

import pytest

from stretto.ports.groups import GroupRow
from stretto.store.memory.database import Database
from stretto.store.memory.table import Index, Journal, Table
from stretto.testing.clock import VirtualClock


def make() -> tuple[Table[int, str], Index[int, str], Journal]:
    journal: Journal = []
    index: Index[int, str] = Index(lambda row: row[0] if row else None)
    return Table(journal, index), index, journal


def test_an_index_follows_its_table() -> None:
    table, index, _journal = make()
    for key, row in ((3, "ax"), (1, "ay"), (2, "bz"), (4, "")):
        table.put(key, row)
    assert (index["a"], index["b"], list(index.buckets())) == ([1, 3], [2], ["a", "b"])
    table.put(3, "bq")
    table.put(1, "az")
    assert (index["a"], index["b"]) == ([1], [2, 3])
    assert table.pop(1) == "az"
    assert table.pop(1) is None
    assert (list(index["a"]), list(index.buckets())) == ([], ["b"])
    assert (1 in table, 2 in table, sorted(table)) == (False, True, [2, 3, 4])


def test_an_index_may_sort_by_more_than_the_key() -> None:
    journal: Journal = []
    index: Index[str, int] = Index(lambda _row: "all", lambda key, row: (row, key))
    table: Table[str, int] = Table(journal, index)
    for key, row in (("a", 3), ("b", 1), ("c", 2)):
        table.put(key, row)
    assert [key for _row, key in index["all"]] == ["b", "c", "a"]
    table.put("a", 0)
    assert [key for _row, key in index["all"]] == ["a", "b", "c"]


def test_what_a_transaction_wrote_is_taken_back_in_order() -> None:
    database = Database(VirtualClock())
    before = database.groups[0]

    def fail() -> None:
        with database.transaction():
            database.groups.put(0, GroupRow(group=0, generation=5))
            database.groups.put(0, GroupRow(group=0, generation=6))
            database.groups.pop(1)
            database.log_by_group.move((9, 9), None, None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert database.groups[0] == before
    assert 1 in database.groups
    with database.transaction():
        database.groups.put(0, GroupRow(group=0, generation=7))
    assert database.groups[0].generation == 7


def test_numbers_are_given_once() -> None:
    database = Database(VirtualClock())
    assert [database.number("a"), database.number("a"), database.number("b", 10)] == [1, 2, 10]
