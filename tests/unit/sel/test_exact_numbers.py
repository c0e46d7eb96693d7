"""Integers that need more than 64 bits: they wrap as in Java, or have any size where numbers are exact."""

import math
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stretto.sel import Environment, Kind, SelError, compile_expression
from stretto.sel.values import LongArray

EXACT = Environment(exact=True)
MOST, LEAST = 2**63 - 1, -(2**63)
BIG = 2**70
LONGS = (
    st.integers() | st.integers(LEAST, MOST) | st.sampled_from([0, 1, -1, MOST, LEAST, 2**32, 3_037_000_500])
)


def exactly(script: str, **bindings: Any) -> Any:
    return compile_expression(f"{script};").evaluate(bindings, EXACT)


def fails(script: str, **bindings: Any) -> str:
    with pytest.raises(SelError) as raised:
        exactly(script, **bindings)
    assert raised.value.kind is Kind.ARITHMETIC
    return str(raised.value)


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("a + a", 2 * MOST),
        ("b - a", LEAST - MOST),
        ("a * a", MOST * MOST),
        ("b / (0 - 1)", -LEAST),
        ("-b", -LEAST),
        ("y = a; y += 1; return y", MOST + 1),
        ("y = new long[1]; y[0] = a; y[0] *= 2; return y", [2 * MOST]),
        ("Math.absolute(b)", -LEAST),
        ("Math.floorDiv(b, -1)", -LEAST),
        ("Math.power(a, 2)", MOST**2),
        ("Math.power(-2, 2001)", (-2) ** 2001),
        ("Math.max(a, big)", BIG),
        ("big % 1000", BIG % 1000),
        ("big > a && -big < b", True),
        ("big == x", True),
        ("big - 1 == x", False),
        ("xs[0] - big", 0),
        ("m['n'] - big + xs.length", 2),
        ("Long.valueOf('1180591620717411303424')", BIG),
        ("Long.parseLong('-1180591620717411303424')", -BIG),
        ("new Long('+1180591620717411303424')", BIG),
        ("Long.valueOf(big)", BIG),
        ("x.longValue()", BIG),
        ("'n=' + big", f"n={BIG}"),
        ("big.toString()", str(BIG)),
        ("Json.parse('[1, 1180591620717411303424]')", [1, BIG]),
        ("Json.parse('{\"a\": 1180591620717411303424}', 'a')", BIG),
        ("Json.text(xs)", f"[{BIG},{-BIG}]"),
    ],
)
def test_integers_of_any_size(script: str, value: Any) -> None:
    found = exactly(script, a=MOST, b=LEAST, big=BIG, x=float(BIG), xs=[BIG, -BIG], m={"n": BIG})
    assert (found, type(found) is float) == (value, False)


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("a * a", "10000000000000000000... (2,001 characters) * 10000000000000000000... (2,001 characters)"),
        ("Math.power(2, 1000000000)", "2 ** 1000000000"),
        ("Math.power(-2, 1000000001)", "-2 ** 1000000001"),
        ("Math.power(-2, 1000000000)", "-2 ** 1000000000"),
        ("Math.power(7, 4999)", "7 ** 4999"),
        ("-(most * 10)", "99999999999999999999... (4,000 characters) * 10"),
    ],
)
def test_too_many_digits_are_an_error(script: str, what: str) -> None:
    said = fails(script, a=10**2_000, most=10**4_000 - 1)
    assert f"Integer overflow: {what} needs more than 4,000 digits" in said


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("a + 0.5", "too large for a DOUBLE"),
        ("Math.pow(a, 2)", "too large for a DOUBLE"),
        ("Math.divide(a, 3)", "too large for a DOUBLE"),
        ("Math.power(a, -1)", "can not be computed"),
        ("Json.doubles(text)", "too large for a DOUBLE"),
        ("Json.parse(mixed)", "too large for a DOUBLE"),
        ("nan.longValue()", "NaN has no whole part"),
        ("inf.intValue()", "Infinity has no whole part"),
    ],
)
def test_what_no_double_holds_is_an_error(script: str, said: str) -> None:
    text, mixed = f"[{10**2_000}]", f"[0.5, {10**2_000}]"
    assert said in fails(script, a=10**2_000, text=text, mixed=mixed, nan=math.nan, inf=math.inf)


def test_a_list_that_no_array_of_doubles_holds_is_an_error() -> None:
    assert "too large for a DOUBLE" in fails("xs", xs=[10**2_000, 0.5])


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("x + 1", math.nan),
        ("x == x", False),
        ("inf > 1000", True),
        ("-inf", -math.inf),
        ("Json.text(inf)", '{"$stretto":["float","inf"]}'),
        ("Json.text(xs)", '[1.5,{"$stretto":["float","nan"]}]'),
        ("Json.parse(Json.text(xs))", [1.5, math.nan]),
        ("Json.parse(Json.text(x))", math.nan),
        ("Json.doubles(Json.text(xs))", [1.5, math.nan]),
        ('Json.parse(\'["a", {"$stretto": ["float", "nan"]}]\')[1]', '{"$stretto":["float","nan"]}'),
        ('Json.parse(\'{"$stretto": ["float", "x"]}\').get(\'$stretto\')[1]', "x"),
        ("Double.valueOf('NaN')", math.nan),
    ],
)
def test_numbers_that_json_has_no_word_for(script: str, value: Any) -> None:
    assert repr(exactly(script, x=math.nan, inf=math.inf, xs=[1.5, math.nan])) == repr(value)


def test_maestro_reads_no_integer_of_more_than_64_bits() -> None:
    wide: list[Any] = [BIG, [1, BIG], {"n": BIG}, LongArray([None, 0, -BIG])]
    for each in wide:
        with pytest.raises(SelError):
            compile_expression("x;").evaluate({"x": each})
    assert compile_expression("x;").evaluate({"x": LongArray([LEAST, None, MOST])}) == [LEAST, None, MOST]
    with pytest.raises(SelError, match="does not fit into a LONG"):
        compile_expression("Json.parse('1180591620717411303424');").evaluate({})
    with pytest.raises(SelError, match="does not fit into a LONG"):
        compile_expression("Json.parse('[1180591620717411303424]');").evaluate({})
    with pytest.raises(SelError, match=r"abs\(-9223372036854775808\) needs more than 64 bits"):
        compile_expression("Math.absolute(b);").evaluate({"b": LEAST})
    assert compile_expression("x.longValue();").evaluate({"x": 1e30}) == MOST


@pytest.mark.parametrize(
    ("script", "value"),
    [("a + 1", LEAST), ("b - 1", MOST), ("a * 2", -2), ("b / -1", LEAST), ("-b", LEAST)],
)
def test_without_it_they_wrap(script: str, value: int) -> None:
    assert compile_expression(f"{script};").evaluate({"a": MOST, "b": LEAST}) == value


@given(LONGS, LONGS)
def test_operators_are_exact(a: int, b: int) -> None:
    for sign, compute in {"+": operator.add, "-": operator.sub, "*": operator.mul}.items():
        assert exactly(f"a {sign} b", a=a, b=b) == compute(a, b)


@given(LONGS, LONGS)
def test_division_is_that_of_python(a: int, b: int) -> None:
    functions = {"floorDiv": operator.floordiv, "floorMod": operator.mod, "divide": operator.truediv}
    for name, compute in functions.items():
        script = f"Math.{name}(a, b)"
        if b == 0:
            assert "divided by zero" in fails(script, a=a, b=b)
        else:
            assert exactly(script, a=a, b=b) == compute(a, b)


@given(LONGS, st.floats(allow_nan=False))
def test_whole_numbers_and_fractions_are_compared_exactly(a: int, x: float) -> None:
    for sign, compare in {"<": operator.lt, "==": operator.eq, ">=": operator.ge}.items():
        assert exactly(f"a {sign} x", a=a, x=x) is compare(a, x)
        assert exactly(f"x {sign} a", a=a, x=x) is compare(x, a)


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("Math.power(3, 4)", 81),
        ("Math.power(1, 1000)", 1),
        ("Math.power(2, -1)", 0.5),
        ("Math.power(2.5, 2)", 6.25),
        ("Math.power(9, 0.5)", 3.0),
        ("Math.floorMod(-7.5, 2)", 0.5),
        ("Math.absolute(-1.5)", 1.5),
        ("Math.absolute(-7)", 7),
    ],
)
def test_powers_and_fractions(script: str, value: float) -> None:
    assert exactly(script) == value


@pytest.mark.parametrize("script", ["Math.power(0, -1)", "Math.power(10.0, 400)"])
def test_powers_that_can_not_be_computed(script: str) -> None:
    assert "can not be computed" in fails(script)


def test_a_power_that_is_no_real_number() -> None:
    assert "not a real number" in fails("Math.power(-8, 0.5)")


@pytest.mark.parametrize("script", ["Math.floorDiv('7', 2)", "Math.power(2, true)", "Math.absolute('x')"])
def test_they_are_for_numbers(script: str) -> None:
    with pytest.raises(SelError) as raised:
        exactly(script)
    assert raised.value.kind is Kind.CLASS_CAST or "a number" in str(raised.value)
