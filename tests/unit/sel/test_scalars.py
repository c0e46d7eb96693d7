"""Numbers, booleans, Math, UUID, System, constructors and arrays."""

import math
from typing import Any

import pytest
from tests.unit.sel.evaluation import NOW, failure, kind, run, shown

from stretto.sel import DoubleArray, Environment, Kind, LongArray, StringArray, compile_expression
from stretto.sel.numbers import power


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("(5).toString() + 5L.toString() + Integer.toString(7);", "557"),
        ("Integer.valueOf('7') + Long.valueOf(3) + Long.parseLong('+5');", 15),
        ("Long.parseLong('-0000000000000000000000012');", -12),
        ("(7).intValue();", 7),
        ("(1.5).toString() + Double.toString(2.5);", "1.52.5"),
        ("Double.valueOf(' 1.5f ') + Double.valueOf(2.0) + Double.parseDouble('1e2');", 103.5),
        ("Double.valueOf('0x1.8p1');", 3.0),
        ("Double.valueOf('0x1p99999');", math.inf),
        ("Double.valueOf('-0x1p99999');", -math.inf),
        ("Double.valueOf('-Infinity');", -math.inf),
        ("(1.9).intValue() + (-1.9).longValue();", 0),
        ("(1e30).longValue();", 2**63 - 1),
        ("(0.0 / 0).longValue();", 0),
        ("(1.0 / 0).intValue();", 2**63 - 1),
        ("(-1.0 / 0).intValue();", -(2**63)),
        ("Math.min(1, 2) + Math.max(1, 2);", 3),
        ("Math.pow(2, 10);", 1024.0),
        ("System.currentTimeMillis();", NOW),
        ("DateTimeConstants.SUNDAY + Arrays.SUNDAY;", 14),
        ("Arrays.asList(new int[]{1})[0];", 1),
        ("UUID u; u.toString();", "null"),
        ("new String() + new String('a') + new String(5);", "a5"),
        ("new Long('5') + new Integer(6);", 11),
        ("new Double('1.5') + new Float(2.0);", 3.5),
        ("new Boolean('TRUE') == new Boolean(true);", True),
        ("new Boolean('yes');", False),
        ("new int[2].length;", 2),
        ("new int[]{1, 2,}.length;", 2),
        ("new boolean[1][0];", False),
        ("new String[]{'a', 'b'}[1];", "b"),
        ("new String[1][0] == null;", True),
        ("int[] a; a.length;", 0),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("Long.parseLong(' 5');", Kind.NUMBER_FORMAT),
        ("Long.parseLong('99999999999999999999');", Kind.NUMBER_FORMAT),
        ("Long.parseLong('9223372036854775808');", Kind.NUMBER_FORMAT),
        ("Long.parseLong(5);", Kind.CLASS_CAST),
        ("Long.parseLong(null);", Kind.NULL_POINTER),
        ("Long.valueOf(1.5);", Kind.UNSUPPORTED),
        ("Long.toString('a');", Kind.CLASS_CAST),
        ("Integer.parseInt('5');", Kind.UNSUPPORTED),
        ("Integer.MAX_VALUE;", Kind.UNSUPPORTED),
        ("Double.parseDouble('x');", Kind.NUMBER_FORMAT),
        ("Double.valueOf(1);", Kind.UNSUPPORTED),
        ("Double.toString(2);", Kind.CLASS_CAST),
        ("Boolean.parseBoolean('true');", Kind.UNSUPPORTED),
        ("Math.min(1.0, 2.0);", Kind.CLASS_CAST),
        ("Math.pow('2', 1);", Kind.CLASS_CAST),
        ("Math.abs(1);", Kind.UNSUPPORTED),
        ("System.exit(1);", Kind.UNSUPPORTED),
        ("DateTimeConstants.MONDAY;", Kind.UNSUPPORTED),
        ("new String(5.5);", Kind.ILLEGAL_ARGUMENT),
        ("new String(true);", Kind.ILLEGAL_ARGUMENT),
        ("new String('a', 'b');", Kind.ILLEGAL_ARGUMENT),
        ("new Long(5.5);", Kind.ILLEGAL_ARGUMENT),
        ("new Long(true);", Kind.ILLEGAL_ARGUMENT),
        ("new Double(5);", Kind.ILLEGAL_ARGUMENT),
        ("new Boolean(1);", Kind.ILLEGAL_ARGUMENT),
        ("new Map('a');", Kind.ILLEGAL_ARGUMENT),
        ("new DateTimeZone();", Kind.UNSUPPORTED),
        ("new File('x');", Kind.UNSUPPORTED),
        ("new int[-1];", Kind.NEGATIVE_ARRAY_SIZE),
        ("new int['a'];", Kind.CLASS_CAST),
        ("new Map[2];", Kind.UNSUPPORTED),
        ("new int[]{1.5};", Kind.ILLEGAL_ARGUMENT),
        ("new String[]{null};", Kind.ILLEGAL_ARGUMENT),
        ("int[] a = new int[2]; a[5];", Kind.INDEX_OUT_OF_BOUNDS),
        ("int[] a = new int[2]; a[-1];", Kind.INDEX_OUT_OF_BOUNDS),
        ("int[] a = new int[2]; a['x'];", Kind.CLASS_CAST),
        ("int[] a = new int[2]; a[1.0];", Kind.ILLEGAL_ARGUMENT),
        ("'a'[0];", Kind.CLASS_CAST),
        ("new int[1].size();", Kind.UNSUPPORTED),
        ("new int[1].size;", Kind.UNSUPPORTED),
        ("null.foo();", Kind.UNSUPPORTED),
        ("nothing.foo;", Kind.UNSUPPORTED),
        ("java.util.UUID.randomUUID();", Kind.UNSUPPORTED),
    ],
)
def test_what_does_not_exist_or_fails(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_arrays_have_their_types() -> None:
    assert run("new int[2];") == LongArray([0, 0])
    assert run("new double[]{1.5};") == DoubleArray([1.5])
    assert run("String s; new String[]{s};") == StringArray([None])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12345678.0", "1.2345678E7"),
        ("0.001", "0.001"),
        ("0.0001", "1.0E-4"),
        ("1e21", "1.0E21"),
        ("-0.0", "-0.0"),
        ("100.0 * 1000000.0", "1.0E8"),
        ("0.0 / 0", "NaN"),
        ("1 / 0.0", "Infinity"),
        ("-1 / 0.0", "-Infinity"),
    ],
)
def test_doubles_are_written_as_in_java(value: Any, text: str) -> None:
    assert shown(f"{value};") == text


def test_powers_have_no_exceptions() -> None:
    assert math.isnan(power(-8.0, 1 / 3))
    assert math.isnan(power(1.0, math.inf))
    assert math.isnan(power(math.nan, 1.0))
    assert power(math.nan, 0.0) == 1.0
    assert power(10.0, 999.0) == math.inf
    assert power(-10.0, 999.0) == -math.inf
    assert power(0.0, -2.0) == math.inf
    assert power(-0.0, -3.0) == -math.inf


def test_chance_comes_from_the_seed() -> None:
    script = compile_expression("Math.random() + ' ' + UUID.randomUUID().toString();")
    first, again, other = (script.evaluate({}, Environment(seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert 0 <= run("Math.random();") < 1
    assert len(run("UUID.randomUUID().toString();")) == 36
    assert shown("UUID.randomUUID();") != shown("UUID.randomUUID().toString() + 'x';")


def test_there_is_no_time_unless_it_is_given() -> None:
    assert kind("System.currentTimeMillis();", now=None) is Kind.ILLEGAL_STATE


def test_errors_describe_what_they_got() -> None:
    assert failure("new Double('abcdef', 1, true, new Map());").message == (
        "A DOUBLE can not be made of (STRING abcdef, LONG 1, BOOLEAN true, MAP)"
    )
