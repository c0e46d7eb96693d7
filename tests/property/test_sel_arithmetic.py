"""Arithmetic and strings agree with Python wherever both mean the same."""

import math
import operator
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stretto.sel import compile_expression
from stretto.sel.numbers import LONG_MAX, LONG_MIN, double_text, parse_double, parse_long, wrapped

longs = st.integers(LONG_MIN, LONG_MAX)
doubles = st.floats(allow_nan=False)
texts = st.text(st.characters(codec="utf-8"), max_size=30)


def value(script: str, **bindings: Any) -> Any:
    return compile_expression(script).evaluate(bindings)


def in_64_bits(number: int) -> int:
    return int.from_bytes((number % 2**64).to_bytes(8, "little"), "little", signed=True)


@settings(deadline=None)
@given(longs, longs)
def test_sums_and_products_wrap(a: Any, b: Any) -> None:
    assert value("a + b;", a=a, b=b) == in_64_bits(a + b)
    assert value("a - b;", a=a, b=b) == in_64_bits(a - b)
    assert value("a * b;", a=a, b=b) == in_64_bits(a * b)
    assert value("-a;", a=a) == in_64_bits(-a)
    assert wrapped(a * b) == in_64_bits(a * b)


@settings(deadline=None)
@given(longs, longs)
def test_division_truncates_and_remainder_fits(a: Any, b: Any) -> None:
    assume(b != 0)
    quotient, remainder = value("a / b;", a=a, b=b), value("a % b;", a=a, b=b)
    assert in_64_bits(quotient * b + remainder) == a
    assert abs(remainder) < abs(b)
    assert remainder == 0 or (remainder < 0) == (a < 0)
    assert remainder == math.fmod(a, b) or abs(a) > 2**53 or abs(b) > 2**53


@settings(deadline=None)
@given(longs | doubles, longs | doubles)
def test_comparisons(a: Any, b: Any) -> None:
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    for sign, function in {"<": operator.lt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}.items():
        assert value(f"a {sign} b;", a=a, b=b) is function(a, b)


@settings(deadline=None)
@given(doubles, doubles)
def test_doubles(a: Any, b: Any) -> None:
    total = value("a + b;", a=a, b=b)
    assert total == a + b or (math.isnan(total) and math.isnan(a + b))
    if b != 0:
        assert value("a / b;", a=a, b=b) == a / b or math.isnan(a / b)


@settings(deadline=None)
@given(doubles)
def test_the_text_of_a_double_is_read_back(number: Any) -> None:
    assert parse_double(double_text(number)) == number
    assert value("Double.valueOf(String.valueOf(a)) == a;", a=number) is True


@settings(deadline=None)
@given(longs)
def test_the_text_of_a_long_is_read_back(number: Any) -> None:
    assert parse_long(str(number)) == number
    assert value("Long.valueOf(String.valueOf(a));", a=number) == number


@settings(deadline=None)
@given(texts, texts)
def test_strings(a: Any, b: Any) -> None:
    assert value("a + b;", a=a, b=b) == a + b
    assert value("a == b;", a=a, b=b) is (a == b)
    assert value("a.contains(b);", a=a, b=b) is (b in a)
    assert value("(a + b).startsWith(a) && (a + b).endsWith(b);", a=a, b=b) is True
    assert value("a.length();", a=a) == len(a.encode("utf-16-le")) // 2
    assert value("a.replace(b, b);", a=a, b=b) == a
    assert value("a.compareTo(a) == 0 && a.equals(a);", a=a) is True


@settings(deadline=None)
@given(texts, st.data())
def test_substrings_put_together_are_the_string(text: str, data: Any) -> None:
    at = data.draw(st.integers(0, len(text.encode("utf-16-le")) // 2))
    assert value("s.substring(0, n) + s.substring(n);", s=text, n=at) == text


@settings(deadline=None)
@given(st.lists(st.text("abc", max_size=4), min_size=1, max_size=6))
def test_split_undoes_join(parts: Any) -> None:
    joined = value("String.join(',', xs);", xs=parts)
    assert joined == ",".join(parts)
    assert value("s.split(',', -1);", s=joined) == parts
