"""Annotations say which values can not be stored, before any work is done."""

import dataclasses
import datetime as dt
import io
import re
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import pytest

from stretto.runtimes.python.codecs import codec
from stretto.runtimes.python.storable import unstorable


class Money:
    pass


codec(Money, name="tests.StorableMoney", encode=lambda _: 1, decode=lambda _: Money())


class Pair(NamedTuple):
    left: int
    right: Fraction


@dataclasses.dataclass(frozen=True)
class Row:
    pairs: list[Pair]
    next: "Row | None" = None


@dataclasses.dataclass
class Box:
    lock: threading.Event
    inner: "Box | None" = None


class Sized(Protocol):
    size: int


LOCK: Any = threading.Lock


@pytest.mark.parametrize(
    ("annotation", "returned", "wrong"),
    [
        (int, True, None),
        (None, True, None),
        (Any, True, None),
        (object, True, None),
        (dict[int, list[bytes]], True, None),
        (dict[object, int], True, None),
        (dict[dt.date | Decimal | None, int], False, None),
        (dict[Literal["a"], int], False, None),
        (Row, True, None),
        (Money, False, None),
        (Money | int, False, None),
        (Path, False, None),
        (Fraction, False, None),
        (complex, False, None),
        (Iterable[int], True, None),
        (Sequence[int] | Mapping[str, int], True, None),
        (Sized, True, None),
        ("not there", True, None),
        (threading.Event, True, "Event"),
        (list[threading.Event | None], False, "Event"),
        (int | threading.Event, False, "Event"),
        (Annotated[dict[str, int | threading.Event] | str, "x"], True, "Event"),
        (dict[str, tuple[int, Box]], True, "Event"),
        (Callable[[int], int], True, "Callable"),
        (Callable, False, "Callable"),
        (Iterator[int], True, "Iterator"),
        (Generator[int, None, None], True, "Generator"),
        (AsyncIterator[int], True, "AsyncIterator"),
        (Awaitable[int], True, "Awaitable"),
        (Coroutine[Any, Any, int] | None, True, "Coroutine"),
        (list[Iterator[int]], True, "Iterator"),
        (io.TextIOWrapper, True, "TextIOWrapper"),
        (re.Pattern[str], True, "Pattern"),
        (dict[tuple[int, int], str], True, "dict[tuple, ...]"),
        (dict[str, dict[tuple[int, ...], str]], False, "dict[tuple, ...]"),
        (dict[bytes, int], True, "dict[bytes, ...]"),
        (dict[frozenset[int], int], True, "dict[frozenset, ...]"),
        (dict[Pair, int], True, "dict[Pair, ...]"),
        (dict[Row, int], True, "dict[Row, ...]"),
        (dict[Money, int], True, "dict[Money, ...]"),
    ],
    ids=str,
)
def test_annotations_say_what_can_not_be_stored(annotation: Any, returned: bool, wrong: str | None) -> None:
    assert unstorable(annotation, returned=returned) == wrong


def test_what_makes_an_object_of_a_class_without_a_name() -> None:
    assert unstorable(LOCK, returned=True) in {"allocate_lock", "lock"}
