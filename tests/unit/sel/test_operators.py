"""Operators between all types."""

import math
from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run

from stretto.sel import Kind


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("9223372036854775807 + 1;", -(2**63)),
        ("-9223372036854775807 - 2;", 2**63 - 1),
        ("4611686018427387904 * 2;", -(2**63)),
        ("x = -9223372036854775807 - 1; -x;", -(2**63)),
        ("x = -9223372036854775807 - 1; x / -1;", -(2**63)),
        ("-7 / 2;", -3),
        ("7 / -2;", -3),
        ("-7 % 3;", -1),
        ("7 % -3;", 1),
        ("7.5 % 2;", 1.5),
        ("1 / 2.0;", 0.5),
        ("2 - 1.5;", 0.5),
        ("2.0 * 3;", 6.0),
        ("1 + 0.5;", 1.5),
        ("1.0 / 0;", math.inf),
        ("-1.0 / 0;", -math.inf),
        ("1.0 / -0.0;", -math.inf),
        ("1 < 2;", True),
        ("1 >= 2;", False),
        ("1 <= 1;", True),
        ("2 > 1;", True),
        ("1 == 1;", True),
        ("1 != 1;", False),
        ("1.5 < 2;", True),
        ("1 == 1.0;", True),
        ("1 + '2';", "12"),
        ("1.0 + 'x';", "1.0x"),
        ("'2' + 1 + 2;", "212"),
        ("1 + 2 + '3' + 4;", "334"),
        ("'a' + true + null + 0.0001;", "atruenull1.0E-4"),
        ("'a' + new DateTime(0);", "a1970-01-01T00:00:00.000Z"),
        ("'a' + new int[]{1, 2};", "a[1, 2]"),
        ("'\\ud83d' + '\\ude00';", "😀"),
        ("String s; s + 'a';", "nulla"),
        ("null + 1;", "null1"),
        ("null + null;", "nullnull"),
        ("'a' == 'a';", True),
        ("'a' != 'b';", True),
        ("'a' == null;", False),
        ("String s; s == null;", True),
        ("String s; 'a' == s;", False),
        ("String s; String t; s == t;", True),
        ("null == 1;", False),
        ("null == null;", True),
        ("null != new Map();", True),
        ("Map m; null == m;", True),
        ("Map m; m == null;", True),
        ("new Map() == null;", False),
        ("new int[1] != null;", True),
        ("null < 1;", False),
        ("null > 1;", False),
        ("1 == null;", False),
        ("1.5 != null;", True),
        ("true == null;", False),
        ("true != null;", True),
        ("true == true;", True),
        ("true != true;", False),
        ("!true == false;", True),
        ("!!true;", True),
        ("- -1;", 1),
        ("-1.5;", -1.5),
        ("+1;", 1),
        ("+1.5;", 1.5),
        ("false && nothing.length() > 0;", False),
        ("true || nothing.length() > 0;", True),
        ("true && true && false;", False),
        ("false || false || true;", True),
        ("false && true || true;", True),
        ("1 < 2 == true;", True),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value
    assert type(run(script)) is type(value)


def test_what_is_no_number() -> None:
    assert math.isnan(run("0.0 / 0;"))
    assert math.isnan(run("1.5 % 0;"))
    assert math.isnan(run("(1.0 / 0) % 2;"))
    assert math.isnan(run("(0.0 / 0) / 0;"))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("1 / 0;", Kind.ARITHMETIC),
        ("1 % 0;", Kind.ARITHMETIC),
        ("1 == '1';", Kind.ILLEGAL_ARGUMENT),
        ("'1' == 1;", Kind.ILLEGAL_ARGUMENT),
        ("1 < '2';", Kind.UNSUPPORTED),
        ("'a' < 'b';", Kind.UNSUPPORTED),
        ("'a' * 'b';", Kind.UNSUPPORTED),
        ("2.0 * 'a';", Kind.UNSUPPORTED),
        ("1 < null;", Kind.ILLEGAL_ARGUMENT),
        ("1.5 < null;", Kind.UNSUPPORTED),
        ("1.5 + true;", Kind.CLASS_CAST),
        ("1 + true;", Kind.ILLEGAL_ARGUMENT),
        ("true + 'a';", Kind.ILLEGAL_ARGUMENT),
        ("true + true;", Kind.UNSUPPORTED),
        ("null <= 1;", Kind.UNSUPPORTED),
        ("null == params;", Kind.UNSUPPORTED),
        ("'a' + params;", Kind.UNSUPPORTED),
        ("'a' + UUID.randomUUID();", Kind.UNSUPPORTED),
        ("new Map() == new Map();", Kind.UNSUPPORTED),
        ("params == null;", Kind.UNSUPPORTED),
        ("new int[1] + 1;", Kind.UNSUPPORTED),
        ("null && true;", Kind.UNSUPPORTED),
        ("1 && 1;", Kind.UNSUPPORTED),
        ("1 && null;", Kind.ILLEGAL_ARGUMENT),
        ("true && 1;", Kind.ILLEGAL_ARGUMENT),
        ("true && null;", Kind.ILLEGAL_ARGUMENT),
        ("1.5 && true;", Kind.CLASS_CAST),
        ("'a' || true;", Kind.UNSUPPORTED),
        ("!1;", Kind.UNSUPPORTED),
        ("-'a';", Kind.UNSUPPORTED),
        ("+'a';", Kind.UNSUPPORTED),
        ("1 < 2 < 3;", Kind.ILLEGAL_ARGUMENT),
    ],
)
def test_operators_that_do_not_exist(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_an_error_points_at_its_operator() -> None:
    assert failure("1 + 2 - 3 * true;").column == 11
    assert failure("1 + 2 - true;").column == 7
    assert failure("false || 1;").column == 7
    assert failure("1 -\n -null;").line == 2
