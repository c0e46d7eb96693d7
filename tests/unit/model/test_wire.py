"""The codec: what holds for kinds of types, apart from any record of the model."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar

import msgspec
import pytest

from stretto.model import wire
from stretto.model.artifact import Artifact, DefaultArtifact
from stretto.model.page import Page, PageInfo
from stretto.model.problem import Code, Problem
from stretto.model.retry import Backoff, FixedBackoff
from stretto.model.step import Step, TypedStep
from stretto.model.trigger import CatchUp
from stretto.model.wire import Drop, Shape
from stretto.model.words import Word


class Colour(Word):
    RED = "RED"
    DARK_GREEN = "DARK_GREEN"


class Everything(msgspec.Struct, kw_only=True):
    colour: Colour | None = None
    number: int | str | None = None
    exact: Decimal | None = None
    free: Any = None
    names: list[str] = []
    counts: dict[Colour, int] = {}
    maybe: list[str | None] = []


def problems_of(tp: Any, value: Any) -> list[Problem]:
    return wire.decode(tp, value)[1]


def test_all_problems_are_found_at_once() -> None:
    problems = problems_of(
        Everything,
        {"colour": "blue", "number": 1.5, "names": ["a", 2, 3], "counts": {"PINK": "x"}, "nmaes": []},
    )
    assert [(each.code, each.path) for each in problems] == [
        (Code.UNKNOWN_VALUE, "colour"),
        (Code.WRONG_TYPE, "number"),
        (Code.WRONG_TYPE, "names[1]"),
        (Code.WRONG_TYPE, "names[2]"),
        (Code.UNKNOWN_VALUE, "counts.PINK"),
        (Code.WRONG_TYPE, "counts.PINK"),
        (Code.UNKNOWN_FIELD, "nmaes"),
    ]


@pytest.mark.parametrize("spelling", ["RED", "red", "Red"])
def test_words_are_read_in_any_case_and_written_in_one(spelling: str) -> None:
    record, problems = wire.decode(Everything, {"colour": spelling, "counts": {spelling: 1}})
    assert problems == []
    assert record.colour is Colour.RED
    assert wire.encode(record)["colour"] == "RED"
    assert wire.encode(record)["counts"] == {"RED": 1}


def test_an_unknown_word_gets_a_hint() -> None:
    (close,) = problems_of(Everything, {"colour": "dark_gren"})
    assert close.message == "`dark_gren` is not a colour"
    assert close.hint == "did you mean `DARK_GREEN`?"
    (far,) = problems_of(Everything, {"colour": "xyz"})
    assert far.hint == "one of RED, DARK_GREEN"
    assert Colour._missing_(7) is None


@pytest.mark.parametrize("form", [3, "3"])
def test_a_number_or_text_keeps_its_form(form: int | str) -> None:
    record, _ = wire.decode(Everything, {"number": form})
    assert wire.encode(record)["number"] == form
    assert type(wire.encode(record)["number"]) is type(form)


@pytest.mark.parametrize("wrong", [True, 1.5, [], {}])
def test_a_number_or_text_is_nothing_else(wrong: Any) -> None:
    (problem,) = problems_of(Everything, {"number": wrong})
    assert problem.message.startswith("expected a whole number or text, found ")


def test_a_whole_number_has_64_bits() -> None:
    assert problems_of(Everything, {"number": 2**63 - 1}) == []
    (problem,) = problems_of(Everything, {"number": 2**63})
    assert (problem.code, problem.path) == (Code.OUT_OF_RANGE, "number")


@pytest.mark.parametrize(
    "text", ["0.1", "1.00000000000001", "10", "1e-9", "123456789012345678901234567890.5"]
)
def test_decimals_are_exact(text: str) -> None:
    record, problems = wire.from_json(Everything, f'{{"exact": {text}}}')
    assert problems == []
    assert record.exact == Decimal(text)
    again, _ = wire.from_json(Everything, wire.to_json(wire.encode(record)))
    assert again.exact == Decimal(text)


def test_a_decimal_may_come_as_float_or_text() -> None:
    assert wire.decode(Everything, {"exact": 0.1})[0].exact == Decimal("0.1")
    assert wire.decode(Everything, {"exact": "10.229999999999"})[0].exact == Decimal("10.229999999999")


@pytest.mark.parametrize("wrong", ["many", True, [], {}])
def test_a_decimal_is_a_number(wrong: Any) -> None:
    (problem,) = problems_of(Everything, {"exact": wrong})
    assert (problem.code, problem.path) == (Code.WRONG_TYPE, "exact")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "NaN", Decimal("-Infinity")])
def test_a_decimal_is_finite(wrong: Any) -> None:
    (problem,) = problems_of(Everything, {"exact": wrong})
    assert (problem.code, problem.message) == (Code.OUT_OF_RANGE, "the number is not finite")


@pytest.mark.parametrize(
    ("value", "hint"), [(7, 'write "7" in quotes'), (True, 'write "true" in quotes'), ([], None)]
)
def test_a_text_that_lacks_quotes_gets_a_hint(value: Any, hint: str | None) -> None:
    (problem,) = problems_of(Everything, {"names": [value]})
    assert problem.hint == hint


@pytest.mark.parametrize(
    ("value", "noun"),
    [
        (None, "null"),
        (True, "true or false"),
        (1, "a whole number"),
        (1.5, "a number"),
        (Decimal("1.5"), "a number"),
        ([], "a list"),
        ({}, "an object"),
    ],
)
def test_a_message_says_what_was_found(value: Any, noun: str) -> None:
    (problem,) = problems_of(Everything, {"names": [value]})
    assert problem.message == f"expected text, found {noun}"


def test_optional_items_of_a_list() -> None:
    record, problems = wire.decode(Everything, {"maybe": ["a", None]})
    assert problems == []
    assert record.maybe == ["a", None]
    assert wire.encode(record)["maybe"] == ["a", None]


def test_tagged_records() -> None:
    record, problems = wire.decode(Backoff, {"type": "fixed_backoff", "error_retry_backoff_in_secs": 1})
    assert problems == []
    assert record == FixedBackoff(error_retry_backoff_in_secs=1)
    assert wire.encode(record, Backoff) == {"type": "FIXED_BACKOFF", "error_retry_backoff_in_secs": 1}


@pytest.mark.parametrize(
    ("value", "code", "path", "hint"),
    [
        ("x", Code.WRONG_TYPE, "", None),
        ({}, Code.MISSING_FIELD, "type", "one of EXPONENTIAL_BACKOFF, FIXED_BACKOFF"),
        ({"type": 7}, Code.WRONG_TYPE, "type", "one of EXPONENTIAL_BACKOFF, FIXED_BACKOFF"),
        ({"type": "FIXED_BACKOF"}, Code.UNKNOWN_VALUE, "type", "did you mean `FIXED_BACKOFF`?"),
        ({"type": "?"}, Code.UNKNOWN_VALUE, "type", "one of EXPONENTIAL_BACKOFF, FIXED_BACKOFF"),
    ],
)
def test_a_wrong_tag(value: Any, code: str, path: str, hint: str | None) -> None:
    (problem,) = problems_of(Backoff, value)
    assert (problem.code, problem.path, problem.hint) == (code, path, hint)


def test_wrapped_records() -> None:
    record, problems = wire.decode(Step, {"STEP": {"id": "a", "type": "noop"}})
    assert problems == []
    assert record == TypedStep(id="a", type="NoOp")
    assert wire.encode(record, Step) == {"step": {"id": "a", "type": "NoOp", "transition": {}}}


@pytest.mark.parametrize(
    ("value", "code", "path", "hint"),
    [
        ("x", Code.WRONG_TYPE, "", None),
        ({}, Code.WRONG_TYPE, "", "one of step, subworkflow, foreach, while, template"),
        (
            {"step": {}, "while": {}},
            Code.WRONG_TYPE,
            "",
            "one of step, subworkflow, foreach, while, template",
        ),
        ({"foreech": {}}, Code.UNKNOWN_VALUE, "foreech", "did you mean `foreach`?"),
        ({"?": {}}, Code.UNKNOWN_VALUE, '["?"]', "one of step, subworkflow, foreach, while, template"),
    ],
)
def test_a_wrong_wrapper(value: Any, code: str, path: str, hint: str | None) -> None:
    (problem,) = problems_of(Step, value)
    assert (problem.code, problem.path, problem.hint) == (code, path, hint)


class Holder(msgspec.Struct, kw_only=True):
    """Needs a value of each kind, so that a stand-in of each is made."""

    backoff: Backoff
    step: Step
    colour: Colour
    names: list[str]
    maybe: int | None
    either: int | str
    counts: dict[str, int]
    inner: PageInfo
    artifact: Artifact


def test_a_record_with_problems_is_still_a_record() -> None:
    record, problems = wire.decode(Holder, {})
    assert [(each.code, each.path) for each in problems] == [
        (Code.MISSING_FIELD, name) for name in Holder.__struct_fields__
    ]
    assert isinstance(record.step, TypedStep)
    assert (record.names, record.counts, record.either, record.inner) == ([], {}, 0, PageInfo())
    assert record.artifact == DefaultArtifact()


class Leaving(msgspec.Struct, kw_only=True):
    text: str | None = ""
    flag: bool | None = False
    none: int | None = None


@pytest.mark.parametrize(
    ("drop", "written"),
    [
        (Drop.NULL, {"text": "", "flag": False}),
        (Drop.EMPTY, {"flag": False}),
        (Drop.DEFAULT, {}),
        (Drop.NOTHING, {"text": "", "flag": False}),
    ],
)
def test_what_is_left_out(drop: Drop, written: dict[str, Any]) -> None:
    class Record(Leaving, kw_only=True):
        wire: ClassVar[Shape] = Shape(drop=drop)

    assert wire.encode(Record()) == written
    assert not Drop.NULL.leaves_out("")
    assert Drop.NULL.leaves_out(None)


def test_what_is_kept_and_what_is_lean() -> None:
    class Record(Leaving, kw_only=True):
        wire: ClassVar[Shape] = Shape(drop=Drop.DEFAULT, keep=("none", "text"))

    class Lean(Leaving, kw_only=True):
        wire: ClassVar[Shape] = Shape(lean=("flag",))

    assert wire.encode(Record()) == {"text": "", "none": None}
    assert wire.encode(Lean()) == {"text": ""}


def test_a_generic_record() -> None:
    value = {"page_info": {"start_cursor": "4"}, "total_count": 1, "elements": [{"id": "a", "type": "NoOp"}]}
    page, problems = wire.decode(Page[TypedStep], value)
    assert problems == []
    assert page.elements == (TypedStep(id="a", type="NoOp"),)
    assert wire.encode(page, Page[TypedStep])["page_info"] == {
        "start_cursor": "4",
        "end_cursor": None,
        "has_previous_page": False,
        "has_next_page": False,
        "start_index": None,
    }
    (problem,) = problems_of(Page[str], {**value, "elements": [1]})
    assert problem.path == "elements[0]"


@pytest.mark.parametrize("tp", [complex, Annotated[str, "no codec"], set[str]])
def test_a_type_without_codec_is_a_mistake_of_ours(tp: Any) -> None:
    with pytest.raises(TypeError, match="no codec for"):
        wire.codec_of(tp)


def test_words_may_have_a_name_of_their_own() -> None:
    class Trigger(msgspec.Struct, frozen=True, kw_only=True):
        catch_up: CatchUp | None = None

    _, problems = wire.decode(Trigger, {"catch_up": "newest"})
    (problem,) = problems
    assert problem.message == "`newest` is not a catch-up mode"
