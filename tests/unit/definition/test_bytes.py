"""Bytes to text: encodings and size."""

import pytest
from tests.unit.definition.samples import with_limits

from stretto.definition import check
from stretto.definition.parse import DEFAULT_OPTIONS, Options
from stretto.model.problem import Code

GOOD = '{"workflow": {"id": "a", "name": "é"}}'


def spot(data: bytes | str, options: Options = DEFAULT_OPTIONS) -> tuple[str, int | None, int | None]:
    [problem] = check(data, options).problems
    return problem.code, problem.line, problem.column


def test_utf_8_with_and_without_mark() -> None:
    assert check(GOOD.encode()) == check(GOOD) == check(GOOD.encode("utf-8-sig")) == check("\ufeff" + GOOD)


def test_columns_do_not_count_the_mark() -> None:
    assert spot("\ufeff{x".encode()) == spot("{x")


def test_bytes_that_are_no_utf_8_by_characters_not_bytes() -> None:
    assert spot('{"é":\n "é\xff"}'.encode("latin-1").replace(b"\xe9", b"\xc3\xa9")) == (Code.SYNTAX, 2, 4)
    assert spot(b"\xff") == (Code.SYNTAX, 1, 1)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_of_unicode(encoding: str) -> None:
    [problem] = check('{"workflow": {"id": "a"}}'.encode(encoding)).problems
    assert problem.code == Code.SYNTAX
    assert "UTF-8" in str(problem.hint)


def test_size_is_counted_in_bytes() -> None:
    size = len(GOOD.encode())
    assert size == len(GOOD) + 1
    for data in (GOOD, GOOD.encode()):
        assert check(data, with_limits(text_bytes=size)).problems == ()
        assert spot(data, with_limits(text_bytes=size - 1)) == (Code.TOO_LARGE, 1, 1)
