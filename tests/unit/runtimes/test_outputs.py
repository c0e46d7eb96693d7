"""The output file: lines become parameters of the declared types, or a message that names the line."""

from decimal import Decimal

import pytest
from tests.unit.runtimes.contexts import parameters

from stretto.runtimes.outputs import MOST_BYTES, BadOutput, read_outputs

DECLARED = parameters({"rows": 0, "text": "", "share": Decimal("0.5"), "regions": ["eu"], "flag": False})


def values(data: bytes) -> dict[str, object]:
    return {name: param.evaluated_result for name, param in read_outputs(data, DECLARED, 7).items()}


def test_lines() -> None:
    data = b"rows=42\n\n  share=0.25\r\ntext=a=b  c\nregions=eu,us\nflag=true"
    assert values(data) == {
        "rows": 42,
        "share": Decimal("0.25"),
        "text": "a=b  c",
        "regions": ("eu", "us"),
        "flag": True,
    }


def test_texts_of_several_lines() -> None:
    data = b"text<<END\none\n two=2\n\nEND\nrows=1\n"
    assert values(data) == {"text": "one\n two=2\n", "rows": 1}
    assert values(b"text<<E\r\na\r\nE\r\n") == {"text": "a\r"}


def test_the_last_of_one_name_counts() -> None:
    assert values(b"rows=1\nrows=2\n") == {"rows": 2}


def test_nothing() -> None:
    assert values(b"") == {}


def test_when_it_was_read() -> None:
    assert read_outputs(b"rows=1", DECLARED, 7)["rows"].evaluated_time == 7


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"rows=1\nwhat is this\n", "line 2 of .STRETTO_OUTPUT is not `name=value`: `what is this`"),
        (b"=1\n", "line 1 of"),
        (b"text<<END\nno end\n", "`text` in .STRETTO_OUTPUT has no end: no line is `END`"),
        (b"row=1\ncol=2", "sets `row`, `col`, which are not parameters of the step: declare them there"),
        (b"rows=many", "Param .rows. is a LONG: expected a whole number"),
        (b"text=\xff", "not UTF-8 at byte 5"),
        (b"x" * (MOST_BYTES + 1), "more than 1024 KB"),
    ],
)
def test_what_can_not_be_understood(data: bytes, message: str) -> None:
    with pytest.raises(BadOutput, match=message):
        values(data)


def test_the_file_counts_more_than_marked_lines() -> None:
    found = read_outputs(b"rows=1\n", DECLARED, 7, b"rows=2\ntext=a\ntext= b \r\n")
    assert {name: param.evaluated_result for name, param in found.items()} == {"rows": 1, "text": " b "}


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (b"what is this\n", "::output is followed by `name=value`, and not by `what is this`"),
        (b"text<<END\n", "::output is followed by `name=value`, and not by `text<<END`"),
        (b"row=1\n", "::output sets `row`, which is not a parameter"),
        (b"rows=many\n", "::output: Param .rows. is a LONG"),
        (b"text=\xff\n", "::output is not UTF-8 at byte 5"),
    ],
)
def test_marked_lines_that_can_not_be_understood(marked: bytes, message: str) -> None:
    with pytest.raises(BadOutput, match=message):
        read_outputs(b"", DECLARED, 7, marked)
