"""Expressions of parameters: the missing `;`, and what may come out."""

from typing import Any

import pytest

from stretto.sel import Environment, Kind, Limits, LongArray, Missing, SelError, evaluate_maestro, sanitize


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("1 + 1", "1 + 1;"),
        ("  1;\n", "1;"),
        ("", ""),
        ("if (true) { return 5; }", "if (true) { return 5; }"),
        ('{"a"}', '{"a"};'),
        ("new int[]{1}", "new int[]{1}"),
        ('"}"', '"}";'),
    ],
)
def test_sanitize(text: str, script: str) -> None:
    assert sanitize(text) == script


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + x", 11),
        ("'a'", "a"),
        ("1.5", 1.5),
        ("true", True),
        ("new int[]{1, 2};", LongArray([1, 2])),
        ("m = new Map(); m.put('a', new Map()); return m", {"a": {}}),
        ("String s; s", None),
        ("Map m; m", {}),
    ],
)
def test_row_57_plain_data_comes_out(text: str, value: Any) -> None:
    assert evaluate_maestro(text, {"x": 10}) == value


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ("1 +", Kind.MAESTRO_INVALID_EXPRESSION, Kind.PARSE),
        ("1 + null.x", Kind.MAESTRO_INVALID_EXPRESSION, Kind.UNSUPPORTED),
        ("throw 'e'", Kind.MAESTRO_INVALID_EXPRESSION, None),
        ("null", Kind.MAESTRO_INVALID_EXPRESSION, None),
        ("", Kind.MAESTRO_INVALID_EXPRESSION, None),
        ("new DateTime(0)", Kind.MAESTRO_INVALID_EXPRESSION, None),
        ("m = new Map(); m.put('a', null); m", Kind.MAESTRO_INTERNAL, Kind.UNSUPPORTED),
        ("m = new Map(); m.put('m', m); m", Kind.MAESTRO_INTERNAL, Kind.ILLEGAL_STATE),
    ],
)
def test_what_can_not_be_a_parameter(text: str, kind: Any, cause: Any) -> None:
    with pytest.raises(SelError) as caught:
        evaluate_maestro(text)
    assert caught.value.kind is kind
    assert (caught.value.cause and caught.value.cause.kind) is cause


def test_an_error_keeps_its_place() -> None:
    with pytest.raises(SelError) as caught:
        evaluate_maestro("1;\n2 + x.y")
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_a_result_is_no_larger_than_the_memory() -> None:
    bomb = (
        "a = new Map(); for (i = 0; i < 40; i += 1) {"
        " b = new Map(); b.put('x', a); b.put('y', a); a = b; } return a"
    )
    with pytest.raises(SelError) as caught:
        evaluate_maestro(bomb, {}, Environment(limits=Limits(memory=100_000)))
    assert caught.value.limit == "memory"


def test_what_the_host_lacks_is_the_result() -> None:
    class Host:
        def call(self, method, arguments):
            return Missing((method, *arguments))

    result = evaluate_maestro("params.getFromSignal('a', 'b')", {}, Environment(host=Host()))
    assert result == Missing(("getFromSignal", "a", "b"))
