"""The names a script refers to."""

import pytest

from stretto.sel import compile_expression


@pytest.mark.parametrize(
    ("script", "required", "optional"),
    [
        ("a + b.c(d)[e].f;", "abde", ""),
        ("int x = 1;", "", ""),
        ("int x = x + 1;", "", ""),
        ("x = x + 1;", "", "x"),
        ("x += 1;", "", "x"),
        ("x[i] = v;", "iv", "x"),
        ("x = 1; x += 1;", "", ""),
        ("y = x; x = 1;", "x", ""),
        ("for (int i = 0; i < n; i += 1) { s = s + a[i]; } return s;", "an", "s"),
        ("String.valueOf(a) + Math.min(b, c) + new Foo(d);", "abcd", ""),
        ("Days; HashMap; Util; System;", "", ""),
        ("if (a) b; else c; while (d) { break; } e ? f : -g;", "abcdefg", ""),
        ("new int[n]; new int[]{a, b}; throw t;", "abnt", ""),
        ("// only a comment", "", ""),
    ],
)
def test_names(script: str, required: str, optional: str) -> None:
    names = compile_expression(script).names
    assert sorted(names.required) == sorted(required)
    assert sorted(names.optional) == sorted(optional)


def test_params_is_a_name_like_any_other() -> None:
    assert compile_expression("params.get('x') + step__x;").names.required == {"params", "step__x"}


def test_symbols_say_what_came_first() -> None:
    names = compile_expression("a = b; b = a; int c;").names
    assert names.symbols == {"a": False, "b": True, "c": False}
