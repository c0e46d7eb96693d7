"""Statements: control flow, declarations, results."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run

from stretto.sel import VOID, Kind, Thrown


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("1; 2; 3;", 3),
        ("{1; 2;}", 2),
        ("return 1; 2;", 1),
        ("{ { return 4; } } 5;", 4),
        ("int a = 1, b = 2; a + b;", 3),
        ("int a, b = 2; a + b;", 2),
        ("if (1 > 0) { if (false) return 1; else return 2; }", 2),
        ("if (true) if (false) return 1; else return 2;", 2),
        ("if (false) return 1; 7;", 7),
        ("x = 1; while (x < 5) { x += 3; } return x;", 7),
        ("x = 1; while (true) { x += 1; if (x > 10) break; x += 1; } return x;", 12),
        ("while (true) { return 3; }", 3),
        ("for (;;) { return 3; }", 3),
        ("x = 0; for (i = 0; i < 9; i += 1) { if (i % 2 == 0) continue; x += i; } return x;", 16),
        ("for (int i = 0, j = 5; i < j; i += 1) j -= 1; return j;", 2),
        ("for (Math.min(1, 2); false;) 1; 5;", 5),
        ("i = 0; for (; i < 3;) { i += 1; int x = 2; } return i;", 3),
        ("int c = 0; for (int i = 0; i < 3; i += 1) for (int j = 0; j < 3; j += 1) c += 1; return c;", 9),
        ("for (i = 0; i < 3; i += 1) { int x = 1; x += 1; } return x;", 2),
        ("x = 1; { int x = 'a'.length(); } x;", 1),
        ("true ? x = 5 : 3;", 5),
        ("false ? 1 : true ? 2 : 3;", 2),
        ("(x = 3) + x;", 6),
        ("int params = 1; params;", 1),
        ("int x = 1; String x = 'a'; x;", "a"),
        ("nothing;", None),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    "script",
    ["{}", "{1; int x = 2;}", "int x = 1;", "if (true) 5;", "while (false) 1;", "for (1; false;) 1;"],
)
def test_statements_without_a_value_give_none(script: str) -> None:
    assert run(script) is VOID


def test_throw_gives_an_error_as_value() -> None:
    result = run("for (;;) { throw 'x' + 1; }")
    assert isinstance(result, Thrown)
    assert result.message == "x1"


@pytest.mark.parametrize(
    ("script", "expected", "column"),
    [
        ("if (1) 5;", Kind.CLASS_CAST, 5),
        ("while (null) 5;", Kind.CLASS_CAST, 8),
        ("for (; 'a';) 5;", Kind.CLASS_CAST, 8),
        ("nothing ? 1 : 2;", Kind.CLASS_CAST, 9),
        ("throw 1;", Kind.ILLEGAL_ARGUMENT, 1),
        ("throw new Map();", Kind.ILLEGAL_ARGUMENT, 1),
        ("5; break;", Kind.RUNTIME, 4),
        ("continue; 5;", Kind.RUNTIME, 1),
        ("if (true) break; 7;", Kind.RUNTIME, 11),
        ("long l = 1.0;", Kind.ILLEGAL_ARGUMENT, 6),
        ("String s = null;", Kind.ILLEGAL_ARGUMENT, 8),
        ("Foo x = 1;", Kind.UNSUPPORTED, 5),
        ("Foo x;", Kind.UNSUPPORTED, 5),
        ("DateTime[] x;", Kind.ILLEGAL_ARGUMENT, 12),
    ],
)
def test_mistakes_are_found_at_their_place(script: str, expected: Any, column: int) -> None:
    error = failure(script)
    assert (error.kind, error.column) == (expected, column)


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("x = 7; x /= 2; x;", 3),
        ("x = 7.0; x /= 2.0; x;", 3.5),
        ("x = 7; x %= 4; x *= 5; x -= 1; x;", 14),
        ("x = 1; x += (x = 5); x;", 6),
        ("a = 1; a + (a = 10);", 11),
        ("s = 'a'; s += 1; s += 2.5; s += true; s += null; s;", "a12.5truenull"),
        ("String s; s += 'a'; s;", "nulla"),
        ("a = 1; b = a; b += 1; a;", 1),
        ("int[] a = new int[]{1, 2}; int b = a[0]; b += 5; a[0];", 1),
        ("a = new int[]{1, 2}; b = a; b[0] = 9; a[0];", 9),
        ("a = new int[]{1, 2}; a[1] += 5; a[1];", 7),
        ("a = new String[2]; a[0] += 'x'; a[0];", "nullx"),
        ("m = new Map(); m['k'] = 1; m['k'] += 2; m['k'];", 3),
        ("m = new Map(); m['k'] = null; m['k'];", None),
        ("boolean b = true; boolean c = b; c = false; b;", True),
        ("String s; t = s; t == null;", True),
        ("a = new String[1]; String s; a[0] = s; a[0] == null;", True),
    ],
)
def test_assignment(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("x = null;", Kind.UNSUPPORTED),
        ("x = params;", Kind.UNSUPPORTED),
        ("x = UUID.randomUUID();", Kind.UNSUPPORTED),
        ("x += 1;", Kind.UNSUPPORTED),
        ("x = 1; x = 2.0;", Kind.ILLEGAL_ARGUMENT),
        ("x = 1; x += 1.0;", Kind.ILLEGAL_ARGUMENT),
        ("x = 'a'; x -= 'b';", Kind.UNSUPPORTED),
        ("x = true; x += true;", Kind.UNSUPPORTED),
        ("x = new int[1]; x += x;", Kind.UNSUPPORTED),
        ("x[0] = 1;", Kind.CLASS_CAST),
        ("m = new Map(); m[0] = 1;", Kind.CLASS_CAST),
        ("params['k'] = 1;", Kind.CLASS_CAST),
        ("a = new int[1]; a['x'] = 1;", Kind.CLASS_CAST),
        ("a = new int[1]; a[1] = 1;", Kind.INDEX_OUT_OF_BOUNDS),
        ("a = new int[1]; a[0] = 'x';", Kind.ILLEGAL_ARGUMENT),
        ("m = new Map(); m['k'] += 1;", Kind.UNSUPPORTED),
    ],
)
def test_assignments_that_make_no_sense(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_a_binding_has_its_type_too() -> None:
    assert kind("foo = 1;", foo="text") is Kind.ILLEGAL_ARGUMENT
    assert run("foo = 'x'; foo + params.get('foo');", foo="bar") == "xbar"
    assert kind("foo = 1;", foo=None) is Kind.UNSUPPORTED
    assert run("int foo = 1; foo;", foo="bar") == 1
    assert kind("x = odd;", odd={1, 2}) is Kind.UNSUPPORTED
