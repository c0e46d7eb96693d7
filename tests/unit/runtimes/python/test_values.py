"""Python values as parameters, and back: what comes out is what went in, or an error says where it is not."""

import enum
import math
import re
import socket
import threading
import types
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.wire.scalars import NAN
from stretto.runtimes.python.codecs import UnknownCodec, codec
from stretto.runtimes.python.kinds import (
    JSON_TEXT,
    JSON_TEXTS,
    Kind,
    element_of,
    is_optional,
    kind_of,
    kind_of_param,
)
from stretto.runtimes.python.plain import Unserialisable, json_text
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import (
    Unreadable,
    decode,
    decode_returned,
    empty,
    encode,
    literal,
    reader,
)
from stretto.sel import compile_template

P = ParamType


@dataclass
class Row:
    name: str
    cells: list[Any] = field(default_factory=list)


class Point(msgspec.Struct, rename="camel"):
    grid_x: int
    tags: set[str] = set()


class Colour(enum.Enum):
    RED = "red"


class Size(enum.StrEnum):
    BIG = "big"


class Place(TypedDict):
    at: int


class Pair(NamedTuple):
    left: int
    right: str


class Model:
    """What a model of pydantic offers, without pydantic."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other.rows == self.rows

    __hash__ = None  # type: ignore[assignment]

    def model_dump(self, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return {"rows": self.rows}

    @classmethod
    def model_validate(cls, value: Any) -> "Model":
        return cls(value["rows"])


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


UserId = NewType("UserId", int)
T = TypeVar("T")
B = TypeVar("B", bound=str)
MOMENT = datetime(2026, 11, 15, 6, 30, tzinfo=UTC)

CASES: list[tuple[Any, Any, Kind]] = [
    (int, 5, Kind(P.LONG)),
    (float, 1.5, Kind(P.DOUBLE)),
    (float, 3, Kind(P.DOUBLE)),
    (str, "a $b", Kind(P.STRING)),
    (bool, True, Kind(P.BOOLEAN)),
    (UserId, 7, Kind(P.LONG)),
    (B, "b", Kind(P.STRING)),
    (Annotated[int, "note"], 7, Kind(P.LONG)),
    (Literal["a", "b"], "a", Kind(P.STRING)),
    (Literal[1, 2], 2, Kind(P.LONG)),
    (Literal["a", 1], 1, JSON_TEXT),
    (list[int], [1, 2], Kind(P.LONG_ARRAY)),
    (list[float], [1.0, 2.5], Kind(P.DOUBLE_ARRAY)),
    (list[str], [], Kind(P.STRING_ARRAY)),
    (list[bool], [True], Kind(P.BOOLEAN_ARRAY)),
    (tuple[int, ...], (1, 2), Kind(P.LONG_ARRAY)),
    (set[str], {"b", "a"}, Kind(P.STRING_ARRAY)),
    (frozenset[int], frozenset({3, 1}), Kind(P.LONG_ARRAY)),
    (Sequence[str], ["x"], Kind(P.STRING_ARRAY)),
    (list, [1, "a", None], JSON_TEXTS),
    (tuple, (1, "a"), JSON_TEXTS),
    (list[Row], [Row("a", [1])], JSON_TEXTS),
    (tuple[Row, ...], (Row("a"),), JSON_TEXTS),
    (list[list[int]], [[1], []], JSON_TEXTS),
    (list[dict[str, int]], [{"a": 1}], JSON_TEXTS),
    (tuple[int, str], (1, "a"), JSON_TEXT),
    (dict, {"a": {"b": [1, 2.5, None]}}, JSON_TEXT),
    (dict[str, Row], {"x": Row("y")}, JSON_TEXT),
    (Mapping[str, int], {"a": 1}, JSON_TEXT),
    (Row, Row("a", [{"x": 1}]), JSON_TEXT),
    (Point, Point(3, {"a"}), JSON_TEXT),
    (Colour, Colour.RED, JSON_TEXT),
    (Size, Size.BIG, JSON_TEXT),
    (Place, {"at": 3}, JSON_TEXT),
    (Pair, Pair(1, "b"), JSON_TEXT),
    (Model, Model(3), JSON_TEXT),
    (list[Model], [Model(3)], JSON_TEXTS),
    (datetime, MOMENT, JSON_TEXT),
    (date, MOMENT.date(), JSON_TEXT),
    (timedelta, timedelta(hours=3), JSON_TEXT),
    (uuid.UUID, uuid.UUID(int=5), JSON_TEXT),
    (Decimal, Decimal("1.10"), JSON_TEXT),
    (Path, Path("/tmp/x"), JSON_TEXT),  # noqa: S108 - only its name
    (Optional[int], None, JSON_TEXT),  # noqa: UP045 - as many still write it
    (int | str, "x", JSON_TEXT),
    (Any, {"a": [1]}, JSON_TEXT),
    (T, [1], JSON_TEXT),
]


# Not by value: a set has another order in each process, and all must agree on the names of tests.
NAMES = [f"{number}-{annotation}"[:40] for number, (annotation, *_) in enumerate(CASES)]


@pytest.mark.parametrize(("annotation", "value", "kind"), CASES, ids=NAMES)
def test_a_value_comes_back_as_it_went(annotation: Any, value: Any, kind: Kind) -> None:
    assert kind_of(annotation) == kind
    param = encode(value, kind, "x")
    back = decode(param, kind, annotation, "x")
    assert back == value
    assert type(back) is type(value) or annotation is float


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
).filter(lambda value: "inf" not in repr(value))


@given(JSON)
def test_all_plain_data_comes_back(value: Any) -> None:
    assert decode(encode(value, JSON_TEXT, "x"), JSON_TEXT, Any, "x") == value


@given(TEXTS)
def test_a_literal_means_itself(text: str) -> None:
    """Nothing in it is taken for a variable of an expression."""

    def unknown(name: str) -> Any:
        raise AssertionError(name)

    written = literal(text, Kind(P.STRING), "a").value
    assert compile_template(written).render(unknown) == text
    assert literal([text], Kind(P.STRING_ARRAY), "a").value == (written,)


def test_literals_of_maps() -> None:
    texts = literal({"$a": "$b"}, Kind(P.STRING_MAP), "x")
    assert texts.value == {"$$a": "$$b"}
    assert literal({"a": 1}, Kind(P.MAP), "x").value == {"a": 1}
    assert literal({"a": "$"}, JSON_TEXT, "x") == ParamDefinition(
        type=P.STRING, value='{"a":"$$"}', meta={"format": "json"}
    )


def test_kinds_of_parameters() -> None:
    assert kind_of_param(ParamDefinition(type=P.STRING, value="1", meta={"format": "json"})) == JSON_TEXT
    assert kind_of_param(Parameter(type=P.LONG, value=1)) == Kind(P.LONG)
    assert (JSON_TEXT.text, Kind(P.LONG).text) == ("STRING (json)", "LONG")
    assert (JSON_TEXTS.meta, Kind(P.LONG).meta) == ({"format": "json"}, {})


def test_what_an_annotation_holds() -> None:
    assert element_of(tuple[()]) is None or element_of(tuple[()]) == (Any,)
    assert element_of(Annotated) is None
    assert is_optional(int | None)
    assert is_optional(Any)
    assert not is_optional(int)
    assert kind_of([]) == JSON_TEXT  # no annotation at all, but one may write it


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind(P.STRING), ""),
        (Kind(P.LONG), 0),
        (Kind(P.DOUBLE), Decimal(0)),
        (Kind(P.BOOLEAN), False),
        (Kind(P.LONG_ARRAY), ()),
        (Kind(P.MAP), {}),
        (JSON_TEXT, "null"),
        (JSON_TEXTS, ()),
    ],
)
def test_a_parameter_without_a_value_yet(kind: Kind, value: Any) -> None:
    assert empty(kind) == value


# --------------------------------------------------------------------------------------------------- encoding
@pytest.mark.parametrize(
    ("value", "kind", "made"),
    [
        (Size.BIG, Kind(P.STRING), "big"),
        (Text("x"), Kind(P.STRING), "x"),
        (Whole(3), Kind(P.LONG), 3),
        (Real(1.5), Kind(P.DOUBLE), Decimal("1.5")),
        (Path("/a"), Kind(P.STRING), "/a"),
        ((each for each in (1, 2)), Kind(P.LONG_ARRAY), (1, 2)),
        ({2, 1}, Kind(P.LONG_ARRAY), (1, 2)),
        ({"a": [1, 2], "b": {"c": 1.5}, "d": Row("x")}, Kind(P.MAP), None),
        ({"a": "b"}, Kind(P.STRING_MAP), {"a": "b"}),
    ],
)
def test_values_of_other_classes(value: Any, kind: Kind, made: Any) -> None:
    if made is None:
        made = {"a": (1, 2), "b": {"c": Decimal("1.5")}}
        value = {key: each for key, each in value.items() if key != "d"}
    assert encode(value, kind, "x") == made


def test_a_set_that_can_not_be_sorted_is_a_list_all_the_same() -> None:
    assert set(encode({1, "a"}, JSON_TEXTS, "x")) == {"1", '"a"'}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Text("x"), '"x"'),
        (Whole(3), "3"),
        (Real(1.5), "1.5"),
        (types.MappingProxyType({"a": 1}), '{"a":1}'),
        (OrderedDict(a=1), '{"a":1}'),
        (range(3), "[0,1,2]"),
        ({"k": 1}.keys(), '["k"]'),
        ({Text("k"): 1}, '{"k":1}'),
        ({Size.BIG: 1}, '{"big":1}'),
        ("\\u0000", '"\\\\u0000"'),  # it only looks like a NUL
        (PurePosixPath("/a"), '"/a"'),
    ],
)
def test_json_of_other_classes(value: Any, text: str) -> None:
    assert json_text(value, "x") == text


def test_equal_maps_have_one_text_if_that_is_asked_for() -> None:
    assert json_text({"b": 1, "a": 2}, "x", ordered=True) == json_text({"a": 2, "b": 1}, "x", ordered=True)
    assert json_text({"b": 1, "a": 2}, "x") == '{"b":1,"a":2}'


class Nasty:
    """Raises whatever one does with it."""

    def model_dump(self, mode: str) -> Any:
        raise RuntimeError(mode)


class Moody:
    """Shows itself only when one asks again."""

    asked = 0

    def model_dump(self, mode: str) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError(mode)
        return {}


class Strange(enum.Enum):
    BYTES = b"x"


def looped() -> list[Any]:
    inner: list[Any] = [1]
    inner.append({"again": inner})
    return inner


def numbers() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("value", "place", "why"),
    [
        ({"rows": [1, 2, {"s": socket.socket}]}, 'result["rows"][2]["s"]', "is a `type`"),
        (looped(), 'result[1]["again"]', "contains itself"),
        ({(1, 2): 2}, "result", "the key (1, 2), a `tuple`: keys are texts, numbers, flags or None"),
        ({'q"': [socket.socket]}, 'result["q\\""][0]', "is a `type`"),
        ({"x", object}, "result{...}", "is a `type`"),
        ({"a": {"b": "x\0"}}, 'result["a"]["b"]', "NUL"),
        ({"a\0": 1}, "result", "a key that holds a NUL"),
        ("\ud800", "result", "half of a character at position 0"),
        (Point("x\0"), "result.grid_x", "NUL"),  # type: ignore[arg-type]
        (numbers(), "result", "is a `generator`"),
        (lambda: 1, "result", "is a `function`"),
        (object(), "result", "is an `object`"),
        (Nasty(), "result", "is a `Nasty`"),
        (ValueError("x"), "result", "is a `ValueError`"),
        ((...,), "result[0]", "is an `ellipsis`"),
    ],
)
def test_what_can_not_be_stored_is_refused_with_its_place(value: Any, place: str, why: str) -> None:
    with pytest.raises(Unserialisable) as caught:
        json_text(value, "result")
    assert f"`{place}`" in str(caught.value)
    assert why in str(caught.value)


def test_what_is_refused_without_a_place_inside() -> None:
    with pytest.raises(Unserialisable, match="`result` can not be written as JSON: RuntimeError: json"):
        json_text(Moody(), "result")
    with pytest.raises(Unserialisable, match="is nested too deeply"):
        json_text(deep(100_000), "result")


def deep(levels: int) -> Any:
    made: Any = 1
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        (True, P.LONG, "`x` is a `bool`, not an `int`"),
        (None, P.LONG, "`x` is None, not an `int`: annotate `int | None`"),
        ("1", P.DOUBLE, "`x` is a `str`, not a `float`"),
        (10**4_000, P.LONG, "`x` is an integer of more than 4,000 digits: return it as text"),
        ([-(10**4_000)], P.LONG_ARRAY, "`x[0]` is an integer of more than 4,000 digits"),
        ("\0", P.STRING, "NUL"),
        ([1, "a"], P.LONG_ARRAY, "`x[1]` is a `str`, not an `int`"),
        ("abc", P.LONG_ARRAY, "`x` is a `str`, not a list"),
        (5, P.LONG_ARRAY, "`x` is an `int`, not a list"),
        ([], P.MAP, "`x` is a `list`, not a map"),
        ({"a": None}, P.MAP, '`x["a"]` has no place in a MAP'),
        ({"a": {"b": [1, "c"]}}, P.MAP, '`x["a"]["b"]` has no place in a MAP'),
        ({"a": 1}, P.STRING_MAP, '`x["a"]` is an `int`, not a `str`'),
    ],
)
def test_a_value_must_be_what_is_declared(value: Any, kind: ParamType, why: str) -> None:
    with pytest.raises(Unserialisable) as caught:
        encode(value, Kind(kind), "x")
    assert why in str(caught.value)


# --------------------------------------------------------------------------------------------------- decoding
@pytest.mark.parametrize(
    ("value", "kind", "annotation", "made"),
    [
        ("2026-11-15", P.STRING, date, date(2026, 11, 15)),  # as one writes it by hand
        ('{"name": "a"}', P.STRING, Row, Row("a")),
        ("5", P.STRING, int, 5),
        (5, P.LONG, float, 5.0),
        (Decimal(5), P.DOUBLE, int, 5),
        (5, P.LONG, Any, 5),
        ((Decimal("1.5"),), P.DOUBLE_ARRAY, Any, [1.5]),
        ({"a": Decimal("1.5"), "b": (1,)}, P.MAP, dict, {"a": 1.5, "b": [1]}),
        ({"name": "a"}, P.STRING_MAP, Row, Row("a")),
        ("red", P.STRING, Colour, Colour.RED),
        ("/a", P.STRING, Path, Path("/a")),
        ("a", P.STRING, Literal["a"], "a"),
    ],
)
def test_the_declared_kind_says_what_a_value_is(
    value: Any, kind: ParamType, annotation: Any, made: Any
) -> None:
    assert decode(value, Kind(kind), annotation, "x") == made


def test_gaps_of_a_loop_are_none() -> None:
    assert decode(("1", None), JSON_TEXTS, list[int | None], "x") == [1, None]
    assert decode(("1", None), JSON_TEXTS, Any, "x") == [1, None]


class Unhashable(type):
    __hash__ = None  # type: ignore[assignment]


def test_an_annotation_need_not_be_hashable() -> None:
    annotation = Annotated[int, []]
    assert decode(5, Kind(P.LONG), annotation, "x") == 5
    assert reader(Kind(P.LONG), annotation)(5) == 5


@pytest.mark.parametrize(
    ("value", "kind", "annotation", "why"),
    [
        ("x", Kind(P.STRING), int, "`day` can not be read as `int`: Expected `int`"),
        ('{"name": 1}', JSON_TEXT, Row, "at `$.name`"),
        ("{", JSON_TEXT, dict, "`day` can not be read as `dict`"),
        ("c", Kind(P.STRING), Literal["a"], "can not be read as"),
        ("1", JSON_TEXT, socket.socket, "a `socket` can not be made of stored data"),
        ("1", JSON_TEXT, Path, "a `Path` can not be made"),
        ("1", JSON_TEXT, dict[str, list[socket.socket]], "Expected `object`"),
        ("{}", JSON_TEXT, Row | Place, "can not be read as"),
    ],
)
def test_what_is_not_what_a_function_asks_for(value: Any, kind: Kind, annotation: Any, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(value, kind, annotation, "day")
    assert why in str(caught.value)


def test_a_generic_class_that_nobody_can_make() -> None:
    with pytest.raises(Unreadable, match=r"OrderedDict|dict"):
        decode("[1]", JSON_TEXT, dict[str, int], "x")


# ---------------------------------------------------------------------------- what JSON has no word for
@dataclass
class Box:
    lock: threading.Event
    inner: "Box | None" = None


class Money:
    def __init__(self, amount: Decimal, currency: str) -> None:
        self.parts = amount, currency

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]


class Coin(Money):
    pass


codec(Money, encode=lambda money: list(money.parts), decode=lambda parts: Money(Decimal(parts[0]), parts[1]))
EUR = Money(Decimal("1.50"), "EUR")


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        (EUR, Money | int),
        (7, Money | int),
        (None, Money | int | None),
        (b"\x00", bytes | Money),
        ([1, 2], Annotated[list[int] | Money, "either"]),
        (EUR, Money | StepError),
    ],
)
def test_a_class_with_a_codec_may_be_one_of_several(value: Any, annotation: Any) -> None:
    assert decode(json_text(value, "x"), JSON_TEXT, annotation, "x") == value


def test_the_error_of_a_step_is_a_value() -> None:
    error = StepError("ValueError", "no", "Traceback", "etl/1:load")
    found = decode(json_text(error, "x"), JSON_TEXT, Money | StepError, "x")
    assert (type(found), found.args) == (StepError, error.args)
    for wrong in ("x", EUR):
        with pytest.raises(Unreadable):
            decode(json_text(wrong, "x"), JSON_TEXT, int | StepError, "x")
    with pytest.raises(Unreadable):
        decode('"x"', JSON_TEXT, Money | StepError, "x")


@pytest.mark.parametrize(
    "value",
    [
        b"\x00\xff",
        {"a": [b"", 1]},
        math.inf,
        [1.5, -math.inf],
        2**63,
        {"big": [-(2**100)]},
        {1: "one", None: b"x", False: [2.5]},
        {"deep": {7: {8: 9}}},
        EUR,
        [EUR, {"price": EUR}],
    ],
)
def test_what_json_has_no_word_for_comes_back_as_it_was(value: Any) -> None:
    text = json_text(value, "x")
    assert decode(text, JSON_TEXT, Any, "x") == value
    assert decode(msgspec.Raw(text.encode()), JSON_TEXT, Any, "x") == value


def test_not_a_number_comes_back() -> None:
    found = decode(json_text({"a": [math.nan, 1.0]}, "x"), JSON_TEXT, dict[str, list[float]], "x")
    assert math.isnan(found["a"][0])
    assert found["a"][1] == 1.0


@pytest.mark.parametrize(
    ("value", "annotation", "wanted"),
    [
        (bytearray(b"ab"), bytes, b"ab"),
        (memoryview(b"ab"), bytearray, bytearray(b"ab")),
        (Row("x", [bytearray(b"y")]), dict[str, Any], {"name": "x", "cells": [b"y"]}),
        ({1: "a"}, dict[int, str], {1: "a"}),
        ({1: {"a", "b"}}, dict[int, set[str]], {1: {"a", "b"}}),
        ({1: date(2026, 1, 2)}, dict[int, date], {1: date(2026, 1, 2)}),
        ([b"x", 1], tuple[bytes, int], (b"x", 1)),
        (frozenset({b"x"}), frozenset[bytes], frozenset({b"x"})),
        (EUR, Money, EUR),
        (Coin(Decimal(2), "GBP"), Money | None, Money(Decimal(2), "GBP")),
        ({"a": EUR}, dict[str, Money], {"a": EUR}),
        ([Strange.BYTES], list[bytes], [b"x"]),
    ],
)
def test_annotations_see_what_was_tagged(value: Any, annotation: Any, wanted: Any) -> None:
    assert decode(json_text(value, "x"), JSON_TEXT, annotation, "x") == wanted


def test_a_value_of_another_annotation_is_refused() -> None:
    with pytest.raises(Unreadable, match="`x` can not be read as `int`"):
        decode(json_text(b"x", "x"), JSON_TEXT, int, "x")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"a": b"x"}, "is `bytes`: use a text"),
        ({"a": [math.nan, b"x"]}, "is `bytes`: use a text"),
        ({"a": [10**4_000]}, "is an integer of more than 4,000 digits"),
        ({1: "a"}, "has the key 1, an `int`: keys are texts"),
    ],
)
def test_maps_hold_what_their_type_says(value: Any, why: str) -> None:
    with pytest.raises(Unserialisable, match=re.escape(why)):
        encode(value, Kind(P.MAP), "x")


def test_maps_hold_numbers_that_json_has_no_word_for() -> None:
    value = {"a": math.inf, "b": [1.5, -math.inf], "c": {"d": 2**70}}
    made = encode(value, Kind(P.MAP), "x")
    assert made == {"a": Decimal("Infinity"), "b": (Decimal("1.5"), Decimal("-Infinity")), "c": {"d": 2**70}}
    assert decode(made, Kind(P.MAP), Any, "x") == value
    assert encode({"a": math.nan}, Kind(P.MAP), "x")["a"] is NAN


def test_a_codec_that_nobody_has_registered() -> None:
    text = json_text(EUR, "x").replace("Money", "Gone")
    with pytest.raises(UnknownCodec, match="no codec of that name is registered here"):
        decode(text, JSON_TEXT, Any, "x")


def test_a_codec_that_fails_says_so() -> None:
    class Broken:
        pass

    codec(Broken, name="broken", encode=lambda _value: 1 / 0, decode=lambda _parts: None)
    with pytest.raises(
        Unserialisable, match=r"`x\[0\]` is a `.*Broken`, and its codec failed: ZeroDivisionError"
    ):
        json_text([Broken()], "x")


def test_names_of_codecs() -> None:
    codec(Money, name="broken-too", encode=str, decode=str)
    with pytest.raises(InvalidRequest, match=r"the codec `broken-too` is that of `.*:Money` already"):
        codec(Row, name="broken-too", encode=str, decode=str)
    with pytest.raises(InvalidRequest, match="`3` is not a class"):
        codec(3, encode=str, decode=str)  # type: ignore[arg-type]
    codec(Money, encode=lambda each: list(each.parts), decode=lambda each: Money(Decimal(each[0]), each[1]))


def test_what_a_workflow_returned_may_lack_values() -> None:
    assert decode_returned((1, None), Kind(P.LONG_ARRAY), list[int], "it") == [1, None]
    assert decode_returned('{"a":null}', JSON_TEXT, dict[str, int], "it") == {"a": None}
    with pytest.raises(Unreadable):
        decode_returned('{"a":"x"}', JSON_TEXT, dict[str, int], "it")
    with pytest.raises(Unreadable, match="`it` can not be read as `dict`"):
        decode_returned(7, Kind(P.LONG), dict[str, int], "it")
