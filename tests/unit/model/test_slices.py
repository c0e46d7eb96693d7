"""JSON in slices: the same text as in one go, and no slice is long."""

from typing import Any

import msgspec
import pytest

from stretto.model.wire import json_slices, to_json, weight
from stretto.model.wire.convert import PIECE, SLICE

SMALL: dict[str, Any] = {"a": 1, "b": [True, None, 2.5, "text"], "c": {}}
LONG = 'xä"\n' * PIECE


class Pair(msgspec.Struct):
    left: Any
    right: Any


@pytest.mark.parametrize(
    "value",
    [
        SMALL,
        [],
        list(range(3 * SLICE)),
        [SMALL] * SLICE,
        [SMALL, list(range(2 * SLICE)), SMALL, [list(range(SLICE)), "z"]],
        {str(place): SMALL for place in range(SLICE)},
        {"first": 1, "large": [[place] * 4 for place in range(SLICE)], "last": [2], "long": LONG},
        {"only": {"large": list(range(2 * SLICE))}},
        tuple(["y" * 100] * SLICE),
        [list(range(SLICE)), list(range(SLICE))],
        LONG,
        7,
    ],
    ids=lambda value: f"{type(value).__name__}-{len(str(value))}",
)
def test_slices_are_the_text(value: Any) -> None:
    parts = list(json_slices(value))
    assert b"".join(parts) == to_json(value)
    assert max(map(len, parts)) <= 3 * PIECE


def test_weight_counts_values_and_long_texts() -> None:
    assert weight(7, 100) == 1
    assert weight([1, 2, 3], 100) == 4
    assert weight(Pair(left={"a": [1, 2]}, right="x" * 6_400), 1_000) == 1 + 2 + 1 + 2 + 100


def test_weight_stops_when_there_is_enough() -> None:
    assert weight([[1] * 1_000] * 1_000, 50) == 1_001
    assert weight([[1] * 40] * 40, 100) <= 141
