"""Large answers: what is written is freed element by element, and only what belongs to the answer alone."""

import asyncio
from weakref import ref

import msgspec
import pytest

from stretto.actions.parts.offload import free
from stretto.api.answers import json_of, last_json_of, list_slices, taken


class Item(msgspec.Struct, frozen=True, weakref=True):
    name: str


def items(names: str) -> list[Item]:
    return [Item(name) for name in names]


@pytest.mark.parametrize("names", ["", "a", "abc"])
def test_the_last_writer_of_a_list_writes_the_same_text(names: str) -> None:
    held = [items(names)]
    assert last_json_of(held, list[Item]) == json_of(items(names), list[Item])
    assert held == []


def test_a_record_that_is_no_list_is_written_as_it_is() -> None:
    assert last_json_of([Item("a")], Item) == json_of(Item("a"), Item)


def test_each_element_is_freed_before_the_next_but_one_is_written() -> None:
    made = items("abcd")
    known = [ref(each) for each in made]
    made.reverse()
    written = list_slices(taken(made), list[Item])
    alive = [sum(each() is not None for each in known) for part in written if part.startswith(b"{")]
    assert alive == [4, 3, 2, 1]


def test_a_list_that_somebody_else_holds_stays_as_it_is() -> None:
    shared = items("abc")
    last_json_of([shared], list[Item])
    assert shared == items("abc")


def test_records_are_freed_and_those_in_use_are_left_alone() -> None:
    made = items("ab" * 2_000)
    known = [ref(each) for each in made]
    kept = made[7]
    asyncio.run(free(made))
    assert made == []
    assert [each() for each in known if each() is not None] == [kept]
