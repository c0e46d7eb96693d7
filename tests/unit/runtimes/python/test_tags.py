"""Data with the key of a tag is data: it comes back as it was, and names no codec."""

import dataclasses
import json
from typing import Any

import pytest

from stretto.model.param import ParamType
from stretto.runtimes.python.codecs import codec
from stretto.runtimes.python.values import (
    JSON_TEXT,
    JSON_TEXTS,
    Kind,
    Unserialisable,
    decode,
    encode,
    json_text,
    literal,
)

DATA: list[Any] = [
    {"$stretto": ["bytes", "AA=="]},
    {"$stretto": ["float", "nan"]},
    {"$stretto": ["float", "abc"]},
    {"$stretto": ["map", 3]},
    {"$stretto": ["map", [["a", 1]]]},
    {"$stretto": ["json", "[1]"]},
    {"$stretto": ["tests.Secret", 1]},
    {"$stretto": ["nope", 1]},
    {"$stretto": 1},
    {"$stretto": None, "other": b"x"},
    {"$stretto": {"$stretto": ["bytes", "AA=="]}},
    [{"a": {"$stretto": ["StepError", {}]}}],
    {1: {"$stretto": ["bytes", "AA=="]}},
    {"$stretto:": 1, "$$stretto": ["bytes", "AA=="]},
]


class Secret:
    def __init__(self, _: Any) -> None:
        raise AssertionError("data has named a codec")


codec(Secret, encode=lambda _: 1, decode=Secret, name="tests.Secret")


class Box:
    def __init__(self, content: Any) -> None:
        self.content = content


codec(Box, encode=lambda box: box.content, decode=Box, name="tests.Box")


@dataclasses.dataclass
class Row:
    data: dict[str, Any]


@pytest.mark.parametrize("value", DATA, ids=str)
def test_such_data_comes_back(value: Any) -> None:
    assert decode(encode(value, JSON_TEXT, "x"), JSON_TEXT, Any, "x") == value
    assert decode(encode([value], JSON_TEXTS, "x"), JSON_TEXTS, list[Any], "x") == [value]
    boxed = decode(json_text(Box(value), "x"), JSON_TEXT, Any, "x")
    assert type(boxed) is Box
    assert boxed.content == value


def test_such_data_comes_back_for_annotations() -> None:
    value = {"$stretto": ["bytes", "AA=="]}
    assert decode(json_text(value, "x"), JSON_TEXT, dict[str, Any], "x") == value
    assert decode(json_text(Row(value), "x"), JSON_TEXT, Row, "x") == Row(value)
    assert decode(json_text([value, None], "x"), JSON_TEXT, list[dict[str, list[str]] | None], "x") == [
        value,
        None,
    ]


def test_such_data_is_text_that_json_reads() -> None:
    assert json.loads(json_text({"$stretto": 1}, "x")) == {"$stretto": ["map", [["$stretto", 1]]]}
    assert literal({"$stretto": 1}, JSON_TEXT, "x").value == '{"$$stretto":["map",[["$$stretto",1]]]}'


def test_maps_refuse_the_key() -> None:
    with pytest.raises(Unserialisable, match=r'`x\["a"\]` has the key `\$stretto`, which has a meaning'):
        encode({"a": {"$stretto": ["float", "nan"]}}, Kind(ParamType.MAP), "x")
